#pragma once

// Completions: operations outside of Wharf as something that a coroutine
// awaits. For authors of adapters.

#include <wharf/detail/coroutine_root.hpp>
#include <wharf/detail/description.hpp>

#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace wharf::inline v1 {

/// Base of an operation that something else carries out: an I/O library, a
/// device, another runtime. It lies in the frame of the coroutine that awaits
/// it, and so do, as a rule, the buffers that it uses.
///
///     class reading final : public completion {
///     public:
///       explicit reading(request r);      // as many arguments as it likes
///       std::size_t result();             // or what it threw
///     private:
///       void start() override;            // asks the other side for it
///       void stop() noexcept override;    // asks it to make an end
///     };
///
///     std::size_t n = co_await await_completion<reading>(request{...});
///     auto which = co_await choice(await_completion<reading>(...), after(1s));
///
/// PROTOCOL
///
///   start() is called once, on the thread of the coroutine, when that has
///   suspended. From then on the other side may use this object, until it calls
///   complete(), which it does once, whatever happens, even inside start().
///   If the coroutine is cancelled, its queue ends, or another branch of the
///   choice wins, stop() is called. The await goes on waiting: it ends, with
///   wharf::cancelled or with that other branch, when complete() has come.
///
/// INVARIANTS
///
///   F1  Between start() and complete() this object stays where it is.
///   F2  result() is called once, after complete(), and only if nothing else
///       had been decided before complete() was called.
///   F3  stop() is called once at most, never before start() has returned, but
///       possibly beside complete(), or after it.
///
/// A choice can't put an operation back: of one that lost, the result is lost.
class completion : public detail::branch {
public:
  /// The operation is over and its result can be had. From any thread; never
  /// blocks, and runs nothing of the coroutine: that goes on in its queue.
  void complete() noexcept;

protected:
  completion() noexcept = default;
  ~completion() = default;

  /// If it throws, the await throws that; complete() must not be called then.
  virtual void start() = 0;
  virtual void stop() noexcept = 0;

  /// For a stop() that has work done elsewhere: between hold() and release()
  /// this object stays, even if complete() comes meanwhile.
  /// Requires: called inside stop().
  void hold() noexcept { coroutine().hold(); }
  /// From any thread.
  void release() noexcept { coroutine().release(); }

private:
  template <class Operation>
  friend class completion_branch;

  detail::coroutine_root& coroutine() const noexcept {
    return static_cast<detail::coroutine_root&>(root());
  }
  void throw_if_not_started() const {
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
  }

  void arm(detail::decision& d) final;
  void disarm(detail::decision& d) noexcept final;
  void give_back_taken(detail::decision&) noexcept final {}
  void destroy_taken() noexcept final {}

  bool started_ = false;
  std::exception_ptr failure_; // of start()
};

/// What an operation is as a branch of an await.
template <class Operation>
class completion_branch {
  static_assert(std::is_base_of_v<completion, Operation>);

public:
  template <class Builder>
  explicit completion_branch(Builder&& b)
      : operation_(std::make_from_tuple<Operation>(std::move(b.arguments_))) {}

  void add_to(detail::one_time& root) noexcept { root.add(operation_); }
  bool is(const detail::branch& winner) const noexcept {
    return &winner == &operation_;
  }
  auto result(detail::branch&) {
    operation_.throw_if_not_started();
    if constexpr (std::is_void_v<decltype(operation_.result())>) {
      operation_.result();
      return std::monostate{};
    } else {
      return operation_.result();
    }
  }

private:
  Operation operation_;
};

/// An operation that is to be awaited, by itself or in a choice. Made by
/// await_completion().
template <class Operation, class... Args>
class [[nodiscard("co_await it")]] completion_of
    : public detail::builder,
      public detail::awaits_if<detail::no_handler> {
public:
  using branch_type = completion_branch<Operation>;

  template <class... As>
  explicit completion_of(std::in_place_t, As&&... args)
      : arguments_{std::forward<As>(args)...} {}

private:
  friend branch_type;

  std::tuple<Args...> arguments_;
};

/// Describes the await of Operation{args...}, which is made in the frame of the
/// coroutine. The arguments are moved in.
template <class Operation, class... Args>
completion_of<Operation, std::decay_t<Args>...>
await_completion(Args&&... args) {
  return completion_of<Operation, std::decay_t<Args>...>{
      std::in_place, std::forward<Args>(args)...};
}

} // namespace wharf::inline v1

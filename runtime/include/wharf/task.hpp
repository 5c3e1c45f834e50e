#pragma once

// task: the coroutine type.

#include <wharf/detail/coroutine_root.hpp>
#include <wharf/detail/description.hpp>
#include <wharf/detail/node_pool.hpp>
#include <wharf/error.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

template <class T>
class task;

namespace detail {

/// What the frames of all tasks have in common.
class promise_base {
public:
  promise_base() noexcept = default; // not an aggregate: see coroutine-traps.md
  promise_base(const promise_base&) = delete;
  promise_base& operator=(const promise_base&) = delete;

  // Frames are recycled; what a burst took goes back.
  static void* operator new(std::size_t bytes) { return frame_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    frame_release(memory, bytes);
  }

  class final_awaiter {
  public:
    explicit final_awaiter(promise_base& self) noexcept : self_{self} {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) const noexcept {
      self_.root_->transfer(self_.awaiter_);
    }
    void await_resume() const noexcept {}

  private:
    promise_base& self_;
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() noexcept { return final_awaiter{*this}; }
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }

  template <class Awaited>
  auto await_transform(Awaited&& what);

  /// Runs under `root`; when it is over `awaiter` goes on, if there is one.
  void enter(coroutine_root& root, std::coroutine_handle<> awaiter) noexcept {
    root_ = &root;
    awaiter_ = awaiter;
  }
  coroutine_root& root() const noexcept { return *root_; }

  /// Destroys the frame of this promise. A task that never began may hold
  /// others that never began, and so on: that takes no stack.
  void destroy(std::coroutine_handle<> frame) noexcept {
    if (root_ != nullptr) {
      frame.destroy();
    } else {
      destroy_unbegun(frame);
    }
  }
  const std::exception_ptr& failure() const noexcept { return failure_; }

protected:
  ~promise_base() = default;
  void rethrow() const {
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
  }

private:
  void destroy_unbegun(std::coroutine_handle<> frame) noexcept;

  union {
    coroutine_root* root_ = nullptr; // null until it begins
    promise_base* next_unbegun_;     // of those that wait for destroy()
  };
  std::coroutine_handle<> awaiter_; // while it waits so: itself
  std::exception_ptr failure_;
};

template <class T>
class task_promise final : public promise_base {
public:
  task_promise() noexcept {}
  task<T> get_return_object() noexcept;
  template <class U>
    requires std::constructible_from<T, U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

private:
  std::optional<T> value_;
};

template <class T>
class task_promise<T&> final : public promise_base {
public:
  task_promise() noexcept {}
  task<T&> get_return_object() noexcept;
  void return_value(T& value) noexcept { value_ = &value; }
  T& take() const {
    rethrow();
    return *value_;
  }

private:
  T* value_ = nullptr;
};

template <>
class task_promise<void> final : public promise_base {
public:
  task_promise() noexcept {}
  task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

/// How an awaited task meets a cancel.
enum class entry : std::uint8_t {
  plain,    // not begun if the awaiter has been cancelled
  always,   // begun all the same; its awaits are cut short
  shielded, // begun, and its awaits are not cut short
};

template <class T>
class task_awaiter {
public:
  explicit task_awaiter(task<T>&& inner, entry how) noexcept
      : task_{std::move(inner)}, how_{how} {}
  task_awaiter(const task_awaiter&) = delete;
  task_awaiter& operator=(const task_awaiter&) = delete;

  bool await_ready() const noexcept { return false; }

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept;
  T await_resume();

private:
  task<T> task_;
  const entry how_;
  bool refused_ = false;
  std::optional<coroutine_root::shield> shield_;
};

/// A task that is awaited in another way than by itself.
template <class T>
class entered_task {
public:
  entered_task(task<T>&& inner, entry how) noexcept
      : task_{std::move(inner)}, how_{how} {}
  task_awaiter<T> awaiter() && noexcept {
    return task_awaiter<T>{std::move(task_), how_};
  }

private:
  task<T> task_;
  const entry how_;
};

struct task_access;

} // namespace detail

/// A coroutine with a result. It starts when it is awaited, or handed to spawn
/// or sync_wait; one that never is, runs no line.
///
///     task<int> twice(port<int> numbers) {
///       const int n = co_await receive(numbers);
///       co_return 2 * n;
///     }
///
/// An awaited task runs as a part of its awaiter: on the same queue, never
/// beside it, and cancelled with it. Its result, or what it throws, arrives at
/// the await. Chains of tasks take no stack, however long.
///
/// A task awaits what Wharf offers: arbiters without handlers, tasks, and what
/// is made of these. Other awaitables do not compile.
///
/// Lifetime: parameters are moved into the frame, and references among them
/// must outlive it. The frame dies with the awaiting expression, or with the
/// task if that was never awaited. Frames come from a recycling allocator.
/// Thread safety: a task object belongs to one thread at a time.
template <class T>
class [[nodiscard("a task runs only when it is awaited or spawned")]] task {
  static_assert(!std::is_rvalue_reference_v<T>,
                "a task gives values, lvalue references or void");

public:
  using promise_type = detail::task_promise<T>;
  using value_type = T;

  task(task&& other) noexcept : frame_{std::exchange(other.frame_, nullptr)} {}
  task& operator=(task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~task() {
    if (frame_ != nullptr) {
      frame_.promise().destroy(frame_);
    }
  }

private:
  friend promise_type;
  friend detail::task_awaiter<T>;
  friend detail::task_access;

  using handle = std::coroutine_handle<promise_type>;
  explicit task(handle frame) noexcept : frame_{frame} {}

  handle frame_; // null: moved from, or handed over
};

namespace detail {

struct task_access {
  /// The frame of a task, which the caller owns then. Throws std::logic_error
  /// for one that was moved from.
  template <class T>
  static std::coroutine_handle<task_promise<T>> release(task<T>& t) {
    if (t.frame_ == nullptr) {
      throw std::logic_error{"this task was awaited, spawned or moved before"};
    }
    return std::exchange(t.frame_, nullptr);
  }
  template <class T>
  static std::coroutine_handle<task_promise<T>> frame(task<T>& t) noexcept {
    return t.frame_;
  }
};

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
  return task<T>{std::coroutine_handle<task_promise>::from_promise(*this)};
}
template <class T>
task<T&> task_promise<T&>::get_return_object() noexcept {
  return task<T&>{std::coroutine_handle<task_promise>::from_promise(*this)};
}
inline task<void> task_promise<void>::get_return_object() noexcept {
  return task<void>{std::coroutine_handle<task_promise>::from_promise(*this)};
}

template <class T>
template <class Promise>
void task_awaiter<T>::await_suspend(
    std::coroutine_handle<Promise> self) noexcept {
  coroutine_root& root = self.promise().root();
  if (task_.frame_ == nullptr ||
      (how_ == entry::plain && root.refuses_awaits())) {
    refused_ = true;
    root.transfer(self);
    return;
  }
  if (how_ == entry::shielded) {
    shield_.emplace(root);
  }
  task_.frame_.promise().enter(root, self);
  root.transfer(task_.frame_);
}

template <class T>
T task_awaiter<T>::await_resume() {
  shield_.reset();
  if (refused_) {
    if (task_.frame_ == nullptr) {
      throw std::logic_error{"this task was awaited, spawned or moved before"};
    }
    throw cancelled{"the coroutine has been cancelled"};
  }
  return task_.frame_.promise().take();
}

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

template <class Awaited>
auto promise_base::await_transform(Awaited&& what) {
  using type = std::remove_cvref_t<Awaited>;
  if constexpr (is_task<type>) {
    static_assert(!std::is_lvalue_reference_v<Awaited>,
                  "a task is awaited once: co_await std::move(task)");
    return task_awaiter<typename type::value_type>{std::move(what),
                                                   entry::plain};
  } else if constexpr (requires { std::move(what).awaiter(); }) {
    return std::move(what).awaiter();
  } else {
    constexpr bool known = awaited_builder<type>;
    static_assert(known,
                  "a task awaits arbiters without handlers and tasks: receive, "
                  "choice, join, gather, after, sleep_for, ended(), task");
    if constexpr (known) {
      what.use();
      return await_of<typename type::branch_type>{what};
    }
  }
}

} // namespace detail

/// Runs `inner` where cancels do not reach: `co_await shielded(clean_up())`.
/// A cancel that came before or comes meanwhile shows at the first await
/// behind it. Only the end of the queue cuts awaits in here too, so that
/// nothing waits for ever.
template <class T>
detail::entered_task<T> shielded(task<T> inner) noexcept {
  return detail::entered_task<T>{std::move(inner), detail::entry::shielded};
}

} // namespace wharf::inline v1

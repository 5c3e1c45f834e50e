#pragma once

// An operation of Asio in the frame of the coroutine that awaits it.

#include <wharf/completion.hpp>
#include <wharf/detail/sync.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1::asio::detail {

/// Room for what Asio allocates for one operation, which it gives back before
/// it calls the handler. Steps of a composed operation use it in turn; what
/// does not fit, or comes while it is taken, comes from the heap.
class operation_memory {
public:
  void* allocate(std::size_t bytes) {
    const bool fits = bytes <= sizeof room_;
    // acq_rel: steps may be allocated and released on different threads.
    if (fits && !taken_.exchange(true, wharf::detail::memory_order_acq_rel)) {
      return room_;
    }
    return ::operator new(bytes);
  }
  void release(void* memory) noexcept {
    if (memory == room_) {
      taken_.store(false, wharf::detail::memory_order_release);
    } else {
      ::operator delete(memory);
    }
  }

private:
  wharf::detail::atomic<bool> taken_{false};
  alignas(std::max_align_t) std::byte room_[272]; // a step of async_write
};

template <class T>
class operation_allocator {
public:
  using value_type = T;

  explicit operation_allocator(operation_memory& memory) noexcept
      : memory_{&memory} {}
  template <class U>
  operation_allocator(const operation_allocator<U>& other) noexcept
      : memory_{other.memory_} {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(memory_->allocate(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { memory_->release(memory); }

  template <class U>
  friend bool operator==(const operation_allocator& a,
                         const operation_allocator<U>& b) noexcept {
    return a.memory_ == b.memory_;
  }

private:
  template <class U>
  friend class operation_allocator;

  operation_memory* memory_;
};

/// What all operations have in common.
///
/// Asio's cancellation signals may not be emitted beside a step of their
/// operation. So that is left to the executor on which the steps run: the one
/// that Asio offers when it asks the handler for its own. Nothing of the
/// operation is left running there when the coroutine goes on, since what is
/// posted holds it.
class operation_base : public completion {
public:
  operation_memory& memory() noexcept { return memory_; }
  boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }

  /// The operation's steps run on `executor`. The first call counts.
  template <class Executor>
  void steps_run_on(const Executor& executor) noexcept {
    if constexpr (std::is_constructible_v<boost::asio::any_io_executor,
                                          const Executor&>) {
      auto none = knowledge::none;
      if (known_.load(wharf::detail::memory_order_relaxed) != none ||
          !known_.compare_exchange_strong(none, knowledge::being_told)) {
        return;
      }
      try {
        executor_ = executor;
        known_.store(knowledge::told);
      } catch (...) {
        // No memory: then it can't be cancelled, and ends by itself.
      }
    }
  }

protected:
  operation_base() noexcept = default;
  ~operation_base() = default;

  void stop() noexcept final;

  /// The handler has been called, or destroyed.
  void come_back() noexcept;

private:
  enum class knowledge : std::uint8_t { none, being_told, told };
  class emission;

  operation_memory memory_;
  boost::asio::cancellation_signal signal_;
  boost::asio::any_io_executor executor_;
  wharf::detail::atomic<knowledge> known_{knowledge::none}; // of executor_
  wharf::detail::atomic<bool> back_{false};
};

/// What several values are at the await: nothing, a value, a tuple.
template <class... Values>
auto as_result(Values&&... values) {
  if constexpr (sizeof...(Values) == 1) {
    return (std::forward<Values>(values), ...);
  } else if constexpr (sizeof...(Values) > 1) {
    return std::tuple<std::decay_t<Values>...>{std::forward<Values>(values)...};
  }
}

/// An operation with results, whose initiation is not known.
template <class... Results>
class operation_with_results : public operation_base {
public:
  /// Called by the handler.
  void finish(Results&&... results) noexcept {
    try {
      results_.emplace(std::move(results)...);
    } catch (...) {
      failure_ = std::current_exception();
    }
    come_back();
  }
  /// The handler was destroyed without being called.
  void abandon() noexcept { come_back(); }

  auto result() {
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    if (!results_.has_value()) {
      throw boost::system::system_error{boost::asio::error::operation_aborted,
                                        "the operation was given up"};
    }
    return std::apply(
        [](Results&... results) { return unwrap(std::move(results)...); },
        *results_);
  }

protected:
  operation_with_results() noexcept = default;
  ~operation_with_results() = default;

  void fail(std::exception_ptr failure) noexcept {
    failure_ = std::move(failure);
  }

private:
  static void unwrap() noexcept {}
  template <class First, class... Rest>
  static auto unwrap(First&& first, Rest&&... rest) {
    if constexpr (std::is_same_v<First, boost::system::error_code>) {
      if (first) {
        throw boost::system::system_error{first};
      }
      return as_result(std::move(rest)...);
    } else if constexpr (std::is_same_v<First, std::exception_ptr>) {
      if (first != nullptr) {
        std::rethrow_exception(std::move(first));
      }
      return as_result(std::move(rest)...);
    } else {
      return as_result(std::move(first), std::move(rest)...);
    }
  }

  std::optional<std::tuple<Results...>> results_;
  std::exception_ptr failure_;
};

/// The completion handler: move-only, called or destroyed once.
template <class... Results>
class await_handler {
public:
  using allocator_type = operation_allocator<void>;
  using cancellation_slot_type = boost::asio::cancellation_slot;

  explicit await_handler(operation_with_results<Results...>& of) noexcept
      : of_{of} {}
  await_handler(await_handler&& other) noexcept
      : of_{other.of_}, pending_{std::exchange(other.pending_, false)} {}
  await_handler& operator=(await_handler&&) = delete;
  ~await_handler() {
    if (pending_) {
      of_.abandon();
    }
  }

  void operator()(Results... results) noexcept {
    pending_ = false;
    of_.finish(std::move(results)...);
  }

  // Asio asks before the call, if the initiation fails even one that was moved
  // from.
  allocator_type get_allocator() const noexcept {
    return allocator_type{of_.memory()};
  }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return of_.slot();
  }
  template <class Executor>
  void steps_run_on(const Executor& executor) const noexcept {
    of_.steps_run_on(executor);
  }

private:
  operation_with_results<Results...>& of_;
  bool pending_ = true;
};

template <class Results, class Initiation, class... Args>
class operation;

template <class... Results, class Initiation, class... Args>
class operation<std::tuple<Results...>, Initiation, Args...> final
    : public operation_with_results<Results...> {
public:
  explicit operation(Initiation&& initiation, Args&&... args)
      : initiation_(std::move(initiation)), args_{std::move(args)...} {}

private:
  void start() override {
    // What it throws destroys the handler, which so has come back.
    try {
      std::apply(
          [this](Args&... args) {
            std::move(initiation_)(await_handler<Results...>{*this},
                                   std::move(args)...);
          },
          args_);
    } catch (...) {
      this->fail(std::current_exception());
    }
  }

  Initiation initiation_;
  std::tuple<Args...> args_;
};

} // namespace wharf::inline v1::asio::detail

/// The executor that is offered is the right one; but it is to be known.
template <class... Results, class Executor>
struct boost::asio::associated_executor<
    wharf::asio::detail::await_handler<Results...>, Executor> {
  using type = Executor;
  using handler = wharf::asio::detail::await_handler<Results...>;

  static type get(const handler&) noexcept { return type(); }
  static const type& get(const handler& h, const Executor& offered) noexcept {
    h.steps_run_on(offered);
    return offered;
  }
};

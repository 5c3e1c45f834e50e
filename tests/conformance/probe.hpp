#pragma once

// The parts that probes of a compiler are made of: a coroutine type, awaitables
// and a class that counts. None is Wharf's, so that what a probe finds is the
// compiler's.

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace conformance {

/// A class with a destructor, as a string is one. Each is to be destroyed once.
class tracked {
public:
  explicit tracked(int value = 0) : value_{value} { ++balance_; }
  tracked(const tracked& other) : value_{other.value_} { ++balance_; }
  tracked(tracked&& other) noexcept : value_{other.value_} { ++balance_; }
  tracked& operator=(const tracked&) = default;
  ~tracked() { --balance_; }

  int value() const noexcept { return value_; }

  /// Made, less destroyed.
  static int balance() noexcept { return balance_; }
  static void reset() noexcept { balance_ = 0; }

private:
  inline static int balance_ = 0;
  int value_;
};

/// Coroutines that wait until somebody calls go_on().
inline std::vector<std::coroutine_handle<>> parked;

inline void go_on() {
  const auto now = std::exchange(parked, {});
  for (const std::coroutine_handle<> each : now) {
    each.resume();
  }
}

/// Suspends until go_on(); gives its value then.
template <class T>
class later {
public:
  explicit later(T value) : value_{std::move(value)} {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> who) { parked.push_back(who); }
  T await_resume() { return std::move(value_); }

private:
  T value_;
};

/// Throws when it goes on.
struct failing_later {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> who) { parked.push_back(who); }
  int await_resume() { throw 7; }
};

/// A lazy coroutine. One that awaits it is told whether it has suspended by the
/// result of await_suspend, so chains of ready ones take no stack (R5).
template <class T>
class coro {
public:
  class promise_type {
  public:
    promise_type() {} // not defaulted in the class: see R6
    coro get_return_object() {
      return coro{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct end {
        bool await_ready() noexcept { return false; }
        void await_suspend(std::coroutine_handle<promise_type> self) noexcept {
          promise_type& promise = self.promise();
          promise.done_ = true;
          if (promise.suspended_) {
            promise.awaiter_.resume();
          }
        }
        void await_resume() noexcept {}
      };
      return end{};
    }
    void return_value(T value) { value_.emplace(std::move(value)); }
    void unhandled_exception() { failure_ = std::current_exception(); }

  private:
    friend class coro;
    std::coroutine_handle<> awaiter_;
    std::optional<T> value_;
    std::exception_ptr failure_;
    bool done_ = false;
    bool suspended_ = false;
  };

  coro(coro&& other) noexcept : frame_{std::exchange(other.frame_, {})} {}
  coro& operator=(coro&&) = delete;
  ~coro() {
    if (frame_) {
      frame_.destroy();
    }
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> awaiter) {
    frame_.promise().awaiter_ = awaiter;
    frame_.resume();
    frame_.promise().suspended_ = !frame_.promise().done_;
    return frame_.promise().suspended_;
  }
  T await_resume() {
    if (frame_.promise().failure_) {
      std::rethrow_exception(frame_.promise().failure_);
    }
    return std::move(*frame_.promise().value_);
  }

  /// Runs it, not awaited by anybody, to its first suspension.
  void start() { frame_.resume(); }
  bool done() const { return frame_.promise().done_; }
  T result() { return await_resume(); }

private:
  explicit coro(std::coroutine_handle<promise_type> frame) : frame_{frame} {}

  std::coroutine_handle<promise_type> frame_;
};

/// Runs a coroutine to its end, through all its suspensions.
template <class T>
T finish(coro<T> of) {
  of.start();
  while (!of.done()) {
    go_on();
  }
  return of.result();
}

} // namespace conformance

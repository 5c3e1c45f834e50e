#pragma once

// What a task has come to: its result, or what it threw.

#include <wharf/error.hpp>
#include <wharf/task.hpp>

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace wharf::inline v1::detail {

/// A task's result as a value that can be stored: std::monostate for void.
template <class T>
using stored_result = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Written by the coroutine that keep() makes, read when that has ended.
template <class T>
class outcome {
public:
  outcome() noexcept = default;

  bool failed() const noexcept { return failure_ != nullptr; }
  std::exception_ptr failure() const noexcept { return failure_; }

  /// Throws what the task threw, or cancelled if it never ran.
  stored_result<T> take() {
    if (failure_ != nullptr) {
      std::rethrow_exception(failure_);
    }
    if (!value_.has_value()) {
      throw cancelled{"the task was discarded before it began"};
    }
    if constexpr (std::is_lvalue_reference_v<T>) {
      return **value_;
    } else {
      return std::move(*value_);
    }
  }

private:
  template <class U>
  friend task<void> keep(task<U> t, outcome<U>& in);

  // References are stored as pointers.
  using slot =
      std::conditional_t<std::is_lvalue_reference_v<T>,
                         std::remove_reference_t<T>*, stored_result<T>>;

  std::optional<slot> value_;
  std::exception_ptr failure_;
};

/// Runs `t` and stores what it comes to in `in`.
template <class T>
task<void> keep(task<T> t, outcome<T>& in) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(t);
      in.value_.emplace();
    } else if constexpr (std::is_lvalue_reference_v<T>) {
      in.value_.emplace(&co_await std::move(t));
    } else {
      in.value_.emplace(co_await std::move(t));
    }
  } catch (...) {
    in.failure_ = std::current_exception();
  }
}

} // namespace wharf::inline v1::detail

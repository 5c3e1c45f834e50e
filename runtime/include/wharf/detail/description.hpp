#pragma once

// What the descriptions returned by receive, choice, join and so on have in
// common, and how a coroutine awaits one that has no handler.

#include <wharf/detail/coroutine_root.hpp>
#include <wharf/detail/one_time.hpp>

#include <concepts>
#include <coroutine>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace wharf::inline v1::detail {

/// Base of every description. It may be moved about, and is used once.
class builder {
public:
  builder(builder&& other) noexcept : used_{std::exchange(other.used_, true)} {}
  builder& operator=(builder&&) = delete;

  /// Throws std::logic_error the second time.
  void use() {
    if (std::exchange(used_, true)) {
      throw std::logic_error{"this arbiter has been activated already"};
    }
  }

protected:
  builder() noexcept = default;
  ~builder() = default;

private:
  bool used_ = false;
};

template <class B>
concept any_builder = std::derived_from<std::remove_cvref_t<B>, builder>;

/// A description of an arbiter that fires once, and so of a branch. It names
/// its branch_type, which is made in place from the description.
template <class B>
concept one_time_builder = any_builder<B> && requires {
  typename std::remove_cvref_t<B>::branch_type;
};

/// Stands where a description has no handler, because it is to be awaited.
struct no_handler {};

/// Marks a description that is to be awaited.
template <class Handler>
struct awaits_if {};
template <>
struct awaits_if<no_handler> {
  using awaited = void;
};

/// A one-time description whose branch tells a coroutine what it has taken.
template <class B>
concept awaited_builder = one_time_builder<B> && requires {
  typename std::remove_cvref_t<B>::awaited;
};

/// Awaits a description. Lies in the coroutine's frame; allocates nothing by
/// itself. When it is resumed, its coroutine is the one that runs.
template <class Branch>
class await_of {
public:
  template <class Builder>
  explicit await_of(Builder& b) : branch_{std::move(b)} {}
  await_of(const await_of&) = delete;
  await_of& operator=(const await_of&) = delete;

  bool await_ready() const noexcept { return false; }

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    coroutine_root& root = self.promise().root();
    root.begin_await(self);
    branch_.add_to(root);
  }

  decltype(auto) await_resume() {
    return branch_.result(current_coroutine()->end_await());
  }

private:
  Branch branch_;
};

} // namespace wharf::inline v1::detail

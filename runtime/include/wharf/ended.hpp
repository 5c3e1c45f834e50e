#pragma once

// The end of what was activated, as something to await.

#include <wharf/activation.hpp>
#include <wharf/detail/description.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace wharf::inline v1 {

namespace detail {

/// Wins when an arbiter has ended.
class ended_branch final : public branch, private end_listener {
public:
  explicit ended_branch(activation of) noexcept : of_{std::move(of)} {}
  template <class Builder>
  explicit ended_branch(Builder&& b) noexcept
      : ended_branch{std::move(b.of_)} {}

  void add_to(one_time& root) noexcept { root.add(*this); }
  bool is(const branch& winner) const noexcept { return this == &winner; }
  std::monostate result(branch&) const noexcept { return {}; }

  void arm(decision& d) override;
  void disarm(decision& d) noexcept override;
  void give_back_taken(decision&) noexcept override {}
  void destroy_taken() noexcept override {}

private:
  void heard_end(decision& d) noexcept override;

  const activation of_;
};

} // namespace detail

/// Made by activation::ended().
class [[nodiscard("co_await it")]] when_ended
    : public detail::builder,
      public detail::awaits_if<detail::no_handler> {
public:
  using branch_type = detail::ended_branch;

  explicit when_ended(activation of) noexcept : of_{std::move(of)} {}

private:
  friend detail::ended_branch;
  activation of_;
};

inline when_ended activation::ended() const {
  return when_ended{*this};
}

namespace detail {

/// The first of several ends. Awaited, it gives the index.
class first_ended : public builder, public awaits_if<no_handler> {
public:
  class branches {
  public:
    explicit branches(first_ended&& b);
    void add_to(one_time& root) noexcept;
    std::size_t result(const branch& winner) const noexcept;

  private:
    std::vector<std::unique_ptr<ended_branch>> branches_;
  };
  using branch_type = branches;

  explicit first_ended(std::span<const activation> of) noexcept : of_{of} {}

private:
  std::span<const activation> of_;
};

} // namespace detail
} // namespace wharf::inline v1

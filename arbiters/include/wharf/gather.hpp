#pragma once

// gather: a number of replies, whatever their types.

#include <wharf/activate.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/gather_core.hpp>
#include <wharf/join.hpp>
#include <wharf/persist.hpp>
#include <wharf/port_set.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf::inline v1 {

namespace detail {

template <class Handler, class... Ts>
class gather_branch final : public gather_core {
public:
  template <class Builder>
  explicit gather_branch(Builder&& b)
      : gather_core{std::move(b.ports_), b.wanted_, b.priority_},
        handler_{std::move(b.handler_)} {}

  void add_to(one_time& root) noexcept { root.add(*this); }
  bool is(const branch& winner) const noexcept { return this == &winner; }
  auto result(branch&) {
    return take(std::index_sequence_for<Ts...>{}).value();
  }

private:
  handled run(turn& budget) override {
    return run_branch_handler(*this, budget, handler_,
                              take(std::index_sequence_for<Ts...>{}));
  }

  template <std::size_t... I>
  lists_of<Ts...> take(std::index_sequence<I...>) {
    // Everything is taken before anything moves: a move that throws spends
    // this gather's messages and no others.
    return lists_of<Ts...>{vector_of<Ts>{take_from(I)}...};
  }

  Handler handler_;
};

} // namespace detail

/// Takes messages as they come until it has its number. Made by gather().
template <class Handler, class... Ts>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] one_time_gather
    : public detail::builder,
      public detail::awaits_if<Handler> {
public:
  using branch_type = detail::gather_branch<Handler, Ts...>;
  static constexpr bool for_groups = true;
  std::int32_t rank() const noexcept { return priority_; }

  one_time_gather(std::vector<detail::port_ref> ports, std::size_t wanted,
                  Handler handler)
      : ports_{std::move(ports)}, wanted_{wanted},
        handler_{std::move(handler)} {}

  /// Who is asked first for a message; see wharf::priority.
  one_time_gather priority(std::int32_t value) && {
    priority_ = value;
    return std::move(*this);
  }

private:
  friend branch_type;

  std::vector<detail::port_ref> ports_;
  std::size_t wanted_;
  Handler handler_;
  std::int32_t priority_ = wharf::priority::normal;
};

/// gather(response, n, handler): takes messages of all ports of a set as they
/// come, until there are n in total, and runs the handler with one std::vector
/// per type, each in order of arrival. What comes later stays in the ports;
/// n = 0 fires at once.
///
/// What it has taken is out of everybody's reach but counted by size(); if it
/// ends before it is complete (cancel, a lost choice, its queue's end) it goes
/// back to its place. For replies; for resources use join.
/// Throws std::invalid_argument if n is negative.
template <class... Ts, std::integral N, class Handler>
one_time_gather<std::decay_t<Handler>, Ts...>
gather(const port_set<Ts...>& from, N n, Handler&& handler) {
  static_assert(detail::handler_for<Handler, std::vector<Ts>...>::accepts);
  return {detail::refs_of(from.template get<Ts>()...), detail::amount(n),
          std::forward<Handler>(handler)};
}

/// As above, to be awaited: `auto [texts, failures] = co_await
/// gather(response, 10);` gives a std::tuple of std::vectors.
template <class... Ts, std::integral N>
one_time_gather<detail::no_handler, Ts...> gather(const port_set<Ts...>& from,
                                                  N n) {
  return {detail::refs_of(from.template get<Ts>()...), detail::amount(n),
          detail::no_handler{}};
}

/// As above, from one port, to be awaited; gives a std::vector.
template <class T, std::integral N>
one_time_gather<detail::no_handler, T> gather(const port<T>& from, N n) {
  return {detail::refs_of(from), detail::amount(n), detail::no_handler{}};
}

/// As above, from one port.
template <class T, std::integral N, class Handler>
one_time_gather<std::decay_t<Handler>, T> gather(const port<T>& from, N n,
                                                 Handler&& handler) {
  static_assert(detail::handler_for<Handler, std::vector<T>>::accepts);
  return {detail::refs_of(from), detail::amount(n),
          std::forward<Handler>(handler)};
}

} // namespace wharf::inline v1

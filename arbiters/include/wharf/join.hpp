#pragma once

// join: messages of several ports, all or none.

#include <wharf/activate.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/handler.hpp>
#include <wharf/detail/join_core.hpp>
#include <wharf/detail/port_range.hpp>
#include <wharf/persist.hpp>
#include <wharf/port.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf::inline v1 {

namespace detail {

/// A number of messages. Throws std::invalid_argument if it is negative.
template <std::integral N>
std::size_t amount(N n) {
  if constexpr (std::is_signed_v<N>) {
    if (n < 0) {
      throw std::invalid_argument{
          "a join or gather can't wait for a negative number of messages"};
    }
  }
  return static_cast<std::size_t>(n);
}

template <class Unit, class Handler>
class join_branch_of final : public join_branch {
public:
  template <class Builder>
  explicit join_branch_of(Builder&& b)
      : join_branch{std::move(b.parts_), b.repeat_, b.priority_},
        handler_{std::move(b.handler_)} {}

  void add_to(one_time& root) noexcept { root.add(*this); }
  bool is(const branch& winner) const noexcept { return this == &winner; }
  auto result(branch&) { return Unit{take_unit()}.value(); }

private:
  handled run(turn& budget) override {
    return run_branch_handler(*this, budget, handler_, Unit{take_unit()});
  }

  Handler handler_;
};

template <class Unit, class Handler>
class join_pump_of final : public join_pump {
public:
  template <class Builder>
  join_pump_of(queue_core& queue, Builder&& b)
      : join_pump{queue, std::move(b.parts_), b.repeat_, b.priority_,
                  b.serial_},
        handler_{std::move(b.handler_)} {}

private:
  handled handle(message_list unit, turn& budget) override {
    return run_handler(queue(), *this, budget, *handler_,
                       Unit{std::move(unit)});
  }
  bool in_coroutines() const noexcept override {
    return handles_in_coroutines<Handler, Unit>;
  }
  void destroy_payload() noexcept override { handler_.reset(); }

  std::optional<Handler> handler_;
};

template <class Unit, class Handler>
class join_member_of final : public join_member {
public:
  template <class Builder>
  join_member_of(queue_core& queue, Builder&& b)
      : join_member{queue, std::move(b.parts_), b.repeat_, b.priority_,
                    b.serial_},
        handler_{std::move(b.handler_)} {}

private:
  handled handle(message_list unit, turn& budget) override {
    return run_handler(queue(), *this, budget, handler_, Unit{std::move(unit)});
  }

  Handler handler_;
};

/// What one-time and persistent joins share.
template <class Unit, class Handler>
class join_description : public builder {
public:
  static constexpr bool for_groups = true;
  std::int32_t rank() const noexcept { return priority_; }

  join_description(std::vector<port_ref> parts, std::size_t repeat,
                   Handler handler)
      : parts_{std::move(parts)}, repeat_{repeat},
        handler_{std::move(handler)} {
    if (parts_.empty() || repeat_ == 0) {
      throw std::invalid_argument{
          "a join of no messages would fire for ever: name at least one"};
    }
  }

protected:
  template <class, class>
  friend class join_branch_of;
  template <class, class>
  friend class join_pump_of;
  template <class, class>
  friend class join_member_of;

  std::vector<port_ref> parts_;
  std::size_t repeat_;
  Handler handler_;
  std::int32_t priority_ = wharf::priority::normal;
  bool serial_ = false;
};

} // namespace detail

/// Takes all its messages at once, or none; then it is gone. Made by join().
template <class Unit, class Handler>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] one_time_join
    : public detail::join_description<Unit, Handler>,
      public detail::awaits_if<Handler> {
public:
  using branch_type = detail::join_branch_of<Unit, Handler>;
  using detail::join_description<Unit, Handler>::join_description;

  /// Who is asked first for a message; see wharf::priority.
  one_time_join priority(std::int32_t value) && {
    this->priority_ = value;
    return std::move(*this);
  }
};

/// Runs its handler for every complete set of messages. After each it goes to
/// the end of its class, so joins that share a port take turns. Handlers may
/// overlap, unless one_at_a_time(). Made by join(persist, ...).
template <class Unit, class Handler>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] persistent_join
    : public detail::join_description<Unit, Handler> {
public:
  using detail::join_description<Unit, Handler>::join_description;

  /// Who is asked first for a message; see wharf::priority.
  persistent_join priority(std::int32_t value) && {
    this->priority_ = value;
    return std::move(*this);
  }
  /// The handler never overlaps itself.
  persistent_join one_at_a_time() && {
    this->serial_ = true;
    return std::move(*this);
  }

  detail::new_arbiter<detail::join_pump_of<Unit, Handler>>
  make(detail::queue_core& queue) && {
    return detail::new_arbiter<detail::join_pump_of<Unit, Handler>>{
        new detail::join_pump_of<Unit, Handler>{queue, std::move(*this)}};
  }
  std::unique_ptr<detail::interleave_member>
  make_member(detail::queue_core& queue) && {
    return std::make_unique<detail::join_member_of<Unit, Handler>>(
        queue, std::move(*this));
  }
};

namespace detail {

template <class... Ts>
std::vector<port_ref> refs_of(const port<Ts>&... ports) {
  std::vector<port_ref> refs;
  refs.reserve(sizeof...(Ts));
  (refs.emplace_back(detail_port_access::core(ports)), ...);
  return refs;
}

/// Splits `ports..., handler`, since a pack can't be followed by a parameter
/// that is deduced.
template <template <class, class> class Join, class... Args>
auto make_join(const Args&... args, auto&& handler) {
  using unit = each_of<typename Args::value_type...>;
  using handler_type = std::decay_t<decltype(handler)>;
  static_assert(
      handler_for<handler_type, typename Args::value_type...>::accepts);
  return Join<unit, handler_type>{refs_of(args...), 1,
                                  std::forward<decltype(handler)>(handler)};
}

template <template <class, class> class Join, class Tuple, std::size_t... I>
auto make_join_of(Tuple&& args, std::index_sequence<I...>) {
  return make_join<Join, std::remove_cvref_t<std::tuple_element_t<
                             I, std::remove_cvref_t<Tuple>>>...>(
      std::get<I>(args)..., std::get<sizeof...(I)>(std::forward<Tuple>(args)));
}

template <class T>
inline constexpr bool is_port = false;
template <class T>
inline constexpr bool is_port<port<T>> = true;

template <class... Args>
inline constexpr bool ports_then_handler =
    []<std::size_t... I>(std::index_sequence<I...>) {
      using list = std::tuple<std::remove_cvref_t<Args>...>;
      return (is_port<std::tuple_element_t<I, list>> && ...) &&
             !is_port<std::tuple_element_t<sizeof...(I), list>>;
    }(std::make_index_sequence<sizeof...(Args) - 1>{});

} // namespace detail

/// join(a, b, ..., handler): waits until every port has a message, takes one
/// of each at once, and runs handler(A, B, ...).
///
/// Nothing is taken, hidden or reordered before all are there, so a message
/// stays available to others while the join waits, and joins on the same ports
/// can't deadlock in any order. A port that is named twice gives two messages.
template <class A, class... Rest>
  requires(sizeof...(Rest) >= 1 && detail::ports_then_handler<port<A>, Rest...>)
auto join(const port<A>& first, Rest&&... rest) {
  return detail::make_join_of<one_time_join>(
      std::forward_as_tuple(first, std::forward<Rest>(rest)...),
      std::make_index_sequence<sizeof...(Rest)>{});
}

/// As above, to be awaited: `auto [a, b] = co_await join(first, second);`
/// gives a std::tuple. Throws, at the await, port_closed and cancelled.
template <class A, class B, class... Rest>
one_time_join<detail::each_of<A, B, Rest...>, detail::no_handler>
join(const port<A>& first, const port<B>& second, const port<Rest>&... rest) {
  return {detail::refs_of(first, second, rest...), 1, detail::no_handler{}};
}

/// As above, for every complete set.
template <class A, class... Rest>
  requires(sizeof...(Rest) >= 1 && detail::ports_then_handler<port<A>, Rest...>)
auto join(persist_t, const port<A>& first, Rest&&... rest) {
  return detail::make_join_of<persistent_join>(
      std::forward_as_tuple(first, std::forward<Rest>(rest)...),
      std::make_index_sequence<sizeof...(Rest)>{});
}

/// Waits until `from` has `n` messages, takes them at once, oldest first, and
/// runs handler(std::vector<T>).
/// Throws std::invalid_argument if n is 0 or negative.
template <class T, std::integral N, class Handler>
one_time_join<detail::vector_of<T>, std::decay_t<Handler>>
join(const port<T>& from, N n, Handler&& handler) {
  static_assert(detail::handler_for<Handler, std::vector<T>>::accepts);
  return {detail::refs_of(from), detail::amount(n),
          std::forward<Handler>(handler)};
}

/// As above, to be awaited; gives a std::vector.
template <class T, std::integral N>
one_time_join<detail::vector_of<T>, detail::no_handler>
join(const port<T>& from, N n) {
  return {detail::refs_of(from), detail::amount(n), detail::no_handler{}};
}

/// As above, for every n messages.
template <class T, std::integral N, class Handler>
persistent_join<detail::vector_of<T>, std::decay_t<Handler>>
join(persist_t, const port<T>& from, N n, Handler&& handler) {
  static_assert(detail::handler_for<Handler, std::vector<T>>::accepts);
  return {detail::refs_of(from), detail::amount(n),
          std::forward<Handler>(handler)};
}

/// Takes one message of each port of a range (a std::vector<port<T>>, say), all
/// at once, and runs handler(std::vector<T>) with them in the range's order.
/// Throws std::invalid_argument if the range is empty.
template <detail::port_range Ports, class Handler>
auto join(const Ports& ports, Handler&& handler) {
  using T = detail::port_range_value<Ports>;
  static_assert(detail::handler_for<Handler, std::vector<T>>::accepts);
  return one_time_join<detail::vector_of<T>, std::decay_t<Handler>>{
      detail::refs_of_range(ports), 1, std::forward<Handler>(handler)};
}

/// As above, to be awaited; gives a std::vector in the range's order.
template <detail::port_range Ports>
auto join(const Ports& ports) {
  using T = detail::port_range_value<Ports>;
  return one_time_join<detail::vector_of<T>, detail::no_handler>{
      detail::refs_of_range(ports), 1, detail::no_handler{}};
}

/// As above, for every complete set.
template <detail::port_range Ports, class Handler>
auto join(persist_t, const Ports& ports, Handler&& handler) {
  using T = detail::port_range_value<Ports>;
  static_assert(detail::handler_for<Handler, std::vector<T>>::accepts);
  return persistent_join<detail::vector_of<T>, std::decay_t<Handler>>{
      detail::refs_of_range(ports), 1, std::forward<Handler>(handler)};
}

} // namespace wharf::inline v1

#pragma once

// interleave: who may run beside whom, in place of a reader/writer lock.

#include <wharf/activate.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/interleave_core.hpp>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

namespace detail {

/// The arbiters of one group.
template <group_kind Kind, class... Builders>
class group_of {
  static_assert((any_builder<Builders> && ...), "a group holds arbiters");
  static_assert((member_builder<Builders> && ...),
                "a group holds receive, join, gather and choice");
  static_assert(Kind != group_kind::teardown ||
                    (one_time_builder<Builders> && ...),
                "teardown happens once: its arbiters are not persistent");

public:
  explicit group_of(Builders... builders) : builders_{std::move(builders)...} {}

  void add_to(queue_core& queue, interleave_parts& parts) {
    std::apply(
        [&](auto&... each) {
          (parts.add(detail::make_member(queue, std::move(each)), Kind), ...);
        },
        builders_);
    if (closes_) {
      parts.close_at_end();
    }
    if (cancels_) {
      parts.cancel_at_teardown();
    }
  }

protected:
  bool closes_ = false;
  bool cancels_ = false;

private:
  std::tuple<Builders...> builders_;
};

template <class... Builders>
class teardown_group : public group_of<group_kind::teardown, Builders...> {
public:
  using group_of<group_kind::teardown, Builders...>::group_of;

  /// When the teardown message comes, the handlers that run and are coroutines
  /// are cancelled: what they await throws wharf::cancelled. Without this they
  /// finish in their own time.
  teardown_group cancelling() && {
    this->cancels_ = true;
    return std::move(*this);
  }

  /// After the teardown handler all ports of the interleave close, and what is
  /// left in them is destroyed.
  teardown_group then_close() && {
    this->closes_ = true;
    return std::move(*this);
  }
};

template <class G>
inline constexpr bool is_group = false;
template <group_kind K, class... B>
inline constexpr bool is_group<group_of<K, B...>> = true;
template <class... B>
inline constexpr bool is_group<teardown_group<B...>> = true;

} // namespace detail

/// The group whose first message ends the interleave.
template <class... Builders>
detail::teardown_group<Builders...> teardown(Builders... arbiters) {
  return detail::teardown_group<Builders...>{std::move(arbiters)...};
}

/// The group whose handlers exclude all others of the interleave.
template <class... Builders>
auto exclusive(Builders... arbiters) {
  return detail::group_of<detail::group_kind::exclusive, Builders...>{
      std::move(arbiters)...};
}

/// The group whose handlers may overlap each other.
template <class... Builders>
auto concurrent(Builders... arbiters) {
  return detail::group_of<detail::group_kind::concurrent, Builders...>{
      std::move(arbiters)...};
}

/// How an interleave shares its time between exclusives and concurrents.
class fairness {
public:
  /// While an exclusive waits no concurrent starts, but after `exclusives`
  /// exclusive handlers in a row the concurrents that wait at that moment run,
  /// as one batch; who comes later is not in it.
  /// Throws std::invalid_argument for 0.
  static fairness bounded(std::uint32_t exclusives) {
    if (exclusives == 0) {
      throw std::invalid_argument{
          "fairness::bounded: at least one exclusive goes before a batch"};
    }
    return {detail::fairness_rule::bounded, exclusives};
  }

  /// While an exclusive waits no concurrent starts, however many come: under a
  /// steady load of exclusives the concurrents starve. This is CCR's rule.
  static const fairness writers_first;

  /// Exclusives and concurrents start in the order in which they came, over all
  /// ports of the interleave: nobody passes an exclusive that waits, and an
  /// exclusive passes nobody. Concurrents with no exclusive between them
  /// overlap. Neither group starves.
  ///
  /// Beside priorities: a message brings its group a turn, in the order of
  /// arrival; the group gives each of its turns to the highest priority that
  /// waits in it, then to the oldest. So an urgent message takes the next turn
  /// of its group and the others of the group move back by one, while the other
  /// group's turns stay where they are.
  static const fairness arrival;

private:
  template <class... Groups>
  friend class interleave_of;

  constexpr fairness(detail::fairness_rule rule,
                     std::uint32_t exclusives) noexcept
      : rule_{rule}, exclusives_{exclusives} {}

  detail::fairness_rule rule_;
  std::uint32_t exclusives_; // in a row, if bounded
};

inline constexpr fairness fairness::writers_first{
    detail::fairness_rule::writers_first, 0};
inline constexpr fairness fairness::arrival{detail::fairness_rule::arrival, 0};

/// Groups of arbiters under one rule. Made by interleave().
template <class... Groups>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] interleave_of
    : public detail::builder {
public:
  explicit interleave_of(Groups... groups) : groups_{std::move(groups)...} {}

  detail::new_arbiter<detail::interleave_core>
  make(detail::queue_core& queue) && {
    detail::new_arbiter<detail::interleave_core> core{
        new detail::interleave_core{queue, make_parts(queue)}};
    const wharf::fairness rule =
        fairness_.value_or(wharf::fairness::bounded(16));
    core->be_fair(rule.rule_, rule.exclusives_);
    return core;
  }

  /// How exclusives and concurrents take turns; fairness::bounded(16) if this
  /// is not called.
  interleave_of fairness(wharf::fairness rule) && {
    fairness_ = rule;
    return std::move(*this);
  }

private:
  friend class activation;

  detail::interleave_parts make_parts(detail::queue_core& queue) {
    detail::interleave_parts parts;
    std::apply([&](auto&... each) { (each.add_to(queue, parts), ...); },
               groups_);
    return parts;
  }

  std::tuple<Groups...> groups_;
  std::optional<wharf::fairness> fairness_;
};

/// interleave(teardown(...), exclusive(...), concurrent(...)): any of the
/// groups, in any order.
///
/// Nothing overlaps an exclusive handler; concurrent ones overlap each other.
/// While an exclusive message waits no further concurrent handler starts, but
/// after 16 exclusives in a row the concurrents that wait at that moment run as
/// one batch; `.fairness(...)` sets another rule. Within a group: priority,
/// then arrival, across its ports. Between groups no order is promised, but by
/// fairness::arrival: who must see his own update waits for its answer.
///
/// The first teardown message ends the interleave: no other handler starts, the
/// arbiters leave their ports and give back, running handlers finish, and the
/// teardown handler runs once, alone, last. So it overtakes what waits.
///
/// A handler that waits for its own group's answer waits for ever: post and
/// return instead.
template <class... Groups>
  requires(sizeof...(Groups) >= 1 && (detail::is_group<Groups> && ...))
interleave_of<Groups...> interleave(Groups... groups) {
  return interleave_of<Groups...>{std::move(groups)...};
}

template <class... Groups>
bool activation::combine(interleave_of<Groups...> more) {
  detail::refuse_in_predicate();
  more.use();
  if (more.fairness_) {
    throw std::logic_error{"combine: the fairness of an interleave is that of "
                           "its activation; leave it out of what is added"};
  }
  if (arbiter_ == nullptr) {
    return false;
  }
  // What ends meanwhile may take the last activation with it, this one even.
  const activation pinned{*this};
  detail::interleave_core& core = detail::expect_interleave(*arbiter_);
  return core.combine(more.make_parts(core.queue()));
}

} // namespace wharf::inline v1

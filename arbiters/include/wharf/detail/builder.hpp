#pragma once

// How activate turns the descriptions that receive, choice, join and so on
// return into arbiters.

#include <wharf/activation.hpp>
#include <wharf/detail/description.hpp>
#include <wharf/detail/interleave_core.hpp>
#include <wharf/detail/one_time.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1::detail {

/// A description that becomes an arbiter by itself when it is activated.
template <class B>
concept persistent_builder = any_builder<B> && !one_time_builder<B>;

/// A description that a group of an interleave takes.
template <class B>
concept member_builder =
    any_builder<B> && requires { requires std::remove_cvref_t<B>::for_groups; };

/// The root of branches whose types are known: one allocation for all.
template <class... Branches>
class one_time_of final : public one_time {
public:
  template <class... Builders>
  explicit one_time_of(queue_core& queue, Builders&&... builders)
      : one_time{queue},
        branches_{std::in_place, std::forward<Builders>(builders)...} {
    std::apply([this](auto&... each) { (each.add_to(*this), ...); },
               *branches_);
  }

private:
  void destroy_payload() noexcept override { branches_.reset(); }

  std::optional<std::tuple<Branches...>> branches_;
};

/// Owns a new arbiter until the first reference is its own.
struct drop_reference {
  void operator()(arbiter* a) const noexcept { a->drop_ref(); }
};
template <class Arbiter>
using new_arbiter = std::unique_ptr<Arbiter, drop_reference>;

/// Hands a new arbiter to its queue and registers it.
template <class Arbiter>
activation start(queue_core& queue, new_arbiter<Arbiter> fresh) {
  Arbiter& a = *fresh.release();
  const activation handle = detail_activation_access::make(a);
  a.activate(queue.link(a));
  return handle;
}

template <one_time_builder B>
activation activate_builder(queue_core& queue, B&& b) {
  b.use();
  using branch_type = typename std::remove_cvref_t<B>::branch_type;
  return start(queue, new_arbiter<one_time_of<branch_type>>{
                          new one_time_of<branch_type>{queue, std::move(b)}});
}

template <persistent_builder B>
activation activate_builder(queue_core& queue, B&& b) {
  b.use();
  return start(queue, std::move(b).make(queue));
}

template <one_time_builder B>
std::unique_ptr<interleave_member> make_member(queue_core& queue, B&& b) {
  b.use();
  using branch_type = typename std::remove_cvref_t<B>::branch_type;
  const std::int32_t rank = b.rank();
  new_arbiter<one_time> root{new one_time_of<branch_type>{queue, std::move(b)}};
  auto member = std::make_unique<one_time_member>(*root, rank);
  root.release();
  return member;
}

template <persistent_builder B>
std::unique_ptr<interleave_member> make_member(queue_core& queue, B&& b) {
  b.use();
  return std::move(b).make_member(queue);
}

} // namespace wharf::inline v1::detail

#pragma once

// Ranges of ports: what choice and join take when the number is known at run
// time only.

#include <wharf/detail/port_core.hpp>
#include <wharf/port.hpp>

#include <iterator>
#include <type_traits>
#include <vector>

namespace wharf::inline v1::detail {

template <class T>
struct port_value {};
template <class T>
struct port_value<port<T>> {
  using type = T;
};

template <class R>
using port_range_value = typename port_value<
    std::remove_cvref_t<decltype(*std::begin(std::declval<R&>()))>>::type;

template <class R>
concept port_range = requires { typename port_range_value<const R>; };

template <port_range R>
std::vector<port_ref> refs_of_range(const R& ports) {
  std::vector<port_ref> refs;
  for (const auto& each : ports) {
    refs.emplace_back(detail_port_access::core(each));
  }
  return refs;
}

} // namespace wharf::inline v1::detail

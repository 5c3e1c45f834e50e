#pragma once

// Port sets: a component's public face, one port for each message type.

#include <wharf/port.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

namespace detail {

template <class T, class... Ts>
inline constexpr std::size_t count_of =
    (std::size_t{0} + ... + (std::is_same_v<T, Ts> ? 1U : 0U));

template <class... Ts>
inline constexpr bool all_different = ((count_of<Ts, Ts...> == 1) && ...);

} // namespace detail

/// A bundle of ports, one per type, posted to by type. A cheap handle like its
/// ports; services derive from it. It promises no order between its ports.
///
/// Thread safety and lifetime: as its ports.
template <class... Ts>
class port_set {
  static_assert(sizeof...(Ts) > 0, "a port set has at least one type");
  static_assert(detail::all_different<Ts...>,
                "a port set has each type once: posts choose by type");

public:
  /// Open, empty ports. Throws std::bad_alloc.
  port_set(std::source_location where = std::source_location::current())
      : ports_{port<Ts>{where}...} {}

  /// A set of ports that exist already.
  explicit port_set(port<Ts>... ports) : ports_{std::move(ports)...} {}

  /// Posts to the port of the argument's type, which must be one of the set's
  /// types exactly. As port::post.
  template <class T>
    requires(detail::count_of<std::remove_cvref_t<T>, Ts...> == 1)
  bool post(T&& value) const {
    return get<std::remove_cvref_t<T>>().post(std::forward<T>(value));
  }

  template <class T>
  port<T>& get() noexcept {
    static_assert(detail::count_of<T, Ts...> == 1,
                  "the port set has no port of this type");
    return std::get<port<T>>(ports_);
  }
  template <class T>
  const port<T>& get() const noexcept {
    static_assert(detail::count_of<T, Ts...> == 1,
                  "the port set has no port of this type");
    return std::get<port<T>>(ports_);
  }

  /// Closes all ports, in the order of the types.
  void close() const {
    std::apply([](const auto&... each) { (each.close(), ...); }, ports_);
  }

private:
  std::tuple<port<Ts>...> ports_;
};

} // namespace wharf::inline v1

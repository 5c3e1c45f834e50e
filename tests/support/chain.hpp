#pragma once

// Ports that hold messages that hold ports, and so on: destroyed naively, such
// a chain overflows the stack.

#include <wharf/port.hpp>

#include <any>
#include <utility>

namespace wharf::test {

/// Far deeper than any stack if a link takes one frame.
inline constexpr int deep = 100'000;

/// A port whose only message is the last handle of a port whose only message
/// is ..., `links` times.
inline port<std::any> chain_of_ports(int links) {
  port<std::any> first;
  for (int i = 0; i < links; ++i) {
    port<std::any> outer;
    outer.post(std::any{std::move(first)});
    first = outer;
  }
  return first;
}

} // namespace wharf::test

#pragma once

// The distinct ports that an interleave has ever had.

#include <wharf/detail/port_core.hpp>

#include <functional>
#include <iterator>
#include <set>
#include <vector>

namespace wharf::inline v1::detail {

/// Nodes, so that ports change from one roll to another without allocating, and
/// without letting go of any: that may run user code.
class port_roll {
public:
  void add(const std::vector<port_ref>& ports) {
    for (const port_ref& port : ports) {
      ports_.emplace(*port);
    }
  }
  /// Takes over those that are not here yet.
  void merge(port_roll& other) noexcept { ports_.merge(other.ports_); }
  /// Hands over those that nobody else refers to any more.
  void hand_over_forgotten(port_roll& to) noexcept {
    for (auto port = ports_.begin(); port != ports_.end();) {
      const auto next = std::next(port);
      if (!(*port)->shared()) {
        to.ports_.insert(ports_.extract(port));
      }
      port = next;
    }
  }
  void clear() noexcept { ports_.clear(); }

  auto begin() const noexcept { return ports_.begin(); }
  auto end() const noexcept { return ports_.end(); }

private:
  struct by_address {
    bool operator()(const port_ref& a, const port_ref& b) const noexcept {
      return std::less<>{}(a.get(), b.get());
    }
  };

  std::set<port_ref, by_address> ports_;
};

} // namespace wharf::inline v1::detail

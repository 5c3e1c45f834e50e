#pragma once

// What the end of a queue has cut short, for the report of a shutdown.

#include <wharf/detail/port_core.hpp>

#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace wharf::inline v1::detail {

/// Ports that something waited on when it was ended. Best effort: without
/// memory one is left out.
class port_names {
public:
  void add(std::span<port_core* const> ports) noexcept {
    for (port_core* port : ports) {
      guarded([&] { ports_.emplace_back(*port); });
    }
  }
  /// Those that `who` names.
  template <class Waiter>
  void of(const Waiter& who) noexcept {
    guarded([&] { who.name_ports(ports_); });
  }

  const std::vector<port_ref>& all() const noexcept { return ports_; }

private:
  template <class F>
  void guarded(F f) noexcept {
    try {
      f();
    } catch (const std::bad_alloc&) {
      return; // the report says less, the shutdown does no less
    }
  }

  std::vector<port_ref> ports_; // with repetitions
};

struct queue_end {
  port_names waited_on;
  std::size_t arbiters = 0;
  std::size_t coroutines = 0;
};

} // namespace wharf::inline v1::detail

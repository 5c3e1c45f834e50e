#pragma once

// How tests drive a dispatcher by hand: no threads, one work item at a time,
// and a clock that stands still until it is set.

#include <wharf/detail/timers.hpp>

#include <cstddef>

namespace wharf::inline v1 {

class dispatcher;

namespace detail {

class dispatcher_core;

struct dispatcher_access {
  /// A dispatcher without threads. Its clock starts at time_point{} plus one
  /// hour, so that times before it exist.
  static dispatcher make_manual();

  /// Fires due timers, then runs one handler. False: there was nothing to do.
  static bool run_one(dispatcher& pool);
  static void set_now(dispatcher& pool, time_point now);

  /// Switches the rationing of wake-ups, and with it the time-out that backs
  /// it up, off: a lost wake-up is then a hang.
  static void set_sentinel(dispatcher& pool, bool on);

  static std::size_t pending_timers(const dispatcher& pool);
};

} // namespace detail
} // namespace wharf::inline v1

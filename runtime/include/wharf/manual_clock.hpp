#pragma once

// A clock that stands still until somebody sets it: dispatchers in tests.

#include <wharf/detail/durations.hpp>

#include <chrono>
#include <memory>

namespace wharf::inline v1 {

namespace detail {
class hand_set_time;
} // namespace detail

/// The time of the dispatchers that are made with it:
///
///     manual_clock clock;
///     dispatcher pool{{.threads = 4, .clock = &clock}};
///     clock.advance(1s);
///     pool.drain(); // what was due has been handled
///
/// Their workers are real threads, their timers know no other time than this
/// one, and several dispatchers may share it. Moving it wakes a worker of each
/// dispatcher that has a timer due then, and waits for none.
///
/// Thread safety: every member may be called from any thread, handlers
/// included; not inside a predicate.
/// Lifetime: the clock and its dispatchers may end in any order. Once the
/// clock has ended its time stands still for ever.
class manual_clock {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using duration = std::chrono::steady_clock::duration;

  /// Shows one hour after the clock's epoch, so that there are times before.
  manual_clock();
  explicit manual_clock(time_point start);
  ~manual_clock();
  manual_clock(const manual_clock&) = delete;
  manual_clock& operator=(const manual_clock&) = delete;

  time_point now() const noexcept;

  /// Moves the time forward. It ends just before the end of the clock's range,
  /// so that what is never due stays so.
  /// Throws std::invalid_argument for a negative duration and for one that is
  /// no number; the time is unchanged then.
  template <class Rep, class Period>
  void advance(std::chrono::duration<Rep, Period> by) {
    advance_by(detail::clock_duration(by));
  }

  /// Moves the time to `to`. Throws std::invalid_argument if that has passed.
  void set(time_point to);

private:
  friend class dispatcher;

  void advance_by(duration by);

  std::shared_ptr<detail::hand_set_time> time_; // never null
};

} // namespace wharf::inline v1

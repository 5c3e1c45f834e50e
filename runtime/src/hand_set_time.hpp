#pragma once

// A time that is set by hand, and who is told when it moves.

#include <wharf/detail/durations.hpp>
#include <wharf/detail/sync.hpp>

#include <vector>

namespace wharf::inline v1::detail {

/// Somebody with timers on a hand-set time.
class time_listener {
public:
  /// now() has moved. Called under the time's lock, on whatever thread set it.
  virtual void time_moved() noexcept = 0;

protected:
  time_listener() noexcept = default;
  ~time_listener() = default;
  time_listener(const time_listener&) = delete;
  time_listener& operator=(const time_listener&) = delete;
};

/// NO TIMER IS MISSED
///
///   who moves the time:  now_ changes, then each listener looks at its timers
///   who arms a timer:    the timers change, then now() is read
///
///   Both look at the timers under the lock of their heap. So whoever comes
///   there last sees the other: the mover the timer, or the armer the time.
///
/// Thread safety: every member may be called from any thread.
class hand_set_time {
public:
  explicit hand_set_time(time_point start) noexcept;

  time_point now() const noexcept {
    return time_point{duration{now_.load(memory_order_acquire)}};
  }
  /// Both throw std::invalid_argument if the time would move backwards.
  void advance(duration by) WHARF_EXCLUDES(mutex_);
  void set(time_point to) WHARF_EXCLUDES(mutex_);

  void add(time_listener& who) WHARF_EXCLUDES(mutex_);
  void remove(const time_listener& who) noexcept WHARF_EXCLUDES(mutex_);

private:
  void set_locked(time_point to) noexcept WHARF_REQUIRES(mutex_);

  mutex mutex_; // level 0: no other lock is held when it is taken
  std::vector<time_listener*> listeners_ WHARF_GUARDED_BY(mutex_);
  atomic<duration::rep> now_; // written under mutex_
};

} // namespace wharf::inline v1::detail

#pragma once

// Timers as arbiters, without their types: a branch that wins when its time
// has come, and the periodic one.

#include <wharf/detail/one_time.hpp>
#include <wharf/detail/timers.hpp>

#include <algorithm>

namespace wharf::inline v1::detail {

/// A delay from the moment of arming, or a point of time.
class due_time {
public:
  explicit due_time(duration delay) noexcept : delay_{delay} {}
  explicit due_time(time_point due) noexcept
      : delay_{due.time_since_epoch()}, absolute_{true} {}
  time_point from(time_point now) const noexcept {
    return absolute_
               ? std::min(time_point{delay_}, due_after(now, duration::max()))
               : due_after(now, delay_);
  }

private:
  duration delay_;
  bool absolute_ = false;
};

/// Wins at its due time unless its root is decided before.
class timer_branch : public branch, public timer_entry {
public:
  explicit timer_branch(due_time when) noexcept : when_{when} {}

  void arm(decision& d) final;
  void disarm(decision& d) noexcept final;
  void give_back_taken(decision&) noexcept final {}
  void destroy_taken() noexcept final {}
  bool is_timer() const noexcept final { return true; }

protected:
  ~timer_branch() = default;

private:
  time_point fire(decision& d, time_point due, time_point now) noexcept final;

  const due_time when_;
};

/// Runs its handler at every multiple of a period after its activation.
///
/// Ticks keep to that grid, so lateness does not add up. A tick that is due
/// while the handler still runs, or while the machine stalled, is made up
/// once; further ones are left out. Its handler never overlaps itself.
class periodic : public arbiter, public timer_entry, public handler_owner {
public:
  void activate(bool linked);
  bool cancel() noexcept final;
  bool active() const noexcept final {
    return !left_.load(memory_order_acquire);
  }
  void settle(decision& d) noexcept final { d.schedule(*this); }
  void run(turn& budget) noexcept final;
  void discard() noexcept final;

protected:
  periodic(queue_core& queue, duration period);
  virtual handled tick(turn& budget) = 0;

private:
  time_point fire(decision& d, time_point due, time_point now) noexcept final;
  void handler_ended(std::exception_ptr failure) noexcept final;
  void ticked() noexcept;
  /// Whether the caller must call finish_pinned(), with the value of queued_.
  bool try_finish_locked() noexcept WHARF_REQUIRES(mutex_);

  const duration period_;
  mutex mutex_; // level 2: under the timer heap's
  bool queued_ WHARF_GUARDED_BY(mutex_) = false;
  bool running_ WHARF_GUARDED_BY(mutex_) = false;
  bool due_again_ WHARF_GUARDED_BY(mutex_) = false;
  bool finished_ WHARF_GUARDED_BY(mutex_) = false;
  atomic<bool> left_{false};
};

} // namespace wharf::inline v1::detail

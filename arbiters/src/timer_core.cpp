// Timers as arbiters; see detail/timer_core.hpp.

#include <wharf/detail/timer_core.hpp>

#include <stdexcept>

namespace wharf::inline v1::detail {

void timer_branch::arm(decision&) {
  queue_core& queue = root().queue();
  queue.arm(*this, when_.from(queue.now()));
}

void timer_branch::disarm(decision&) noexcept {
  root().queue().disarm(*this);
}

time_point timer_branch::fire(decision& d, time_point, time_point) noexcept {
  if (root().claim(this)) {
    d.settle(root());
  }
  return time_point::max();
}

periodic::periodic(queue_core& queue, duration period)
    : arbiter{queue}, period_{period} {
  if (period <= duration::zero()) {
    throw std::invalid_argument{"every: the period must be positive"};
  }
}

void periodic::activate(bool linked) {
  if (!linked) {
    if (!left_.exchange(true)) {
      finish();
    }
    return;
  }
  queue().arm(*this, due_after(queue().now(), period_));
  if (left_.load(memory_order_acquire)) {
    queue().disarm(*this); // the queue ended in between
  }
}

time_point periodic::fire(decision& d, time_point due,
                          time_point now) noexcept {
  {
    const lock_guard lock{mutex_};
    if (left_.load(memory_order_acquire)) {
      return time_point::max();
    }
    if (queued_ || running_) {
      due_again_ = true;
    } else {
      queued_ = true;
      d.revisit(*this); // in the order of due times, as all that fire
    }
  }
  // The first point of the grid behind `now`.
  const auto missed = (now - due) / period_;
  return due_after(due + missed * period_, period_);
}

bool periodic::try_finish_locked() noexcept {
  if (!left_.load(memory_order_acquire) || running_ || finished_) {
    return false;
  }
  finished_ = true;
  add_ref(); // for finish_pinned()
  return true;
}

void periodic::run(turn& budget) noexcept {
  mutex_.lock();
  queued_ = false;
  if (left_.load(memory_order_acquire)) {
    const bool orphan = finished_;
    mutex_.unlock();
    if (orphan) {
      drop_ref();
    }
    return;
  }
  running_ = true;
  due_again_ = false;
  mutex_.unlock();
  budget.spend();
  const context_scope scope{armed_under()};
  try {
    if (tick(budget) == handled::goes_on) {
      return; // it may have ended, and this with it
    }
  } catch (...) {
    queue().report(std::current_exception());
  }
  ticked();
}

void periodic::handler_ended(std::exception_ptr failure) noexcept {
  if (failure != nullptr) {
    queue().report(std::move(failure));
  }
  ticked();
}

void periodic::ticked() noexcept {
  mutex_.lock();
  running_ = false;
  const bool again = due_again_ && !left_.load(memory_order_acquire);
  due_again_ = false;
  queued_ = again;
  const bool last = try_finish_locked();
  const bool keep = queued_;
  mutex_.unlock();
  if (last) {
    finish_pinned(keep);
  }
  if (again) {
    queue().enqueue(*this, placement::back);
  }
}

void periodic::discard() noexcept {
  mutex_.lock();
  queued_ = false;
  const bool orphan = finished_;
  mutex_.unlock();
  if (orphan) {
    drop_ref();
  }
}

bool periodic::cancel() noexcept {
  if (left_.exchange(true)) {
    return false;
  }
  queue().disarm(*this);
  mutex_.lock();
  const bool last = try_finish_locked();
  const bool keep = queued_;
  mutex_.unlock();
  if (last) {
    finish_pinned(keep);
  }
  return true;
}

} // namespace wharf::inline v1::detail

// Time that is set by hand, and its handle.

#include "hand_set_time.hpp"

#include <wharf/detail/decision.hpp>
#include <wharf/manual_clock.hpp>

#include <algorithm>
#include <stdexcept>

namespace wharf::inline v1 {
namespace detail {
namespace {

/// What is never due must not be due on a clock that was set to the end.
time_point held(time_point to) noexcept {
  return std::min(to, never - duration{1});
}

} // namespace

hand_set_time::hand_set_time(time_point start) noexcept
    : now_{held(start).time_since_epoch().count()} {
}

void hand_set_time::set_locked(time_point to) noexcept {
  // release: who sees the time sees what was done before it was set.
  now_.store(held(to).time_since_epoch().count(), memory_order_release);
  for (time_listener* who : listeners_) {
    who->time_moved();
  }
}

void hand_set_time::advance(duration by) {
  if (by < duration::zero()) {
    throw std::invalid_argument{"a clock does not go backwards"};
  }
  const lock_guard lock{mutex_};
  set_locked(due_after(now(), by));
}

void hand_set_time::set(time_point to) {
  const lock_guard lock{mutex_};
  if (to < now()) {
    throw std::invalid_argument{"a clock does not go backwards"};
  }
  set_locked(to);
}

void hand_set_time::add(time_listener& who) {
  const lock_guard lock{mutex_};
  listeners_.push_back(&who);
}

void hand_set_time::remove(const time_listener& who) noexcept {
  const lock_guard lock{mutex_};
  std::erase(listeners_, &who);
}

} // namespace detail

manual_clock::manual_clock()
    : manual_clock{time_point{} + std::chrono::hours{1}} {
}
manual_clock::manual_clock(time_point start)
    : time_{std::make_shared<detail::hand_set_time>(start)} {
}
manual_clock::~manual_clock() = default;

manual_clock::time_point manual_clock::now() const noexcept {
  return time_->now();
}

void manual_clock::advance_by(duration by) {
  detail::refuse_in_predicate();
  time_->advance(by);
}

void manual_clock::set(time_point to) {
  detail::refuse_in_predicate();
  time_->set(to);
}

} // namespace wharf::inline v1

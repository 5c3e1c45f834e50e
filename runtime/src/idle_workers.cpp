// See the head comment in idle_workers.hpp.

#include "idle_workers.hpp"

#include "hand_set_time.hpp"
#include "worker.hpp"

#include <algorithm>

namespace wharf::inline v1::detail {

void idle_workers::rouse(worker& sleeper) noexcept {
  asleep_.erase(std::find(asleep_.begin(), asleep_.end(), &sleeper));
  if (watcher_ == &sleeper) {
    watcher_ = nullptr;
    word_.fetch_and(~watched);
  }
  if (keeper_ == &sleeper) {
    keeper_ = nullptr;
  }
  word_.fetch_add(one_searcher - one_sleeper);
}

void idle_workers::wake_one(order what) noexcept {
  worker* sleeper = nullptr;
  {
    const lock_guard lock{mutex_};
    const std::uint32_t word = word_.load();
    const bool enough =
        searchers(word) != 0 || (what == order::watch && (word & watched) != 0);
    if (asleep_.empty() || enough) {
      return;
    }
    sleeper = asleep_.back();
    if (sleeper == keeper_ && asleep_.size() > 1) {
      sleeper = *(asleep_.end() - 2);
    }
    sleeper->order_ = what;
    rouse(*sleeper);
  }
  sleeper->parker_.unpark();
}

void idle_workers::appoint_keeper() noexcept {
  worker* sleeper = nullptr;
  {
    const lock_guard lock{mutex_};
    if (asleep_.empty() || keeper_ != nullptr || searchers(word_.load()) != 0) {
      return; // who searches will keep them, or appoint somebody
    }
    sleeper = asleep_.back();
    sleeper->order_ = order::search; // and if it finds nothing it is keeper
    rouse(*sleeper);
  }
  sleeper->parker_.unpark();
}

void idle_workers::wake_keeper() noexcept {
  worker* sleeper = nullptr;
  {
    const lock_guard lock{mutex_};
    if (asleep_.empty()) {
      return; // whoever falls asleep next reads the timers under mutex_
    }
    sleeper = keeper_ != nullptr ? keeper_ : asleep_.back();
    sleeper->order_ = order::search;
    rouse(*sleeper);
  }
  sleeper->parker_.unpark();
}

void idle_workers::wake_all() noexcept {
  for (;;) {
    worker* sleeper = nullptr;
    {
      const lock_guard lock{mutex_};
      if (asleep_.empty()) {
        return;
      }
      sleeper = asleep_.back();
      sleeper->order_ = order::search;
      rouse(*sleeper);
    }
    sleeper->parker_.unpark();
  }
}

void idle_workers::lie_down(worker& self) {
  const lock_guard lock{mutex_};
  asleep_.push_back(&self);
  word_.fetch_sub(one_searcher - one_sleeper); // seq_cst: [S4]
}

time_point idle_workers::sleep_until(worker& self, bool watching,
                                     const timer_heap& timers,
                                     const hand_set_time* clock) noexcept {
  const lock_guard lock{mutex_};
  if (std::find(asleep_.begin(), asleep_.end(), &self) == asleep_.end()) {
    return time_point::min(); // roused already
  }
  time_point until = time_point::max();
  const time_point due = timers.next_due();
  if (clock != nullptr) {
    if (due <= clock->now()) {
      return time_point::min();
    }
  } else if (due < never && keeper_ == nullptr) {
    keeper_ = &self;
    until = due;
  }
  if (watching && watcher_ == nullptr) {
    watcher_ = &self;
    word_.fetch_or(watched);
    until = std::min(until, steady_clock::now() + watch);
  }
  return until;
}

idle_workers::order idle_workers::get_up(worker& self) noexcept {
  const lock_guard lock{mutex_};
  if (std::find(asleep_.begin(), asleep_.end(), &self) != asleep_.end()) {
    rouse(self);
    return order::search;
  }
  return self.order_;
}

} // namespace wharf::inline v1::detail

// The timer heap of a dispatcher.

#include <wharf/detail/timers.hpp>

#include <wharf/detail/decision.hpp>

namespace wharf::inline v1::detail {

time_point due_after(time_point now, duration delay) noexcept {
  if (delay <= duration::zero()) {
    return now;
  }
  return delay >= never - now ? never : now + delay;
}

bool timer_heap::before(const timer_entry& a, const timer_entry& b) noexcept {
  return a.due_ != b.due_ ? a.due_ < b.due_ : a.number_ < b.number_;
}

void timer_heap::place(std::size_t index, timer_entry& entry) noexcept {
  heap_[index] = &entry;
  entry.index_ = index;
}

void timer_heap::sift_up(std::size_t index, timer_entry& entry) noexcept {
  while (index != 0) {
    const std::size_t parent = (index - 1) / 2;
    if (!before(entry, *heap_[parent])) {
      break;
    }
    place(index, *heap_[parent]);
    index = parent;
  }
  place(index, entry);
}

void timer_heap::sift_down(std::size_t index, timer_entry& entry) noexcept {
  for (;;) {
    std::size_t child = 2 * index + 1;
    if (child >= heap_.size()) {
      break;
    }
    if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) {
      ++child;
    }
    if (!before(*heap_[child], entry)) {
      break;
    }
    place(index, *heap_[child]);
    index = child;
  }
  place(index, entry);
}

void timer_heap::publish() noexcept {
  // release: who goes to sleep by this time has seen the entry armed.
  next_due_.store(heap_.empty()
                      ? duration::max().count()
                      : heap_.front()->due_.time_since_epoch().count(),
                  memory_order_release);
}

bool timer_heap::arm(timer_entry& entry, time_point due) {
  const lock_guard lock{mutex_};
  heap_.push_back(&entry);
  entry.due_ = due;
  entry.number_ = ++last_number_;
  sift_up(heap_.size() - 1, entry);
  publish();
  return heap_.front() == &entry;
}

void timer_heap::remove(timer_entry& entry) noexcept {
  const std::size_t index = entry.index_;
  entry.index_ = timer_entry::not_armed;
  timer_entry& last = *heap_.back();
  heap_.pop_back();
  if (&last != &entry) {
    // The last one may belong above or below the hole.
    sift_up(index, last);
    sift_down(last.index_, last);
  }
  if (heap_.size() * 4 < heap_.capacity() && heap_.capacity() > 1024) {
    try {
      heap_.shrink_to_fit(); // gives back what a burst took
    } catch (...) {
      // Then it keeps what it has.
    }
  }
}

void timer_heap::disarm(timer_entry& entry) noexcept {
  const lock_guard lock{mutex_};
  if (entry.armed()) {
    remove(entry);
    publish();
  }
}

void timer_heap::fire_due(decision& d, time_point now,
                          std::size_t limit) noexcept {
  const lock_guard lock{mutex_};
  for (; limit != 0 && !heap_.empty() && heap_.front()->due_ <= now; --limit) {
    timer_entry& entry = *heap_.front();
    const time_point due = entry.due_;
    // Refired entries stay in the heap, so that firing allocates nothing.
    const time_point again = entry.fire(d, due, now);
    if (again == time_point::max()) {
      remove(entry);
    } else {
      entry.due_ = again;
      entry.number_ = ++last_number_;
      sift_down(0, entry);
    }
  }
  publish();
}

bool timer_heap::has_due(time_point now) const noexcept {
  const lock_guard lock{mutex_};
  return !heap_.empty() && heap_.front()->due_ <= now;
}

std::size_t timer_heap::size() const noexcept {
  const lock_guard lock{mutex_};
  return heap_.size();
}

} // namespace wharf::inline v1::detail

// The line of a dispatcher queue and what happens at its end.

#include <wharf/detail/queue_core.hpp>

#include "dispatcher_core.hpp"

#include <wharf/detail/port_core.hpp>
#include <wharf/detail/queue_end.hpp>

namespace wharf::inline v1::detail {

queue_core::queue_core(dispatcher_core& pool, std::string name)
    : pool_{pool}, name_{std::move(name)} {
  pool.add_ref();
}

queue_core::~queue_core() {
  pool_.drop_ref();
}

void queue_core::drop_ref() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) {
    delete this;
  }
}

bool queue_core::parallel() const noexcept {
  return pool_.parallel();
}

void queue_core::enqueue(work_item& item, placement where) noexcept {
  worker* self = worker::current();
  if (self != nullptr && &self->pool() != &pool_) {
    self = nullptr;
  }
  if (where == placement::next_if_ours && self != nullptr && runnable() &&
      self->keep(item)) {
    self->pool().work_kept(); // this queue may be gone by now
    return;
  }
  line_mutex_.lock();
  if (closed_.load(memory_order_relaxed) && !item.survives_close()) {
    line_mutex_.unlock();
    item.discard();
    return;
  }
  line_.push_back(item);
  const std::size_t depth = depth_.load(memory_order_relaxed) + 1;
  depth_.store(depth, memory_order_release);
  show_line_locked();
  unlock_and_wake(self, depth);
}

void queue_core::show_line_locked() noexcept {
  // A closed queue has nothing in line but coroutines on their way out.
  if (!ready_ && !line_.empty() &&
      (!suspended_ || closed_.load(memory_order_relaxed))) {
    ready_ = true;
    pool_.ready().set(*this);
  }
}

/// Once the line is unlocked an item in it may run, and with it the queue and
/// its dispatcher may end: nothing of them is touched then without a reference.
void queue_core::unlock_and_wake(const worker* self,
                                 std::size_t depth) noexcept {
  const auto wake_up =
      ready_ ? pool_.wake_up_for(self, depth) : dispatcher_core::wake_up{};
  if (!wake_up.needed) {
    line_mutex_.unlock();
    return;
  }
  dispatcher_core& pool = pool_;
  pool.add_ref();
  line_mutex_.unlock();
  pool.wake(wake_up);
  pool.drop_ref();
}

work_item* queue_core::pop() noexcept {
  const lock_guard lock{line_mutex_};
  if (!ready_) {
    return nullptr;
  }
  work_item* item = line_.pop_front();
  depth_.store(depth_.load(memory_order_relaxed) - 1, memory_order_release);
  if (line_.empty()) {
    ready_ = false;
    pool_.ready().clear(*this);
  }
  return item;
}

void queue_core::suspend() noexcept {
  const lock_guard lock{line_mutex_};
  suspended_ = true;
  halted_.store(true);
  if (ready_) {
    ready_ = false;
    pool_.ready().clear(*this);
  }
}

void queue_core::resume() noexcept {
  line_mutex_.lock();
  suspended_ = false;
  if (!closed_.load(memory_order_relaxed)) {
    halted_.store(false);
  }
  show_line_locked();
  unlock_and_wake(nullptr, depth_.load(memory_order_relaxed));
}

bool queue_core::link(arbiter& a) noexcept {
  const lock_guard lock{list_mutex_};
  if (ended_) {
    return false;
  }
  arbiters_.push_back(a);
  coroutines_ += a.coroutine_ ? 1 : 0;
  return true;
}

void queue_core::link_regardless(arbiter& a) noexcept {
  const lock_guard lock{list_mutex_};
  arbiters_.push_back(a);
  coroutines_ += a.coroutine_ ? 1 : 0;
}

void queue_core::end(arbiter& a) noexcept {
  decision d;
  bool last = false;
  {
    const lock_guard lock{list_mutex_};
    if (arbiters_.contains(a) && a.coroutine_) {
      last = --coroutines_ == 0 && ended_;
    }
    arbiters_.remove(a);
    a.end_locked(d);
  }
  if (last) {
    pool_.progress_of_ends();
  }
}

void queue_core::cancel_all(const coroutine_scope& scope) noexcept {
  list_mutex_.lock();
  // Each once: looked at and put to the back. Those that come meanwhile look at
  // the scope themselves.
  for (std::size_t left = arbiters_.size();
       left != 0 && arbiters_.front() != nullptr; --left) {
    arbiter& a = *arbiters_.front();
    arbiters_.remove(a);
    arbiters_.push_back(a);
    if (a.belongs_to() != &scope) {
      continue;
    }
    a.add_ref();
    list_mutex_.unlock();
    a.cancel();
    a.drop_ref();
    list_mutex_.lock();
  }
  list_mutex_.unlock();
}

std::size_t queue_core::coroutines() const noexcept {
  const lock_guard lock{list_mutex_};
  return coroutines_;
}

void queue_core::close(queue_end* end) noexcept {
  work_list rest;
  {
    const lock_guard lock{line_mutex_};
    closed_.store(true, memory_order_release);
    halted_.store(true); // seq_cst: [H1], pairs with [H2]
    rest = std::exchange(line_, work_list{});
    depth_.store(0, memory_order_relaxed);
    if (ready_) {
      ready_ = false;
      pool_.ready().clear(*this);
    }
  }
  burial deferred;
  while (work_item* item = rest.pop_front()) {
    if (item->survives_close()) {
      enqueue(*item, placement::back);
    } else {
      item->discard();
    }
  }
  list_mutex_.lock();
  ended_ = true;
  // Each arbiter once: those that still run a handler go to the back and stay
  // linked until it is over. None is added any more.
  for (std::size_t left = arbiters_.size();
       left != 0 && arbiters_.front() != nullptr; --left) {
    arbiter& a = *arbiters_.front();
    arbiters_.remove(a);
    arbiters_.push_back(a);
    a.add_ref();
    list_mutex_.unlock();
    const bool cut =
        a.end_with_queue(end != nullptr ? &end->waited_on : nullptr);
    if (end != nullptr && cut) {
      ++(a.coroutine_ ? end->coroutines : end->arbiters);
    }
    a.drop_ref();
    list_mutex_.lock();
  }
  list_mutex_.unlock();
}

time_point queue_core::now() const noexcept {
  return pool_.now();
}

void queue_core::arm(timer_entry& entry, time_point due) {
  pool_.arm(entry, due);
}

void queue_core::disarm(timer_entry& entry) noexcept {
  pool_.timers().disarm(entry);
}

} // namespace wharf::inline v1::detail

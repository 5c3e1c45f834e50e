// See the head comment in dispatcher_core.hpp.

#include "dispatcher_core.hpp"

#include <algorithm>
#include <stdexcept>

#include <pthread.h>

namespace wharf::inline v1::detail {
namespace {

/// Threads whose dispatcher was ended on one of its own workers. They end by
/// themselves; the process joins them at its exit.
class thread_keeper {
public:
  static thread_keeper& instance() {
    static thread_keeper keeper;
    return keeper;
  }
  ~thread_keeper() {
    for (thread& t : threads_) {
      t.join();
    }
  }
  void adopt(std::vector<thread>&& threads) {
    const lock_guard lock{mutex_};
    std::move(threads.begin(), threads.end(), std::back_inserter(threads_));
  }

private:
  mutex mutex_;
  std::vector<thread> threads_ WHARF_GUARDED_BY(mutex_);
};

// How many timers one turn fires at most, so that a crowd that is due at the
// same moment does not hold up the queues.
constexpr std::size_t timers_per_turn = 64;

void dress_thread(thread& t, const std::string& name, std::size_t index,
                  bool pin) noexcept {
  // Both are hints: a platform that refuses them loses nothing else.
  const std::string full = name.substr(0, 11) + '/' + std::to_string(index);
  pthread_setname_np(t.native_handle(), full.substr(0, 15).c_str());
  if (pin) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(index % std::max(1U, thread::hardware_concurrency()), &set);
    pthread_setaffinity_np(t.native_handle(), sizeof set, &set);
  }
}

} // namespace

void refuse_on_worker(const char* what) {
  if (worker::current() != nullptr) {
    throw std::logic_error{std::string{what} +
                           " blocks, so it must not be called on a worker of "
                           "a dispatcher"};
  }
}

dispatcher_core::dispatcher_core(std::size_t threads, std::string name,
                                 bool pin, std::shared_ptr<hand_set_time> clock)
    : name_{std::move(name)}, pin_{pin}, manual_{threads == 0},
      clock_{std::move(clock)} {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    workers_.push_back(std::make_unique<worker>(*this, i));
  }
}

dispatcher_core::~dispatcher_core() {
  if (clock_ != nullptr) {
    clock_->remove(*this);
  }
}

void dispatcher_core::start() {
  if (manual_) {
    return;
  }
  if (clock_ != nullptr) {
    clock_->add(*this);
  }
  thread_keeper::instance(); // outlives every worker
  const lock_guard lock{mutex_};
  for (const auto& each : workers_) {
    worker* w = each.get();
    add_ref();
    try {
      threads_.emplace_back([this, w] {
        w->work();
        drop_ref();
      });
    } catch (...) {
      drop_ref();
      throw;
    }
    dress_thread(threads_.back(), name_, threads_.size() - 1, pin_);
  }
}

void dispatcher_core::stop() noexcept {
  // First of all: open() looks at it after it has added a queue.
  ending_.store(true);
  close_all_queues(nullptr);
  if (on_own_worker()) {
    thread_keeper::instance().adopt(take_threads());
    stop_if_over();
    return;
  }
  await_end(time_point::max(), [this] { return over(); });
  join_workers();
}

std::vector<thread> dispatcher_core::take_threads() noexcept {
  const lock_guard lock{mutex_};
  return std::exchange(threads_, {});
}

void dispatcher_core::join_workers() noexcept {
  stop_if_over();
  for (thread& t : take_threads()) {
    t.join();
  }
}

void dispatcher_core::open(queue_core& queue) {
  {
    const lock_guard lock{mutex_};
    queues_.push_back(&queue);
    try {
      ready_.add(queue);
    } catch (...) {
      queues_.pop_back();
      throw;
    }
    queue.add_ref();
  }
  if (ending_.load()) {
    queue.close();
  }
}

/// Nothing runs on a queue that has ended, and nothing will.
bool dispatcher_core::over(const queue_core& queue) const noexcept {
  // In this order: who serves it may start a coroutine.
  return !served(queue) && queue.coroutines() == 0 && !served(queue);
}

bool dispatcher_core::over() const noexcept {
  const lock_guard lock{mutex_};
  return std::all_of(queues_.begin(), queues_.end(),
                     [this](const auto* q) { return over(*q); });
}

void dispatcher_core::stop_if_over() noexcept {
  if (over()) {
    stopping_.store(true);
    idle_.wake_all();
  }
}

void dispatcher_core::progress_of_ends() noexcept {
  sweep_retired();
  if (ending_.load()) {
    stop_if_over();
  }
  tell_waiting();
}

void dispatcher_core::close_all_queues(
    std::vector<ended_queue>* ended) noexcept {
  for (;;) {
    queue_core* open = nullptr;
    {
      const lock_guard lock{mutex_};
      const auto found = std::find_if(queues_.begin(), queues_.end(),
                                      [](auto* q) { return !q->closed(); });
      if (found == queues_.end()) {
        return;
      }
      open = *found;
      open->add_ref();
    }
    queue_end end;
    open->close(ended != nullptr ? &end : nullptr);
    if (ended != nullptr) {
      ended->push_back({open, std::move(end)}); // with the reference
    } else {
      open->drop_ref();
    }
  }
}

bool dispatcher_core::served(const queue_core& queue) const noexcept {
  return std::any_of(workers_.begin(), workers_.end(), [&](const auto& w) {
    return w->serving() == &queue; // seq_cst: [H2]
  });
}

void dispatcher_core::retire(queue_core& queue) noexcept {
  queue.close();
  retiring_.fetch_add(1);
  if (on_own_worker()) {
    const lock_guard lock{mutex_};
    retired_.push_back(&queue); // retiring_ stays raised until the sweep
    return;
  }
  await_end(time_point::max(), [&] { return over(queue); });
  {
    const lock_guard lock{mutex_};
    forget(queue);
  }
  await_end(time_point::max(), [&] { return !served(queue); });
  retiring_.fetch_sub(1);
  queue.drop_ref();
}

void dispatcher_core::forget(queue_core& queue) noexcept {
  queues_.erase(std::find(queues_.begin(), queues_.end(), &queue));
  ready_.remove(queue);
}

void dispatcher_core::sweep_retired() noexcept {
  std::vector<queue_core*> gone;
  {
    const lock_guard lock{mutex_};
    const auto ended =
        std::partition(retired_.begin(), retired_.end(),
                       [&](const queue_core* q) { return !over(*q); });
    // Out of the set first: then nobody begins to serve it any more.
    for (auto q = ended; q != retired_.end(); ++q) {
      forget(**q);
      leaving_.push_back(*q);
    }
    retired_.erase(ended, retired_.end());
    const auto first =
        std::partition(leaving_.begin(), leaving_.end(),
                       [&](const queue_core* q) { return served(*q); });
    gone.assign(first, leaving_.end());
    leaving_.erase(first, leaving_.end());
  }
  for (queue_core* queue : gone) {
    retiring_.fetch_sub(1);
    queue->drop_ref();
  }
}

void dispatcher_core::tell_waiting() noexcept {
  monitor::scope scope{progress_};
  progress_.notify_all();
}

bool dispatcher_core::quiet() noexcept {
  // While all workers sleep nothing leaves a line, so lines that are seen
  // empty one after the other were all empty when the first one was seen.
  return idle_.if_all_sleep(workers_.size(), [this] {
    if (clock_ != nullptr && timer_due()) {
      return false; // who sets the time and then drains has it all handled
    }
    const lock_guard lock{mutex_};
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const queue_core* q) { return q->idle(); });
  });
}

bool dispatcher_core::drain(time_point deadline) {
  if (manual_) {
    while (hand_worker().crank()) {
    }
    return true;
  }
  draining_.fetch_add(1);
  const bool drained =
      await_end(deadline, [this] { return stopping() || quiet(); });
  draining_.fetch_sub(1);
  return drained;
}

void dispatcher_core::wait_for_end(const arbiter& a) {
  if (!manual_) {
    a.wait_ended();
    return;
  }
  while (!a.ended()) {
    if (!hand_worker().crank()) {
      throw std::logic_error{
          "nothing is left to run, and what is waited for has not ended"};
    }
  }
}

dispatcher_core::wake_up
dispatcher_core::wake_up_for(const worker* pusher,
                             std::size_t depth) const noexcept {
  const bool somebody_is_up = !idle_.all_sleep(workers_.size());
  std::uint64_t cost = 0;
  if (pusher != nullptr) {
    cost = pusher->handler_cost();
  } else {
    for (const auto& w : workers_) {
      cost = std::max<std::uint64_t>(cost, w->handler_cost());
    }
  }
  if (!somebody_is_up || !sentinel() ||
      cost * depth >= worker::worth_waking_ns) {
    return {idle_.must_wake(), idle_workers::order::search};
  }
  return {idle_.must_watch(), idle_workers::order::watch};
}

void dispatcher_core::work_kept() noexcept {
  if (idle_.must_watch()) {
    idle_.wake_one(sentinel() ? idle_workers::order::watch
                              : idle_workers::order::search);
  }
}

idle_workers::seen dispatcher_core::look(const worker& self) const noexcept {
  if (ready_.any() || stopping()) {
    return idle_workers::seen::work;
  }
  for (const auto& w : workers_) {
    if (w.get() != &self && w->has_next()) {
      return sentinel() ? idle_workers::seen::slow_work
                        : idle_workers::seen::work;
    }
  }
  return idle_workers::seen::nothing;
}

void dispatcher_core::fire_timers() noexcept {
  if (!timer_due()) {
    return;
  }
  burial deferred; // what dies of it dies when others may fire again
  if (firing_.try_lock()) {
    {
      decision d;
      timers_.fire_due(d, now(), timers_per_turn);
    }
    firing_.unlock();
  }
}

void dispatcher_core::arm(timer_entry& entry, time_point due) {
  const bool first = timers_.arm(entry, due);
  // A time that is set by hand needs nobody to sleep until then.
  if (first && !manual_ && (clock_ == nullptr ? due < never : due <= now())) {
    idle_.wake_keeper();
  }
}

void dispatcher_core::attend_timers() noexcept {
  if (clock_ == nullptr ? timers_.next_due() < never : timer_due()) {
    idle_.appoint_keeper();
  }
}

void dispatcher_core::time_moved() noexcept {
  if (timers_.has_due(now())) {
    idle_.wake_keeper();
  }
}

bool dispatcher_core::on_own_worker() const noexcept {
  const worker* self = worker::current();
  return self != nullptr && &self->pool() == this;
}

} // namespace wharf::inline v1::detail

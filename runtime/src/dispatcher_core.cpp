// See the head comment in dispatcher_core.hpp.

#include "dispatcher_core.hpp"

#include <wharf/detail/log.hpp>

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

constexpr std::chrono::hours manual_start{1};

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

bool post_failure(port_core* port, const std::exception_ptr& error,
                  std::span<port_core* const> not_to) noexcept {
  if (port == nullptr) {
    return false;
  }
  bool posted = false;
  if (std::find(not_to.begin(), not_to.end(), port) == not_to.end()) {
    try {
      auto node = std::make_unique<message<std::exception_ptr>>(error);
      posted = port->post(node.get());
      if (posted) {
        node.release();
      }
    } catch (...) {
      posted = false; // no memory: the next one in line may need none
    }
  }
  port->drop_handle();
  return posted;
}

void refuse_on_worker(const char* what) {
  if (worker::current() != nullptr) {
    throw std::logic_error{std::string{what} +
                           " blocks, so it must not be called on a worker of "
                           "a dispatcher"};
  }
}

dispatcher_core::dispatcher_core(std::size_t threads, std::string name,
                                 bool pin)
    : name_{std::move(name)}, pin_{pin}, manual_{threads == 0} {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) {
    workers_.push_back(std::make_unique<worker>(*this, i));
  }
  set_now(time_point{} + manual_start);
}

dispatcher_core::~dispatcher_core() {
  if (failures_ != nullptr) {
    failures_->drop_handle();
  }
}

void dispatcher_core::start() {
  if (manual_) {
    return;
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
  ending_.store(
      true); // before the queues close: open() looks after it added one
  close_all_queues();
  std::vector<thread> threads;
  {
    const lock_guard lock{mutex_};
    threads = std::exchange(threads_, {});
  }
  if (on_own_worker()) {
    thread_keeper::instance().adopt(std::move(threads));
    stop_if_over();
    return;
  }
  await_end([this] { return over(); });
  stop_if_over();
  for (thread& t : threads) {
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

template <class Condition>
void dispatcher_core::await_end(Condition over) noexcept {
  if (manual_) {
    while (!over() && hand_worker().crank()) {
    }
    return;
  }
  monitor::scope scope{progress_};
  scope.wait(over);
}

void dispatcher_core::close_all_queues() noexcept {
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
    open->close();
    open->drop_ref();
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
  await_end([&] { return over(queue); });
  {
    const lock_guard lock{mutex_};
    forget(queue);
  }
  await_end([&] { return !served(queue); });
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
    const lock_guard lock{mutex_};
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const queue_core* q) { return q->idle(); });
  });
}

void dispatcher_core::drain() {
  refuse_on_worker("drain()");
  if (manual_) {
    while (hand_worker().crank()) {
    }
    return;
  }
  draining_.fetch_add(1);
  {
    monitor::scope scope{progress_};
    scope.wait([this] { return stopping() || quiet(); });
  }
  draining_.fetch_sub(1);
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
  if (timer_due()) {
    decision d;
    timers_.fire_due(d, now(), timers_per_turn);
  }
}

void dispatcher_core::arm(timer_entry& entry, time_point due) {
  if (timers_.arm(entry, due) && !manual_) {
    idle_.wake_keeper();
  }
}

void dispatcher_core::report(const queue_core& queue, std::exception_ptr error,
                             std::span<port_core* const> not_to) noexcept {
  port_core* port = nullptr;
  {
    const lock_guard lock{mutex_};
    port = failures_;
    if (port != nullptr) {
      port->add_handle();
    }
  }
  if (!post_failure(port, error, not_to)) {
    unhandled_.fetch_add(1, memory_order_relaxed);
    log_failure("queue", queue.name(), std::move(error));
  }
}

void dispatcher_core::set_failure_port(port_core& failures) noexcept {
  failures.add_handle();
  port_core* before = nullptr;
  {
    const lock_guard lock{mutex_};
    before = std::exchange(failures_, &failures);
  }
  if (before != nullptr) {
    before->drop_handle();
  }
}

bool dispatcher_core::on_own_worker() const noexcept {
  const worker* self = worker::current();
  return self != nullptr && &self->pool() == this;
}

} // namespace wharf::inline v1::detail

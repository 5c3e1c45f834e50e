#pragma once

// A dispatcher without its handle: the workers, the clock, and the queues.

#include "hand_set_time.hpp"
#include "idle_workers.hpp"
#include "ready_queues.hpp"
#include "worker.hpp"

#include <wharf/detail/decision.hpp>
#include <wharf/detail/failure_port.hpp>
#include <wharf/detail/queue_core.hpp>
#include <wharf/detail/queue_end.hpp>
#include <wharf/detail/sync.hpp>
#include <wharf/shutdown_report.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace wharf::inline v1::detail {

/// ENDS
///
///   close() of a queue: (1) closed_ is set under the line's lock and the line
///   is taken; from now on enqueue() discards. (2) What was in the line is
///   discarded. (3) The arbiters are cancelled: they leave their ports and
///   give back. (4) The destructors then wait until no worker serves the queue
///   [H2]; on one of the dispatcher's own workers they do not wait, and the
///   queue's memory is let go by the last worker that serves it.
///   stop() of a dispatcher closes all queues and wakes all workers, which
///   leave. A worker's own call of it hands the threads to the process, which
///   joins them at its exit.
///
/// Lifetime: counted. The handle, the workers and the queues hold references.
class dispatcher_core final : private time_listener {
public:
  /// `threads` 0: none; the dispatcher is cranked by hand. `clock` null: the
  /// machine's.
  dispatcher_core(std::size_t threads, std::string name, bool pin,
                  std::shared_ptr<hand_set_time> clock);

  void add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void drop_ref() noexcept {
    if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) {
      delete this;
    }
  }

  /// Starts the threads. Throws std::system_error, after stopping those that
  /// run.
  void start();
  /// Ends all queues, then the threads. Waits, unless on a worker of its own.
  void stop() noexcept;
  /// Closes the queue and waits until nobody serves it, unless on a worker of
  /// its own; drops a reference to it.
  void retire(queue_core& queue) noexcept;

  /// Blocks until the arbiter has ended, cranking if this is done by hand.
  void wait_for_end(const arbiter& a);

  /// Returns true at a moment when nothing is queued or running, or false at
  /// the deadline.
  bool drain(time_point deadline);
  /// Drains, ends all queues and stops the threads; gives up at the deadline.
  /// The first one does it, others wait for it and have its report.
  shutdown_report shut_down(time_point deadline);

  // Queues.
  void open(queue_core& queue);
  ready_queues& ready() noexcept { return ready_; }
  /// Work became visible: must a sleeper be woken, and for what? `pusher`: the
  /// worker that pushed, or nullptr.
  struct wake_up {
    bool needed = false;
    idle_workers::order what = idle_workers::order::search;
  };
  wake_up wake_up_for(const worker* pusher, std::size_t depth) const noexcept;
  void wake(wake_up w) noexcept {
    if (w.needed) {
      idle_.wake_one(w.what);
    }
  }
  /// A worker keeps an item to itself for now.
  void work_kept() noexcept;
  bool parallel() const noexcept { return workers_.size() > 1; }

  // What workers ask.
  idle_workers& idle() noexcept { return idle_; }
  bool stopping() const noexcept { return stopping_.load(); }
  idle_workers::seen look(const worker& self) const noexcept;
  const std::vector<std::unique_ptr<worker>>& workers() const noexcept {
    return workers_;
  }
  /// A worker serves no queue any more: retire() may wait for that.
  void worker_left() noexcept {
    if (retiring_.load() != 0 || ending_.load()) { // seq_cst: [H3]
      progress_of_ends();
    }
  }
  /// Whoever waits for an end looks again.
  void progress_of_ends() noexcept;
  /// A worker goes to sleep: drain() may wait for that.
  void worker_sleeps() noexcept {
    if (draining_.load() != 0) { // seq_cst: [H3]
      tell_waiting();
    }
  }
  std::uint32_t handlers_per_turn() const noexcept { return manual_ ? 1 : 64; }

  // Time.
  time_point now() const noexcept {
    return clock_ != nullptr ? clock_->now() : steady_clock::now();
  }
  /// The time that is set by hand, or null.
  hand_set_time* clock() const noexcept { return clock_.get(); }
  bool manual() const noexcept { return manual_; }
  bool timer_due() const noexcept {
    const time_point due = timers_.next_due();
    return due != time_point::max() && due <= now();
  }
  void fire_timers() noexcept;
  /// A worker that would have looked after the timers has found other work.
  void attend_timers() noexcept;
  void arm(timer_entry& entry, time_point due);
  timer_heap& timers() noexcept { return timers_; }
  worker& hand_worker() noexcept { return *workers_.front(); }

  // Failures; see failures.cpp.
  failure_port failure_sink() const noexcept WHARF_EXCLUDES(mutex_);
  void set_failure_port(port_core& failures) noexcept WHARF_EXCLUDES(mutex_);
  void count_unhandled() noexcept {
    unhandled_.fetch_add(1, memory_order_relaxed);
  }
  std::uint64_t unhandled_failures() const noexcept {
    return unhandled_.load(memory_order_relaxed);
  }

  void set_sentinel(bool on) noexcept { sentinel_.store(on); }
  bool sentinel() const noexcept {
    return sentinel_.load(memory_order_relaxed);
  }

  /// Whether the calling thread is one of its workers.
  bool on_own_worker() const noexcept;
  const std::string& name() const noexcept { return name_; }

private:
  ~dispatcher_core();

  void time_moved() noexcept override;
  void tell_waiting() noexcept;
  /// False: the deadline came first.
  template <class Condition>
  bool await_end(time_point deadline, Condition over) noexcept {
    if (manual_) {
      while (!over() && hand_worker().crank()) {
      }
      return over();
    }
    monitor::scope scope{progress_};
    return scope.wait_until(deadline, over);
  }
  std::vector<thread> take_threads() noexcept WHARF_EXCLUDES(mutex_);
  void join_workers() noexcept;
  shutdown_report shut_down_now(time_point deadline);
  struct ended_queue {
    queue_core* queue; // a reference
    queue_end end;
  };
  bool over(const queue_core& queue) const noexcept;
  bool over() const noexcept WHARF_EXCLUDES(mutex_);
  void stop_if_over() noexcept WHARF_EXCLUDES(mutex_);
  void forget(queue_core& queue) noexcept WHARF_REQUIRES(mutex_);
  void close_all_queues(std::vector<ended_queue>* ended) noexcept;
  bool served(const queue_core& queue) const noexcept;
  /// Lets go of retired queues that no worker serves any more.
  void sweep_retired() noexcept;
  bool quiet() noexcept;

  const std::string name_;
  const bool pin_;
  const bool manual_;
  const std::shared_ptr<hand_set_time> clock_;
  std::vector<std::unique_ptr<worker>> workers_; // constant after construction
  atomic<std::uint32_t> refs_{1};

  ready_queues ready_;
  idle_workers idle_;
  timer_heap timers_;
  // Whoever fires holds it until all that fired is in line: two at once would
  // mix up the order of due times. Nobody waits for it. Level 0.
  mutex firing_;

  mutable mutex mutex_;
  std::vector<queue_core*> queues_ WHARF_GUARDED_BY(mutex_);
  // Retired on a worker: with coroutines still, and then with a worker.
  std::vector<queue_core*> retired_ WHARF_GUARDED_BY(mutex_);
  std::vector<queue_core*> leaving_ WHARF_GUARDED_BY(mutex_);
  std::vector<thread> threads_ WHARF_GUARDED_BY(mutex_);
  bool shutting_down_ WHARF_GUARDED_BY(mutex_) = false;
  std::optional<shutdown_report> report_ WHARF_GUARDED_BY(mutex_);
  failure_port failures_ WHARF_GUARDED_BY(mutex_);

  atomic<bool> ending_{false};   // no queue is open, or will be
  atomic<bool> stopping_{false}; // and no coroutine is left: workers leave
  atomic<bool> sentinel_{true};
  atomic<std::uint32_t> retiring_{0}; // queues whose last worker is awaited
  atomic<std::uint32_t> draining_{0}; // threads in drain()
  monitor progress_;
  atomic<std::uint64_t> unhandled_{0};
};

/// The blocking calls' guard: throws std::logic_error on any worker thread.
void refuse_on_worker(const char* what);

} // namespace wharf::inline v1::detail

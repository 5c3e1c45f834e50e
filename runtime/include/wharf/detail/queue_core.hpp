#pragma once

// A dispatcher queue without its handle: the line of work items, the arbiters
// that were activated on it, and where their failures go.

#include <wharf/detail/arbiter.hpp>
#include <wharf/detail/failure_port.hpp>
#include <wharf/detail/message.hpp>
#include <wharf/detail/sync.hpp>
#include <wharf/detail/timers.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>

namespace wharf::inline v1 {
class dispatcher_queue;
}

namespace wharf::inline v1::detail {

class dispatcher_core;
class port_core;
struct queue_end;
class worker;

/// Where in the line a work item goes.
enum class placement : std::uint8_t {
  next_if_ours, // on a worker that serves this queue: next; else the back
  back,
};

/// Lifetime: counted. The handle, each arbiter, and the dispatcher while the
/// queue is open hold references.
class queue_core {
public:
  queue_core(dispatcher_core& pool, std::string name);
  ~queue_core();
  queue_core(const queue_core&) = delete;
  queue_core& operator=(const queue_core&) = delete;

  void add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void drop_ref() noexcept;

  // Work.

  /// Puts an item in the line and sees that somebody will run it. After the
  /// queue's end the item is discarded instead, unless it survives that.
  void enqueue(work_item& item,
               placement where = placement::next_if_ours) noexcept;

  /// Whether the dispatcher can run two handlers of this queue at once.
  bool parallel() const noexcept;

  void suspend() noexcept WHARF_EXCLUDES(line_mutex_);
  void resume() noexcept WHARF_EXCLUDES(line_mutex_);

  /// Called by workers: the oldest item, or nullptr.
  work_item* pop() noexcept WHARF_EXCLUDES(line_mutex_);

  /// Whether an item that a worker has at hand may run now.
  bool runnable() const noexcept {
    return !halted_.load(); // seq_cst: pairs with close(), see dispatcher_core
  }
  /// Suspended, or nothing in line.
  bool idle() const noexcept {
    return (halted_.load() && !closed()) ||
           depth_.load(memory_order_acquire) == 0;
  }
  std::size_t depth() const noexcept {
    return depth_.load(memory_order_relaxed);
  }

  // Arbiters.

  /// False if the queue has ended: the arbiter must not be armed then.
  bool link(arbiter& a) noexcept WHARF_EXCLUDES(list_mutex_);
  /// For what has started and must be waited for.
  void link_regardless(arbiter& a) noexcept WHARF_EXCLUDES(list_mutex_);
  /// Unlinks it and tells those who listen.
  void end(arbiter& a) noexcept WHARF_EXCLUDES(list_mutex_);
  /// Cancels the coroutines that belong to a scope.
  void cancel_all(const coroutine_scope& scope) noexcept
      WHARF_EXCLUDES(list_mutex_);
  /// Coroutines that are linked. Once the queue is closed it only falls.
  std::size_t coroutines() const noexcept WHARF_EXCLUDES(list_mutex_);

  // Failures; see failures.cpp.

  /// To the causalities that the calling thread runs under, else the queue's
  /// port, the dispatcher's, or the log and a counter. A port in `not_to` is
  /// passed over: the failure is that of a handler which reads it, and would
  /// come back for ever.
  void report(std::exception_ptr failure,
              std::span<port_core* const> not_to = {}) noexcept;
  /// `failures` is a port of std::exception_ptr.
  void set_failure_port(port_core& failures) noexcept
      WHARF_EXCLUDES(list_mutex_);

  // Time.

  time_point now() const noexcept;
  void arm(timer_entry& entry, time_point due);
  void disarm(timer_entry& entry) noexcept;

  // Ends.

  /// Refuses new work, ends the arbiters, discards what has not started, and
  /// has coroutines that wait resumed with `cancelled`. Does not wait. Safe to
  /// call twice and from any thread.
  /// `end`: what was cut short is added to it.
  void close(queue_end* end = nullptr) noexcept;
  bool closed() const noexcept { return closed_.load(memory_order_acquire); }
  std::uint64_t discarded() const noexcept {
    return discarded_.load(memory_order_relaxed);
  }
  void count_discarded() noexcept {
    discarded_.fetch_add(1, memory_order_relaxed);
  }

  /// The handle, while there is one.
  dispatcher_queue* handle() const noexcept {
    return handle_.load(memory_order_acquire);
  }
  void set_handle(dispatcher_queue* handle) noexcept {
    handle_.store(handle, memory_order_release);
  }
  dispatcher_core& pool() const noexcept { return pool_; }
  const std::string& name() const noexcept { return name_; }

private:
  friend class dispatcher_core;
  friend class arbiter;

  failure_port failure_sink() const noexcept WHARF_EXCLUDES(list_mutex_);
  void show_line_locked() noexcept WHARF_REQUIRES(line_mutex_);
  void unlock_and_wake(const worker* self, std::size_t depth) noexcept
      WHARF_RELEASE(line_mutex_);

  friend class ready_queues;

  dispatcher_core& pool_; // kept alive by a reference
  atomic<dispatcher_queue*> handle_{nullptr};
  const std::string name_;
  atomic<std::uint32_t> refs_{1};

  // The line. `ready_` mirrors "not empty, not suspended" in the dispatcher's
  // set of ready queues and changes under line_mutex_ only.
  mutable mutex line_mutex_;
  work_list line_ WHARF_GUARDED_BY(line_mutex_);
  bool ready_ WHARF_GUARDED_BY(line_mutex_) = false;
  bool suspended_ WHARF_GUARDED_BY(line_mutex_) = false;
  atomic<std::size_t> depth_{0}; // written under line_mutex_
  atomic<bool> closed_{false};   // written under line_mutex_
  atomic<bool> halted_{false};   // closed or suspended; under line_mutex_
  std::size_t slot_ = 0;         // in the ready set; the dispatcher's

  mutable mutex list_mutex_;
  arbiter_list arbiters_ WHARF_GUARDED_BY(list_mutex_);
  std::size_t coroutines_ WHARF_GUARDED_BY(list_mutex_) = 0;
  bool ended_ WHARF_GUARDED_BY(list_mutex_) = false;
  failure_port failures_ WHARF_GUARDED_BY(list_mutex_);

  atomic<std::uint64_t> discarded_{0};
};

} // namespace wharf::inline v1::detail

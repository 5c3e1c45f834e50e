#pragma once

// Dispatcher queues: named lines of work, and what arbiters are activated on.

#include <wharf/dispatcher.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>

namespace wharf::inline v1 {

namespace detail {
class queue_core;
struct queue_access;
} // namespace detail

/// A named line of work items served by a dispatcher. It owns the arbiters
/// that are activated on it and their handlers. Order is promised per port,
/// not per queue.
///
/// Queues of one dispatcher share it fairly: a flooded queue does not delay
/// the others.
///
/// Thread safety: every member may be called from any thread.
/// Lifetime: the destructor is close(), and then waits for handlers of this
/// queue that run and for its coroutines; called on one of the dispatcher's own
/// workers it does not wait.
class dispatcher_queue {
public:
  /// A queue that is made on an ended dispatcher is born closed.
  explicit dispatcher_queue(dispatcher& pool, std::string_view name = "queue");
  ~dispatcher_queue();
  dispatcher_queue(const dispatcher_queue&) = delete;
  dispatcher_queue& operator=(const dispatcher_queue&) = delete;

  /// Ends the queue: its arbiters leave their ports and give back what they
  /// had not used, work that has not started is destroyed and counted, running
  /// handlers finish, and coroutines that have started are resumed: what they
  /// await now and later throws wharf::cancelled, in shielded parts too. Later
  /// activations and spawns are refused: they return an inactive activation.
  void close();
  bool closed() const noexcept;

  /// Between suspend and resume no handler of this queue starts. Messages are
  /// decided meanwhile as always.
  void suspend();
  void resume();

  /// Where failures of this queue's handlers and predicates go, each once, as
  /// std::exception_ptr; else to the dispatcher's port.
  void on_failure(const port<std::exception_ptr>& failures);

  /// Work items in line. A moment's view, for diagnostics.
  std::size_t depth() const noexcept;

  /// Handlers that were decided or spawned and destroyed unstarted, because
  /// the queue ended.
  std::uint64_t discarded() const noexcept;

  std::string_view name() const noexcept;

private:
  friend struct detail::queue_access;

  detail::queue_core* core_;
};

/// The queue that the calling handler or coroutine runs on. Throws
/// std::logic_error elsewhere, and when the queue object is gone already, which
/// only its own coroutines can live to see.
dispatcher_queue& this_queue();

namespace detail {

struct queue_access {
  static queue_core& core(const dispatcher_queue& queue) noexcept {
    return *queue.core_;
  }
};

} // namespace detail
} // namespace wharf::inline v1

#pragma once

// Dispatchers: the worker threads that run handlers, and their clock.

#include <wharf/detail/durations.hpp>
#include <wharf/detail/short_name.hpp>
#include <wharf/manual_clock.hpp>
#include <wharf/port.hpp>
#include <wharf/shutdown_report.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace wharf::inline v1 {

namespace detail {
class dispatcher_core;
struct dispatcher_access;
} // namespace detail

/// May stand in an expression with co_await, since it needs no destructor.
struct dispatcher_options {
  /// Worker threads; 0 stands for one per core, at least two.
  std::size_t threads = 0;
  /// For diagnostics; the threads' names begin with it. Up to 47 characters.
  detail::short_name name = "wharf";
  /// Binds worker n to core n. For measurements, rarely for programs.
  bool pin_threads = false;
  /// Whose time the timers go by; null: the machine's steady clock. For tests.
  manual_clock* clock = nullptr;
};

/// Owns worker threads and a steady clock, and serves the dispatcher queues
/// that are made on it, round robin.
///
/// Idle workers sleep; an idle dispatcher uses no processor time. When there
/// is more work than the awake workers do, further ones are woken, but only if
/// the work is worth it: a handler that is ready may wait up to a millisecond
/// for a worker that sleeps, never for ever.
///
/// Thread safety: every member may be called from any thread.
/// Lifetime: the destructor ends all queues as dispatcher_queue::close() does
/// and waits for the handlers that run; called on one of the dispatcher's own
/// workers it does not wait. Queues and ports may outlive the dispatcher.
class dispatcher {
public:
  /// Throws std::system_error if a thread can't be started.
  explicit(false) dispatcher(dispatcher_options options = {});
  ~dispatcher();
  dispatcher(const dispatcher&) = delete;
  dispatcher& operator=(const dispatcher&) = delete;

  /// Returns at a moment when nothing is queued or running on any queue that
  /// is not suspended. Timers and messages that nobody wants do not count.
  /// With a manual_clock, timers that are due count: who advances the clock
  /// and drains finds everything handled that has become due.
  /// Throws std::logic_error on a worker of any dispatcher.
  void drain();

  /// Ends the dispatcher in order: lets what is queued run, as drain() does,
  /// and then ends all queues as dispatcher_queue::close() does, and the
  /// threads. Returns when nothing runs any more, at `deadline` at the latest,
  /// with a report that names what was still running, discarded, cut short, or
  /// left in ports that were waited on.
  ///
  /// Queues that are made afterwards are born closed; ports go on taking
  /// messages, for others to take. If something was still running, the
  /// destructor waits for it. Several threads may call it at once, and it may
  /// be called again: the first call does it, all have its report.
  /// Throws std::logic_error on a worker of any dispatcher: a handler spawns a
  /// thread for it, or lets main() know. The deadline is measured in real time.
  template <class Rep, class Period>
  shutdown_report shutdown(std::chrono::duration<Rep, Period> deadline) {
    return shut_down(detail::clock_duration(deadline));
  }

  /// What the clock of its timers shows; sleep_until() goes by it.
  std::chrono::steady_clock::time_point now() const noexcept;

  /// Where failures of handlers and predicates go whose queue names no port,
  /// or a closed one. Without a port here they are logged and counted.
  void on_failure(const port<std::exception_ptr>& failures);

  /// Failures that reached no port.
  std::uint64_t unhandled_failures() const noexcept;

  std::size_t threads() const noexcept;

private:
  friend struct detail::dispatcher_access;
  friend class dispatcher_queue;
  shutdown_report shut_down(detail::duration within);
  struct manual { // no aggregate: clang takes it for one with any members
    explicit manual() = default;
  };
  explicit dispatcher(manual);

  detail::dispatcher_core* core_;
};

} // namespace wharf::inline v1

#pragma once

// One worker: a thread that serves the queues of its dispatcher in turn.

#include "idle_workers.hpp"

#include <wharf/detail/queue_core.hpp>
#include <wharf/detail/sync.hpp>
#include <wharf/detail/work_item.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wharf::inline v1::detail {

class dispatcher_core;

class worker {
public:
  worker(dispatcher_core& pool, std::size_t index) noexcept
      : pool_{pool}, index_{index} {}

  /// The thread's function: works until the dispatcher stops.
  void work() noexcept;

  /// One turn on the calling thread, which plays this worker meanwhile; what
  /// tests crank. False: nothing was ready.
  bool crank() noexcept;

  /// The worker that the calling thread is, or nullptr.
  static worker* current() noexcept;

  /// Whether the item could be kept to run next, on this worker.
  bool keep(work_item& item) noexcept;

  dispatcher_core& pool() const noexcept { return pool_; }
  queue_core* serving() const noexcept { return serving_.load(); } // [H2]
  bool has_next() const noexcept { return next_.load() != nullptr; }

  /// Nanoseconds that a handler took of late, on average; 0: unknown.
  std::uint32_t handler_cost() const noexcept {
    return cost_.load(memory_order_relaxed);
  }

  /// Queued work that takes less than this is not worth a second worker: that
  /// is about what waking one takes.
  static constexpr std::uint32_t worth_waking_ns = 10'000;

private:
  friend class idle_workers;

  bool serve_one_turn(bool searching) noexcept;
  void serve(queue_core& queue, work_item& first) noexcept;
  bool steal_what_does_not_move() noexcept;
  bool search() noexcept;
  void stop_searching(std::size_t depth) noexcept;
  void rest() noexcept;
  void left_queue() noexcept;

  dispatcher_core& pool_;
  const std::size_t index_;

  // This worker's own.
  std::size_t cursor_ = 0;
  std::uint32_t turns_ = 0;
  std::uint32_t kept_ = 0; // items run in a row from next_
  bool watching_ = false;  // its last sleep was a watch
  std::vector<std::uint64_t> seen_progress_;
  idle_workers::order order_ = idle_workers::order::search; // set by the waker
  parker parker_;

  // Looked at by others.
  atomic<queue_core*> serving_{nullptr}; // a hazard pointer: see ready_queues
  atomic<work_item*> next_{nullptr};  // what the handler at work posted first
  atomic<std::uint64_t> progress_{0}; // items run
  atomic<std::uint32_t> cost_{0};     // of a handler, in ns
};

} // namespace wharf::inline v1::detail

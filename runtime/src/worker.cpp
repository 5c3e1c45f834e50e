// worker.cpp -- how a worker finds work, runs it, and gives way.

#include "worker.hpp"

#include "dispatcher_core.hpp"

#include <algorithm>

namespace wharf::inline v1::detail {
namespace {

constinit thread_local worker* current_worker = nullptr;

// How many items in a row a worker may run that its own handlers posted,
// before the others of the queue, and the other queues, have their turn.
constexpr std::uint32_t kept_in_a_row_max = 64;

// A search lasts some microseconds before the worker sleeps: shorter than the
// way through the kernel that a sleep and a wake-up cost.
constexpr int search_rounds = 150;

// From here on timing every turn costs little beside the handlers.
constexpr std::uint32_t heavy_handler_ns = 1'000;

} // namespace

// Not inline: a coroutine may migrate between two reads of a thread-local.
[[gnu::noinline]] worker* worker::current() noexcept {
  return current_worker;
}

void turn::look_at_clock() noexcept {
  const auto now = steady_clock::now();
  if (spent_ == 2) {
    first_look_ = now;
    next_look_ = 4;
    return;
  }
  const auto passed = now - first_look_;
  if (passed >= span) {
    left_ = 0;
    return;
  }
  // At the pace so far the span is over after so many more.
  const auto pace = std::max<std::int64_t>(passed.count(), 1);
  const auto more = (spent_ - 2) * (span - passed).count() / pace;
  next_look_ = spent_ + static_cast<std::uint32_t>(
                            std::clamp<std::int64_t>(more, 1, spent_));
}

bool worker::keep(work_item& item) noexcept {
  if (serving_.load(memory_order_relaxed) != &item.queue() ||
      kept_ >= kept_in_a_row_max || handler_cost() >= worth_waking_ns ||
      pool_.manual()) {
    return false;
  }
  work_item* none = nullptr;
  return next_.compare_exchange_strong(none, &item); // seq_cst: [S1]
}

void worker::left_queue() noexcept {
  serving_.store(nullptr); // seq_cst: before [H3]
  pool_.worker_left();
}

void worker::serve(queue_core& queue, work_item& first) noexcept {
  // Every eighth turn is timed, and every one once handlers are heavy.
  const bool timed = handler_cost() >= heavy_handler_ns || turns_++ % 8 == 0;
  const auto start = timed ? steady_clock::now() : time_point{};
  turn budget{pool_.handlers_per_turn()};
  kept_ = 0;
  for (work_item* item = &first; item != nullptr;) {
    item->run(budget);
    progress_.store(progress_.load(memory_order_relaxed) + 1,
                    memory_order_relaxed);
    item = next_.load(memory_order_relaxed) != nullptr ? next_.exchange(nullptr)
                                                       : nullptr;
    if (item != nullptr && (budget.over() || !queue.runnable())) {
      queue.enqueue(*item, placement::back);
      item = nullptr;
    }
    ++kept_;
    if (item == nullptr && !budget.over()) {
      item = queue.pop(); // short items: a turn is the same for every queue
    }
  }
  if (timed) {
    const auto spent = std::chrono::duration_cast<std::chrono::nanoseconds>(
        steady_clock::now() - start);
    const std::uint32_t handlers =
        std::max(1U, pool_.handlers_per_turn() - budget.left());
    const auto each = static_cast<std::uint32_t>(
        std::min<std::int64_t>(spent.count() / handlers, 1'000'000'000));
    const std::uint32_t before = handler_cost();
    cost_.store(before == 0 ? each : before - before / 4 + each / 4,
                memory_order_relaxed);
  }
}

/// One turn of the next ready queue. `searching`: counted as a searcher until
/// it has found something. False: nothing was ready.
bool worker::serve_one_turn(bool searching) noexcept {
  pool_.fire_timers();
  queue_core* queue = pool_.ready().next(cursor_, serving_);
  if (queue == nullptr) {
    pool_.worker_left(); // the look itself may have named a queue
    return false;
  }
  work_item* item = queue->pop();
  if (item != nullptr) {
    if (searching) {
      stop_searching(queue->depth());
    }
    serve(*queue, *item);
  }
  left_queue();
  return item != nullptr || !searching;
}

bool worker::steal_what_does_not_move() noexcept {
  const auto& all = pool_.workers();
  seen_progress_.resize(all.size());
  for (const auto& victim : all) {
    if (victim.get() == this || !victim->has_next()) {
      continue;
    }
    const std::uint64_t progress = victim->progress_.load(memory_order_relaxed);
    std::uint64_t& seen = seen_progress_[victim->index_];
    if (pool_.sentinel() && std::exchange(seen, progress) != progress) {
      continue; // it moves, or was not looked at before
    }
    work_item* item = victim->next_.exchange(nullptr);
    if (item == nullptr) {
      continue;
    }
    // The item keeps its queue alive; close() sees us from here on [H1], or
    // we see that it was closed.
    queue_core& queue = item->queue();
    serving_.store(&queue);
    stop_searching(1);
    if (queue.runnable()) {
      serve(queue, *item);
    } else {
      queue.enqueue(*item, placement::back);
    }
    left_queue();
    return true;
  }
  return false;
}

/// The last to search sees to it that somebody looks after what is left.
void worker::stop_searching(std::size_t depth) noexcept {
  if (!pool_.idle().end_search()) {
    return;
  }
  if (pool_.look(*this) != idle_workers::seen::nothing) {
    pool_.wake(pool_.wake_up_for(this, depth));
  }
  pool_.attend_timers();
}

/// Looks for work for a while. True: it ran some and searches no more.
bool worker::search() noexcept {
  const int rounds = pool_.idle().others_search() ? 1 : search_rounds;
  for (int round = 0; round < rounds; ++round) {
    if ((pool_.ready().any() || pool_.timer_due()) && serve_one_turn(true)) {
      return true;
    }
    spin_hint();
  }
  if (watching_ || !pool_.sentinel()) {
    if (steal_what_does_not_move()) {
      return true;
    }
  }
  return false;
}

void worker::rest() noexcept {
  idle_workers& idle = pool_.idle();
  bool on_watch = false;
  do {
    idle.lie_down(*this);
    idle_workers::seen seen = pool_.look(*this);
    if (seen == idle_workers::seen::work && !on_watch) {
      idle.get_up(*this);
      watching_ = false;
      return;
    }
    pool_.worker_sleeps();
    const bool slow = seen != idle_workers::seen::nothing;
    const time_point until =
        idle.sleep_until(*this, slow, pool_.timers(), pool_.clock());
    watching_ = slow;
    if (until == time_point::max()) {
      parker_.park();
    } else if (until != time_point::min()) {
      parker_.park_until(until);
    }
    on_watch = idle.get_up(*this) == idle_workers::order::watch;
  } while (on_watch && !pool_.stopping());
}

void worker::work() noexcept {
  current_worker = this;
  while (!pool_.stopping()) {
    if (serve_one_turn(false)) {
      continue;
    }
    pool_.idle().start_search();
    while (!pool_.stopping() && !search()) {
      rest();
    }
  }
  current_worker = nullptr;
}

bool worker::crank() noexcept {
  worker* const outer = std::exchange(current_worker, this);
  const bool served = serve_one_turn(false);
  current_worker = outer;
  return served;
}

} // namespace wharf::inline v1::detail

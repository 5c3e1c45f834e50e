// See the head comment in detail/coroutine_root.hpp.

#include <wharf/detail/coroutine_root.hpp>

#include <wharf/detail/queue_end.hpp>
#include <wharf/error.hpp>

#include <utility>

namespace wharf::inline v1::detail {
namespace {

constinit thread_local coroutine_root* running = nullptr;

} // namespace

// Not inline: a coroutine may migrate between two reads of a thread-local.
[[gnu::noinline]] coroutine_root* current_coroutine() noexcept {
  return running;
}

bool is_cancelled(const std::exception_ptr& failure) noexcept {
  if (failure == nullptr) {
    return false;
  }
  try {
    std::rethrow_exception(failure);
  } catch (const cancelled&) {
    return true;
  } catch (...) {
    return false;
  }
}

coroutine_root::coroutine_root(queue_core& queue,
                               const coroutine_scope* scope) noexcept
    : one_time{queue}, scope_{scope} {
  be_coroutine();
  state_.store(0, memory_order_relaxed);
}

coroutine_root::~coroutine_root() = default;

/// Whether awaits are cut short.
bool coroutine_root::cut(std::uint32_t state) noexcept {
  if ((state & bit_bound) != 0) {
    return false;
  }
  return (state & bit_forced) != 0 ||
         (state & (bit_cancelled | bit_shielded)) == bit_cancelled;
}

bool coroutine_root::active() const noexcept {
  const std::uint32_t state = state_.load(memory_order_acquire);
  return (state & bit_over) == 0 &&
         (state & (bit_started | bit_decided)) != bit_decided;
}

bool coroutine_root::survives_close() const noexcept {
  return (state_.load(memory_order_acquire) & bit_started) != 0;
}

bool coroutine_root::refuses_awaits() const noexcept {
  return cut(state_.load(memory_order_acquire));
}

// Starting.

void coroutine_root::launch() noexcept {
  if (queue().link(*this)) {
    queue().enqueue(*this); // the line takes over the first reference
  } else {
    state_.store(bit_decided, memory_order_release);
    queue().count_discarded(); // as a function that is spawned too late
    finish();
  }
}

bool coroutine_root::claim_start() noexcept {
  std::uint32_t state = state_.load(memory_order_relaxed);
  while ((state & bit_decided) == 0) {
    if (state_.compare_exchange_weak(state, state | bit_decided | bit_started,
                                     memory_order_acq_rel,
                                     memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

void coroutine_root::start_now(turn& budget) noexcept {
  static_cast<void>(claim_start()); // nobody else knows it yet
  if (!queue().link(*this)) {
    queue().link_regardless(*this);
    end_with_queue(nullptr);
  }
  // After it was linked: cancel_all() looks there after it has set the scope.
  if (scope_ != nullptr && scope_->cancelled()) {
    request_cancel(bit_cancelled, nullptr);
  }
  begin(budget);
}

void coroutine_root::begin(turn& budget) noexcept {
  try {
    const context_scope scope{under_};
    next_ = frame_ = make_frame();
  } catch (...) {
    end(std::current_exception());
    return;
  }
  steps(budget);
}

void coroutine_root::run(turn& budget) noexcept {
  if (survives_close()) {
    steps(budget);
  } else if (claim_start()) {
    begin(budget);
  } else {
    drop_ref(); // cancelled before it began
  }
}

void coroutine_root::discard() noexcept {
  std::uint32_t fresh = 0;
  if (state_.compare_exchange_strong(fresh, bit_decided, memory_order_acq_rel,
                                     memory_order_relaxed)) {
    queue().count_discarded();
    finish();
  } else {
    drop_ref(); // cancelled before it began
  }
}

// Running.

void coroutine_root::steps(turn& budget) noexcept {
  for (;;) {
    budget.spend();
    coroutine_root* const outer = std::exchange(running, this);
    suspended_.effective = under_.release();
    const context_state around = std::exchange(running_under, suspended_);
    std::exchange(next_, nullptr).resume();
    suspended_ = std::exchange(running_under, around);
    under_ = context_ref{std::exchange(suspended_.effective, nullptr)};
    running = outer;
    if (std::exchange(awaiting_, false)) {
      if (!arm_await()) {
        return; // K1: armed
      }
    } else if (next_ == nullptr) {
      end(failure());
      return;
    }
    if (budget.over()) {
      queue().enqueue(*this, placement::back);
      return; // K1: in line
    }
  }
}

void coroutine_root::begin_await(std::coroutine_handle<> leaf) noexcept {
  forget_branches();
  holds_.store(1, memory_order_relaxed); // the decision's
  next_ = leaf;
  awaiting_ = true;
}

bool coroutine_root::arm_await() noexcept {
  std::uint32_t state = state_.load(memory_order_relaxed);
  do {
    if (cut(state)) {
      return true; // no branch was armed, and none has won
    }
  } while (!state_.compare_exchange_weak(
      state, (state & ~(bit_decided | bit_handed_over)) | bit_arming,
      memory_order_acq_rel, memory_order_relaxed));
  decision d;
  d.keep_at_hand(*this);
  arm(d, true, arm_failure_);
  d.finish();
  return d.at_hand();
}

branch& coroutine_root::end_await() {
  if (winner() != nullptr) {
    arm_failure_ = nullptr;
    return *winner();
  }
  if (arm_failure_ != nullptr) {
    std::rethrow_exception(std::exchange(arm_failure_, nullptr));
  }
  if (refuses_awaits()) {
    throw cancelled{"the coroutine has been cancelled"};
  }
  throw port_closed{"an awaited port has closed"};
}

bool coroutine_root::last_hold() noexcept {
  // acq_rel: what was written under each hold is there when the frame goes on.
  return holds_.fetch_sub(1, memory_order_acq_rel) == 1;
}

void coroutine_root::settled(decision& d) noexcept {
  // Branches take holds before this only, so one that is alone stays alone.
  if (holds_.load(memory_order_acquire) == 1 || last_hold()) {
    d.schedule(*this);
  }
}

void coroutine_root::release() noexcept {
  if (last_hold()) {
    decision d;
    d.schedule(*this);
  }
}

// Cancelling.

bool coroutine_root::request_cancel(std::uint32_t bits,
                                    port_names* names) noexcept {
  std::uint32_t state = state_.load(memory_order_relaxed);
  for (;;) {
    const bool fresh = (state & bit_started) == 0;
    if ((state & bit_over) != 0 || (fresh && (state & bit_decided) != 0)) {
      return false;
    }
    const bool awaits = (state & bit_decided) == 0;
    std::uint32_t next = state | bits;
    if (fresh || (awaits && cut(next))) {
      next |= bit_decided;
    }
    if (!state_.compare_exchange_weak(state, next, memory_order_acq_rel,
                                      memory_order_relaxed)) {
      continue;
    }
    if (fresh) {
      if ((bits & bit_forced) != 0) {
        queue().count_discarded();
      }
      finish(true); // the item is still in line and keeps its reference
      return true;
    }
    if (awaits && cut(next)) {
      if (names != nullptr) {
        names->of(*this); // it is resumed only when it is settled
      }
      decision d;
      d.settle(*this);
    }
    return (state & bit_cancelled) == 0;
  }
}

bool coroutine_root::cancel() noexcept {
  const bool first = request_cancel(bit_cancelled, nullptr);
  return first && running != this;
}

bool coroutine_root::end_with_queue(port_names* names) noexcept {
  const bool had_started = survives_close();
  return request_cancel(bit_cancelled | bit_forced, names) && had_started;
}

// Ending.

void coroutine_root::end(std::exception_ptr failure) noexcept {
  last_failure_ = std::move(failure);
  state_.fetch_or(bit_over, memory_order_acq_rel);
  finish();
}

void coroutine_root::destroy_payload() noexcept {
  const context_scope scope{under_};
  if (frame_ != nullptr) {
    std::exchange(frame_, nullptr).destroy();
  }
  destroy_arguments();
}

void coroutine_root::payload_destroyed() noexcept {
  if (!survives_close()) {
    return;
  }
  context_ref{std::exchange(suspended_.own, nullptr)};
  const context_scope scope{std::move(under_)};
  std::exception_ptr failure = std::exchange(last_failure_, nullptr);
  const bool asked = (state_.load(memory_order_relaxed) & bit_cancelled) != 0;
  finished(asked && is_cancelled(failure) ? nullptr : std::move(failure));
}

void coroutine_root::finished(std::exception_ptr failure) noexcept {
  if (failure != nullptr) {
    queue().report(std::move(failure));
  }
}

} // namespace wharf::inline v1::detail

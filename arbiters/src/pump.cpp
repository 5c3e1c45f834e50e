// See the head comment in detail/pump.hpp.

#include <wharf/detail/pump.hpp>

#include <wharf/detail/queue_core.hpp>

#include <new>

namespace wharf::inline v1::detail {

void pump::wake_locked(decision& d) noexcept {
  if (!inbox_.queued && (!inbox_.serial || inbox_.active == 0)) {
    inbox_.queued = true;
    d.schedule(*this);
  }
}

void pump::accept_locked(decision& d, message_list&& units) noexcept {
  inbox_.units.append(std::move(units));
  wake_locked(d);
}

void pump::accept_locked(decision& d, message_node* unit) noexcept {
  inbox_.units.push_back(unit);
  wake_locked(d);
}

message_list pump::leave_locked() noexcept {
  inbox_.leaving = true;
  message_list rest;
  if (outbox_ != nullptr) {
    const lock_guard lock{outbox_->lock};
    rest = std::move(outbox_->units);
    outbox_size_.store(0, memory_order_relaxed);
  }
  rest.append(std::move(inbox_.units));
  return rest;
}

pump::last_one pump::try_finish_locked() noexcept {
  const bool over = inbox_.leaving || (inbox_.closing && pending_locked() == 0);
  if (!over || inbox_.active != 0 || inbox_.finished) {
    return {false, false};
  }
  inbox_.finished = true;
  // An item that is still in line keeps the queue's reference and drops it
  // when it is run or discarded.
  return {true, inbox_.queued};
}

message_list pump::pop_unit(message_list& from) noexcept {
  message_list unit;
  if (!from.empty()) {
    for (std::uint32_t i = 0; i < unit_size_; ++i) {
      unit.push_back(from.pop_front());
    }
  }
  return unit;
}

/// Moves the inbox to the outbox and takes the oldest unit. A single unit is
/// taken without the outbox.
message_list pump::refill_locked() noexcept {
  message_list& inbox = inbox_.units;
  if (outbox_size_.load(memory_order_relaxed) == 0 &&
      inbox.size() <= unit_size_) {
    return std::move(inbox);
  }
  if (outbox_ == nullptr) {
    outbox_.reset(new (std::nothrow) pump_outbox);
    if (outbox_ == nullptr) {
      return pop_unit(inbox); // slower, but nothing is lost
    }
  }
  const lock_guard lock{outbox_->lock};
  outbox_->units.append(std::move(inbox));
  message_list unit = pop_unit(outbox_->units);
  outbox_size_.store(outbox_->units.size(), memory_order_relaxed);
  return unit;
}

message_list pump::take_unit() noexcept {
  if (outbox_size_.load(memory_order_relaxed) == 0) {
    return {};
  }
  const lock_guard lock{outbox_->lock};
  message_list unit = pop_unit(outbox_->units);
  outbox_size_.store(outbox_->units.size(), memory_order_relaxed);
  return unit;
}

void pump::run(turn& budget) noexcept {
  inbox_.lock.lock();
  inbox_.queued = false;
  if (inbox_.leaving || inbox_.finished) {
    const bool orphan = inbox_.finished;
    inbox_.lock.unlock();
    if (orphan) {
      drop_ref();
    }
    return;
  }
  ++inbox_.active;
  message_list unit = refill_locked();
  const bool help =
      !inbox_.serial && pending_locked() != 0 && queue().parallel();
  inbox_.queued = help;
  inbox_.lock.unlock();
  if (help) {
    queue().enqueue(*this, placement::back);
  }
  for (;;) {
    while (!unit.empty()) {
      budget.spend();
      started(unit);
      try {
        handle(std::move(unit));
      } catch (...) {
        queue().report(std::current_exception());
      }
      unit = budget.over() ? message_list{} : take_unit();
    }
    inbox_.lock.lock();
    if (inbox_.leaving || budget.over() || inbox_.units.empty()) {
      break;
    }
    unit = refill_locked();
    inbox_.lock.unlock();
  }
  --inbox_.active;
  const bool again = !inbox_.leaving && !inbox_.queued &&
                     pending_locked() != 0 &&
                     (!inbox_.serial || inbox_.active == 0);
  inbox_.queued = inbox_.queued || again;
  const last_one last = try_finish_locked();
  inbox_.lock.unlock();
  if (again) {
    queue().enqueue(*this, placement::back);
  } else if (last.out) {
    leave_once();
    leave_ports();
    finish(last.keep_reference);
  }
}

std::uint64_t pump::discard() noexcept {
  inbox_.lock.lock();
  inbox_.queued = false;
  const bool orphan = inbox_.finished;
  inbox_.lock.unlock();
  if (orphan) {
    drop_ref();
  }
  return 0;
}

} // namespace wharf::inline v1::detail

// See the head comment in detail/pump.hpp.

#include <wharf/detail/pump.hpp>

#include <wharf/detail/queue_core.hpp>
#include <wharf/detail/queue_end.hpp>

#include <new>

namespace wharf::inline v1::detail {

void pump::wake_locked(decision& d) noexcept {
  if (!inbox_.queued_ && (!inbox_.serial_ || inbox_.active_ == 0)) {
    inbox_.queued_ = true;
    d.schedule(*this);
  }
}

void pump::accept_locked(decision& d, message_list&& units) noexcept {
  inbox_.units_.append(std::move(units));
  wake_locked(d);
}

void pump::accept_locked(decision& d, const offered& unit) noexcept {
  if (unit.given_back) {
    insert_gift_locked(unit.node);
  } else {
    inbox_.units_.push_back(unit.node);
  }
  wake_locked(d);
}

/// A message that was given back may be older than what waits here.
void pump::insert_gift_locked(message_node* gift) noexcept {
  if (outbox_size_.load(memory_order_relaxed) != 0) {
    const lock_guard lock{outbox_->lock};
    if (outbox_->units.precedes_last(*gift)) {
      outbox_->units.insert_in_place(gift, nullptr);
      outbox_size_.store(outbox_->units.size(), memory_order_relaxed);
      return;
    }
  }
  const bool behind =
      inbox_.last_gift_ != nullptr && inbox_.last_gift_->number < gift->number;
  inbox_.units_.insert_in_place(gift, behind ? inbox_.last_gift_ : nullptr);
  inbox_.last_gift_ = gift;
}

message_list pump::take_inbox_locked() noexcept {
  inbox_.last_gift_ = nullptr;
  return std::move(inbox_.units_);
}

message_list pump::leave_locked() noexcept {
  inbox_.leaving_ = true;
  message_list rest;
  if (outbox_ != nullptr) {
    const lock_guard lock{outbox_->lock};
    rest = std::move(outbox_->units);
    outbox_size_.store(0, memory_order_relaxed);
  }
  rest.append(take_inbox_locked());
  return rest;
}

pump::last_one pump::try_finish_locked() noexcept {
  const bool over =
      inbox_.leaving_ || (inbox_.closing_ && pending_locked() == 0);
  if (!over || inbox_.active_ != 0 || inbox_.finished_) {
    return {false, false};
  }
  inbox_.finished_ = true;
  add_ref(); // for finish_pinned()
  // An item that is still in line keeps the queue's reference and drops it
  // when it is run or discarded.
  return {true, inbox_.queued_};
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
  message_list& inbox = inbox_.units_;
  if (outbox_size_.load(memory_order_relaxed) == 0 &&
      inbox.size() <= unit_size_) {
    return take_inbox_locked();
  }
  if (outbox_ == nullptr) {
    outbox_.reset(new (std::nothrow) pump_outbox);
    if (outbox_ == nullptr) {
      inbox_.last_gift_ = nullptr;
      return pop_unit(inbox); // slower, but nothing is lost
    }
  }
  const lock_guard lock{outbox_->lock};
  outbox_->units.append(take_inbox_locked());
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

void pump::run_unit(message_list unit, turn& budget) noexcept {
  const bool goes_on = in_coroutines();
  if (goes_on) {
    const lock_guard lock{inbox_.inbox_lock_};
    ++inbox_.active_; // handler_ended() or this takes it back
  }
  started(unit);
  const context_scope scope{taken_contexts(unit)};
  try {
    // What goes on spends by itself.
    if (handle(std::move(unit), budget) == handled::goes_on) {
      return;
    }
    budget.spend();
  } catch (...) {
    budget.spend();
    queue().report(std::current_exception(), reads());
    if (goes_on) {
      const lock_guard lock{inbox_.inbox_lock_};
      --inbox_.active_; // the worker inside looks after the rest
    }
  }
}

void pump::handler_ended(std::exception_ptr failure) noexcept {
  if (failure != nullptr) {
    queue().report(std::move(failure), reads());
  }
  inbox_.inbox_lock_.lock();
  leave_run();
}

void pump::run(turn& budget) noexcept {
  inbox_.inbox_lock_.lock();
  inbox_.queued_ = false;
  if (inbox_.leaving_ || inbox_.finished_) {
    const bool orphan = inbox_.finished_;
    inbox_.inbox_lock_.unlock();
    if (orphan) {
      drop_ref();
    }
    return;
  }
  ++inbox_.active_;
  message_list unit = refill_locked();
  const bool help =
      !inbox_.serial_ && pending_locked() != 0 && queue().parallel();
  inbox_.queued_ = help;
  inbox_.inbox_lock_.unlock();
  if (help) {
    queue().enqueue(*this, placement::back);
  }
  const bool one_coroutine = inbox_.serial_ && in_coroutines();
  for (;;) {
    while (!unit.empty()) {
      run_unit(std::move(unit), budget);
      unit = budget.over() || one_coroutine || !queue().runnable()
                 ? message_list{}
                 : take_unit();
    }
    inbox_.inbox_lock_.lock();
    if (inbox_.leaving_ || budget.over() || inbox_.units_.empty() ||
        one_coroutine || !queue().runnable()) {
      break;
    }
    unit = refill_locked();
    inbox_.inbox_lock_.unlock();
  }
  leave_run();
}

/// A worker, or a handler that went on, is through. Requires the inbox lock,
/// which it releases.
void pump::leave_run() noexcept {
  --inbox_.active_;
  const bool again = !inbox_.leaving_ && !inbox_.queued_ &&
                     pending_locked() != 0 &&
                     (!inbox_.serial_ || inbox_.active_ == 0);
  inbox_.queued_ = inbox_.queued_ || again;
  const last_one last = try_finish_locked();
  inbox_.inbox_lock_.unlock();
  if (again) {
    queue().enqueue(*this, placement::back);
  } else if (last.out) {
    leave_once();
    leave_ports();
    finish_pinned(last.keep_reference);
  }
}

bool pump::end_with_queue(port_names* names) noexcept {
  if (names != nullptr) {
    names->add(reads());
  }
  return cancel();
}

void pump::discard() noexcept {
  inbox_.inbox_lock_.lock();
  inbox_.queued_ = false;
  const bool orphan = inbox_.finished_;
  inbox_.inbox_lock_.unlock();
  if (orphan) {
    drop_ref();
  }
}

} // namespace wharf::inline v1::detail

// The kinds of arbiters that an interleave's groups hold.

#include <wharf/detail/interleave_core.hpp>

namespace wharf::inline v1::detail {

void interleave_member::slot_over() noexcept {
  owner_->slot_over(*this);
}

const coroutine_scope* interleave_member::scope_of_handlers() const noexcept {
  return kind_ == group_kind::teardown ? nullptr : &owner_->scope();
}

// Persistent receivers.

bool receive_member::accept(decision& d, message_node* node) noexcept {
  const lock_guard lock{owner().lock()};
  if (!owner().open_locked()) {
    return false;
  }
  port_->hold(1);
  // In place: one that was given back may be older than what waits.
  waiting_.insert_in_place(node, nullptr);
  owner().arrived_locked(d, *this, kind());
  return true;
}

offer_result receive_member::offer(decision& d, offered& m) noexcept {
  return wants(d, owner(), *port_, m.node) && accept(d, m.node)
             ? offer_result::taken
             : offer_result::left;
}

void receive_member::arm(decision& d, bool open) {
  if (!open) {
    return;
  }
  d.lock(*port_);
  message_list& there = port_->unowned();
  bool took = false;
  message_node* before = nullptr;
  for (message_node* node = there.front(); node != nullptr;) {
    message_node* const next = node->next;
    if (wants(d, owner(), *port_, node)) {
      there.remove_after(before);
      if (!accept(d, node)) {
        there.insert_in_place(node, before);
        break;
      }
      took = true;
    } else {
      before = node;
    }
    node = next;
  }
  if (took) {
    port_->taken(d);
  }
  if (port_->closed()) {
    port_closed(d);
  } else {
    port_->list(*this);
  }
  d.unlock();
}

void receive_member::port_closed(decision& d) noexcept {
  const lock_guard lock{owner().lock()};
  closed_ = true;
  owner().ended_locked(d);
}

void receive_member::leave(decision& d) noexcept {
  d.lock_with_watched(*port_);
  port_->unlist(*this);
  owner().lock().lock();
  message_list back = std::move(waiting_);
  owner().lock().unlock();
  port_->give_back(d, std::move(back));
  d.unlock();
}

message_list receive_member::take_unit() noexcept {
  message_list unit;
  unit.push_back(waiting_.pop_front());
  port_->release(1);
  return unit;
}

handled receive_member::run(message_list unit, turn& budget) noexcept {
  budget.spend();
  const context_scope scope{taken_contexts(unit)};
  try {
    return handle(std::move(unit), budget);
  } catch (...) {
    queue_.report(std::current_exception(), port_.self());
    return handled::over;
  }
}

void receive_member::handler_ended(std::exception_ptr failure) noexcept {
  if (failure != nullptr) {
    queue_.report(std::move(failure), port_.self());
  }
  slot_over();
}

// Persistent joins.

void join_member::arm(decision& d, bool open) {
  if (open) {
    join_core::arm(d);
  }
}

bool join_member::may_commit() noexcept {
  const lock_guard lock{owner().lock()};
  return owner().open_locked();
}

void join_member::committed(decision& d, message_list unit) noexcept {
  hold(unit);
  const lock_guard lock{owner().lock()};
  waiting_.append(std::move(unit));
  // An interleave that has begun to end since may_commit() takes it back when
  // the member leaves, which waits for the locks held here.
  if (owner().open_locked()) {
    owner().arrived_locked(d, *this, kind());
  }
}

void join_member::starved(decision& d) noexcept {
  const lock_guard lock{owner().lock()};
  closed_ = true;
  owner().ended_locked(d);
}

void join_member::leave(decision& d) noexcept {
  join_core::leave(d);
  owner().lock().lock();
  message_list back = std::move(waiting_);
  owner().lock().unlock();
  give_back(d, std::move(back));
}

message_list join_member::take_unit() noexcept {
  message_list unit;
  for (std::size_t i = 0; i < unit_size(); ++i) {
    unit.push_back(waiting_.pop_front());
  }
  release(unit);
  return unit;
}

handled join_member::run(message_list unit, turn& budget) noexcept {
  budget.spend();
  const context_scope scope{taken_contexts(unit)};
  try {
    return handle(std::move(unit), budget);
  } catch (...) {
    queue_.report(std::current_exception(), lock_set());
    return handled::over;
  }
}

void join_member::handler_ended(std::exception_ptr failure) noexcept {
  if (failure != nullptr) {
    queue_.report(std::move(failure), lock_set());
  }
  slot_over();
}

// One-time arbiters.

bool one_time_member::takes() noexcept {
  const lock_guard lock{owner().lock()};
  return owner().open_locked();
}

bool one_time_member::claim(one_time& root, branch* winner) noexcept {
  const lock_guard lock{owner().lock()};
  if ((winner != nullptr && !owner().open_locked()) ||
      !root.claim_word(winner)) {
    return false;
  }
  if (winner != nullptr && kind() == group_kind::teardown) {
    owner().begin_teardown_locked();
  }
  owner().claim_begins_locked();
  return true;
}

void one_time_member::ready(one_time& root, decision& d) noexcept {
  bool refused = false;
  {
    const lock_guard lock{owner().lock()};
    if (kind() == group_kind::teardown) {
      owner().teardown_ready_locked(root, d);
    } else if (owner().open_locked()) {
      waiting_ = ended_ = true;
      owner().arrived_locked(d, *this, kind());
      owner().ended_locked(d);
    } else {
      refused = true;
    }
    if (!refused) {
      owner().claim_ends_locked(d);
    }
  }
  if (refused) {
    root.give_back_taken(d);
    const lock_guard lock{owner().lock()};
    owner().claim_ends_locked(d);
  }
}

void one_time_member::unfired(decision& d) noexcept {
  const lock_guard lock{owner().lock()};
  ended_ = true;
  owner().ended_locked(d);
  owner().claim_ends_locked(d);
}

void one_time_member::leave(decision& d) noexcept {
  if (root_.cancel()) {
    return;
  }
  owner().lock().lock();
  const bool waited = std::exchange(waiting_, false);
  owner().lock().unlock();
  if (waited) {
    root_.give_back_taken(d);
  }
}

message_list one_time_member::take_unit() noexcept {
  waiting_ = false;
  return {};
}

handled one_time_member::run(message_list, turn& budget) noexcept {
  return root_.run_branch(budget);
}

void one_time_member::ended(one_time&) noexcept {
  if (kind() == group_kind::teardown) {
    owner().teardown_over();
  } else {
    slot_over();
  }
}

} // namespace wharf::inline v1::detail

// How receivers take messages; see detail/receive_core.hpp.

#include <wharf/detail/receive_core.hpp>

namespace wharf::inline v1::detail {

bool message_filter::ask(decision& d, arbiter& owner, port_core& port,
                         const message_node* node) noexcept {
  const predicate_scope inside;
  try {
    return accepts(node);
  } catch (...) {
    d.failed(owner, port, std::current_exception());
    return false;
  }
}

// One-time.

void receive_branch::took(message_node* node) noexcept {
  taken_ = node;
  if (root().in_group()) {
    port_->hold(1);
  }
}

message_node* receive_branch::take_node() noexcept {
  if (root().in_group()) {
    port_->release(1);
  }
  return std::exchange(taken_, nullptr);
}

message_node* receive_branch::take_awaited() noexcept {
  message_node* node = take_node();
  if (with_causality_) {
    take_on(std::move(node->under));
  }
  return node;
}

offer_result receive_branch::offer(decision& d, offered& m) noexcept {
  if (root().decided() || !wants(d, root(), *port_, m.node) ||
      !root().claim(this)) {
    return offer_result::left;
  }
  took(m.node);
  port_->unlist(*this);
  d.settle(root());
  return offer_result::taken;
}

void receive_branch::arm(decision& d) {
  d.lock(*port_);
  message_list& there = port_->unowned();
  message_node* before = nullptr;
  for (message_node* node = there.front(); node != nullptr;
       before = node, node = node->next) {
    if (!wants(d, root(), *port_, node)) {
      continue;
    }
    if (root().claim(this)) {
      took(there.remove_after(before));
      d.settle(root());
      port_->taken(d);
    }
    d.unlock();
    return;
  }
  if (port_->closed()) {
    root().branch_died(d);
  } else {
    port_->list(*this);
  }
  d.unlock();
}

void receive_branch::disarm(decision& d) noexcept {
  d.lock(*port_);
  port_->unlist(*this);
  d.unlock();
}

void receive_branch::port_closed(decision& d) noexcept {
  root().branch_died(d);
}

void receive_branch::give_back_taken(decision& d) noexcept {
  message_list back;
  back.push_back(std::exchange(taken_, nullptr)); // it is counted still
  d.lock_with_watched(*port_);
  port_->give_back(d, std::move(back));
  d.unlock();
}

void receive_branch::destroy_taken() noexcept {
  port_->type().destroy(take_node());
}

// Persistent.

void receive_pump::activate(bool linked) {
  decision d;
  d.lock(*port_);
  if (!linked && leave_once()) {
    leave_locked();
    d.settle(*this);
  }
  if (left()) {
    return; // the queue's end was faster and finishes it
  }
  message_list& there = port_->unowned();
  message_list mine;
  if (!picky()) {
    mine = std::move(there);
  } else {
    message_node* before = nullptr;
    for (message_node* node = there.front(); node != nullptr;) {
      message_node* const next = node->next;
      if (wants(d, *this, *port_, node)) {
        mine.push_back(there.remove_after(before));
      } else {
        before = node;
      }
      node = next;
    }
  }
  if (!mine.empty()) {
    accept_locked(d, std::move(mine));
    port_->taken(d);
  }
  port_->list(*this);
  if (port_->closed()) {
    port_closed(d);
  }
}

offer_result receive_pump::offer(decision& d, offered& m) noexcept {
  if (!wants(d, *this, *port_, m.node)) {
    return offer_result::left;
  }
  accept_locked(d, m);
  return offer_result::taken;
}

void receive_pump::port_closed(decision& d) noexcept {
  // The port goes on counting what waits here until it has been handled.
  close_locked();
  d.revisit(*this);
}

void receive_pump::settle(decision& d) noexcept {
  d.unlock();
  d.lock(*port_);
  const last_one last = try_finish_locked();
  if (last.out) {
    port_->unlist(*this);
  }
  d.unlock();
  if (last.out) {
    leave_once();
    finish_pinned(last.keep_reference);
  }
}

void receive_pump::leave_ports() noexcept {
  const lock_guard lock{port_->mutex_};
  port_->unlist(*this);
}

bool receive_pump::cancel() noexcept {
  if (!leave_once()) {
    return false;
  }
  decision d;
  d.lock_with_watched(*port_);
  port_->unlist(*this);
  message_list back = leave_locked();
  port_->hold(back.size());
  port_->give_back(d, std::move(back));
  const last_one last = try_finish_locked();
  d.unlock();
  if (last.out) {
    finish_pinned(last.keep_reference);
  }
  return true;
}

} // namespace wharf::inline v1::detail

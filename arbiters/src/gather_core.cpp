// gather_core.cpp -- see the head comment in detail/gather_core.hpp.

#include <wharf/detail/gather_core.hpp>

namespace wharf::inline v1::detail {

gather_core::gather_core(std::vector<port_ref> ports, std::size_t wanted,
                         std::int32_t priority)
    : wanted_{wanted}, open_{ports.size()} {
  leaves_.reserve(ports.size());
  for (port_ref& port : ports) {
    leaves_.push_back(std::make_unique<leaf>(*this, std::move(port), priority));
  }
}

bool gather_core::count(bool& last) noexcept {
  std::size_t got = got_.load(memory_order_relaxed);
  while (got < wanted_) {
    // relaxed: the messages themselves are ordered by their ports' locks.
    if (got_.compare_exchange_weak(got, got + 1, memory_order_relaxed)) {
      last = got + 1 == wanted_;
      return true;
    }
  }
  return false;
}

void gather_core::keep(decision& d, leaf& l, message_node* node,
                       bool last) noexcept {
  l.kept.insert_in_place(node, nullptr);
  l.port->hold(1);
  if (last && root().claim(this)) {
    d.settle(root());
  }
}

offer_result gather_core::leaf::offer(decision& d, offered& m) noexcept {
  bool last = false;
  if (!owner.root().takes() || !owner.count(last)) {
    return offer_result::left;
  }
  owner.keep(d, *this, m.node, last);
  return offer_result::taken;
}

void gather_core::leaf::port_closed(decision& d) noexcept {
  owner.lost_port(d);
}

void gather_core::lost_port(decision& d) noexcept {
  // Complete or not: the last message was counted before its port closed.
  if (open_.fetch_sub(1, memory_order_acq_rel) == 1 &&
      got_.load(memory_order_relaxed) < wanted_) {
    root().branch_died(d);
  }
}

void gather_core::arm(decision& d) {
  if (wanted_ == 0) {
    if (root().claim(this)) {
      d.settle(root());
    }
    return;
  }
  for (const auto& l : leaves_) {
    if (root().decided()) {
      return;
    }
    d.lock(*l->port);
    message_list& there = l->port->unowned();
    bool took = false;
    bool last = false;
    while (!there.empty() && !root().decided() && count(last)) {
      keep(d, *l, there.pop_front(), last);
      took = true;
    }
    if (took) {
      l->port->taken(d);
    }
    if (l->port->closed()) {
      lost_port(d);
    } else {
      l->port->list(*l);
    }
    d.unlock();
  }
}

void gather_core::disarm(decision& d) noexcept {
  give_back(d);
}

void gather_core::give_back(decision& d) noexcept {
  for (const auto& l : leaves_) {
    d.lock_with_watched(*l->port);
    l->port->unlist(*l);
    l->port->give_back(d, std::move(l->kept));
    d.unlock();
  }
}

void gather_core::won(decision& d) noexcept {
  for (const auto& l : leaves_) {
    d.lock(*l->port);
    l->port->unlist(*l);
    d.unlock();
  }
}

message_list gather_core::take_from(std::size_t port) noexcept {
  leaf& l = *leaves_[port];
  l.port->release(l.kept.size());
  return std::move(l.kept);
}

context_ref gather_core::under() noexcept {
  if (wanted_ == 0) {
    return branch::under();
  }
  context_ref all;
  for (const auto& l : leaves_) {
    all = unite(std::move(all), taken_contexts(l->kept));
  }
  return all;
}

void gather_core::destroy_taken() noexcept {
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    destroy(take_from(i), leaves_[i]->port->type());
  }
}

void gather_core::name_ports(std::vector<port_ref>& ports) const {
  for (const auto& l : leaves_) {
    ports.emplace_back(*l->port);
  }
}

} // namespace wharf::inline v1::detail

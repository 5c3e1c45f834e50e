// join_core.cpp -- see the head comment in detail/join_core.hpp.

#include <wharf/detail/join_core.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace wharf::inline v1::detail {

join_core::join_core(std::vector<port_ref> parts, std::size_t repeat,
                     std::int32_t priority, bool persistent)
    : receiver{priority, {.wide = true}}, persistent_{persistent},
      unit_size_{parts.size() == 1 ? repeat : parts.size()},
      refs_{std::move(parts)} {
  if (unit_size_ == 0) {
    throw std::invalid_argument{
        "a join of no messages would fire for ever: name at least one"};
  }
  for (const port_ref& ref : refs_) {
    ports_.push_back(ref.get());
  }
  std::sort(ports_.begin(), ports_.end(), std::less<>{});
  ports_.erase(std::unique(ports_.begin(), ports_.end()), ports_.end());
  parts_ = std::vector<part>(ports_.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].owner = this;
    parts_[i].port = ports_[i];
  }
  if (refs_.size() == 1) {
    parts_.front().need = repeat;
    return;
  }
  for (const port_ref& ref : refs_) {
    const auto index = static_cast<std::uint32_t>(
        std::lower_bound(ports_.begin(), ports_.end(), ref.get(),
                         std::less<>{}) -
        ports_.begin());
    order_.push_back(index);
    ++parts_[index].need;
  }
}

join_core::part* join_core::lacking(const offered* m) noexcept {
  for (part& p : parts_) {
    const bool offered_here = m != nullptr && watched_ == &p;
    const std::size_t there =
        offered_here ? p.port->available(*m) : p.port->unowned().size();
    if (there < p.need) {
      return &p;
    }
  }
  return nullptr;
}

message_list join_core::take() noexcept {
  message_list unit;
  for (std::size_t i = 0; i < unit_size_; ++i) {
    unit.push_back(part_of(i).port->unowned().pop_front());
  }
  return unit;
}

void join_core::watch(part& p) noexcept {
  if (watched_ == &p) {
    return;
  }
  if (watched_ != nullptr) {
    watched_->port->unlist(*this);
  }
  watched_ = &p;
  p.port->list(*this, p.place);
}

offer_result join_core::offer(decision& d, offered& m) noexcept {
  if (starved_.load(memory_order_relaxed)) {
    return offer_result::left; // it is about to leave
  }
  if (!d.try_extend(ports_)) {
    return offer_result::blocked;
  }
  if (part* p = lacking(&m)) {
    watch(*p);
    return offer_result::left;
  }
  if (!may_commit()) {
    return offer_result::left; // decided, or about to leave
  }
  if (!m.linked) {
    watched_->port->link(m);
  }
  message_list unit = take();
  if (persistent_) {
    for (part& p : parts_) {
      p.place = p.port->next_place();
    }
    watched_->port->unlist(*this);
    watched_->port->list(*this, watched_->place);
  } else {
    leave_locked();
  }
  committed(d, std::move(unit));
  for (part& p : parts_) {
    p.port->taken(d);
  }
  return offer_result::taken;
}

void join_core::arm(decision& d) {
  d.lock_all(ports_);
  part* lacks = lacking(nullptr);
  while (lacks == nullptr) {
    if (!may_commit()) {
      d.unlock();
      return;
    }
    committed(d, take());
    for (part& p : parts_) {
      p.port->taken(d);
    }
    if (!persistent_) {
      d.unlock();
      return;
    }
    lacks = lacking(nullptr);
  }
  for (part& p : parts_) {
    p.place = p.port->next_place();
    p.port->members().insert(p, counts_units());
  }
  armed_ = true;
  const bool hopeless =
      std::any_of(parts_.begin(), parts_.end(), [](const part& p) {
        return p.port->closed() && p.port->unowned().size() < p.need;
      });
  if (hopeless) {
    starve(d);
  } else {
    watch(*lacks);
  }
  d.unlock();
}

void join_core::leave_locked() noexcept {
  if (!armed_) {
    return;
  }
  armed_ = false;
  if (watched_ != nullptr) {
    watched_->port->unlist(*this);
    watched_ = nullptr;
  }
  for (part& p : parts_) {
    p.port->members().remove(p);
  }
}

void join_core::leave(decision& d) noexcept {
  d.lock_all(ports_);
  leave_locked();
  d.unlock();
}

void join_core::stop_watching(decision& d) noexcept {
  d.lock_all(ports_);
  if (watched_ != nullptr) {
    std::exchange(watched_, nullptr)->port->unlist(*this);
  }
  d.unlock();
}

void join_core::starve(decision& d, const part& p) noexcept {
  if (p.port->unowned().size() < p.need) {
    starve(d);
  }
}

void join_core::starve(decision& d) noexcept {
  if (!starved_.exchange(true, memory_order_acq_rel)) {
    starved(d);
  }
}

void join_core::give_back(decision& d, message_list units) noexcept {
  // One list a port; the order within each is kept.
  std::vector<message_list> lists(parts_.size());
  for (std::size_t i = 0; message_node* node = units.pop_front(); ++i) {
    lists[static_cast<std::size_t>(&part_of(i) - parts_.data())].push_back(
        node);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    d.lock_with_watched(*parts_[i].port);
    parts_[i].port->give_back(d, std::move(lists[i]));
    d.unlock();
  }
}

void join_core::hold(const message_list& unit) noexcept {
  const std::size_t units = unit.size() / unit_size_;
  for (part& p : parts_) {
    p.port->hold(p.need * units);
  }
}

void join_core::release(const message_list& unit) noexcept {
  const std::size_t units = unit.size() / unit_size_;
  for (part& p : parts_) {
    p.port->release(p.need * units);
  }
}

void join_core::destroy(message_list units) noexcept {
  for (std::size_t i = 0; message_node* node = units.pop_front(); ++i) {
    part_of(i).port->type().destroy(node);
  }
}

void join_core::name_ports(std::vector<port_ref>& ports) const {
  for (port_core* port : ports_) {
    ports.emplace_back(*port);
  }
}

// One-time.

void join_branch::committed(decision& d, message_list unit) noexcept {
  taken_ = std::move(unit);
  if (root().in_group()) {
    hold(taken_);
  }
  d.settle(root());
}

void join_branch::give_back_taken(decision& d) noexcept {
  give_back(d, std::move(taken_)); // they are counted still
}

message_list join_branch::take_unit() noexcept {
  if (root().in_group()) {
    release(taken_);
  }
  return std::move(taken_);
}

// Persistent.

void join_pump::activate(bool linked) {
  decision d;
  if (!linked && leave_once()) {
    const lock_guard lock{mutex_};
    pump::leave_locked();
    d.settle(*this);
  }
  if (left()) {
    return;
  }
  arm(d);
  if (left()) {
    // Cancelled while arming: the canceller may have been too early to see
    // the watch, and is done with the ports once they are locked again.
    leave(d);
  }
}

void join_pump::committed(decision& d, message_list unit) noexcept {
  committed_.store(committed_.load(memory_order_relaxed) + 1,
                   memory_order_relaxed);
  const lock_guard lock{mutex_};
  accept_locked(d, std::move(unit));
}

void join_pump::starved(decision& d) noexcept {
  {
    const lock_guard lock{mutex_};
    close_locked();
  }
  d.revisit(*this);
}

void join_pump::settle(decision& d) noexcept {
  stop_watching(d);
  mutex_.lock();
  const last_one last = try_finish_locked();
  mutex_.unlock();
  if (last.out) {
    leave_once();
    leave(d);
    finish_pinned(last.keep_reference);
  }
}

void join_pump::leave_ports() noexcept {
  decision d;
  leave(d);
}

bool join_pump::cancel() noexcept {
  if (!leave_once()) {
    return false;
  }
  decision d;
  // The ports' own counters take over what waits before the join, which
  // counted it so far, is no member any more.
  d.lock_all(lock_set());
  mutex_.lock();
  message_list back = pump::leave_locked();
  mutex_.unlock();
  hold(back);
  started_.fetch_add(back.size() / unit_size(), memory_order_relaxed);
  join_core::leave_locked();
  d.unlock();
  give_back(d, std::move(back));
  mutex_.lock();
  const last_one last = try_finish_locked();
  mutex_.unlock();
  if (last.out) {
    finish_pinned(last.keep_reference);
  }
  return true;
}

} // namespace wharf::inline v1::detail

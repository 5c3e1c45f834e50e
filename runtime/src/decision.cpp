// decision.cpp -- one event carried through; the head comment is in
// detail/decision.hpp, the proof in docs/architecture.md.

#include <wharf/detail/decision.hpp>

#include <wharf/detail/queue_core.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace wharf::inline v1::detail {
namespace {

constinit thread_local bool inside_predicate = false;

} // namespace

bool lock_set::contains(const port_core& port) const noexcept {
  const auto ports = all();
  return std::find(ports.begin(), ports.end(), &port) != ports.end();
}

void lock_set::add(port_core& port) {
  if (!spilled_.empty()) {
    spilled_.push_back(&port);
  } else if (size_ < inline_.size()) {
    inline_[size_] = &port;
  } else {
    spilled_.assign(inline_.begin(), inline_.end());
    spilled_.push_back(&port);
  }
  ++size_;
}

void lock_set::clear() noexcept {
  size_ = 0;
  spilled_.clear();
}

void lock_set::sort() noexcept {
  auto* ports = spilled_.empty() ? inline_.data() : spilled_.data();
  std::sort(ports, ports + size_, std::less<>{});
}

void decision::lock(port_core& port) noexcept {
  port.mutex_.lock();
  first_ = &port;
}

void decision::lock_all(std::span<port_core* const> ports) {
  for (port_core* port : ports) {
    more_.add(*port);
    port->mutex_.lock();
  }
}

bool decision::try_extend(std::span<port_core* const> ports) {
  for (port_core* port : ports) {
    if (port == first_ || more_.contains(*port)) {
      continue;
    }
    if (!port->mutex_.try_lock()) {
      wanted_.clear();
      for (port_core* each : ports) {
        wanted_.add(*each);
      }
      return false;
    }
    try {
      more_.add(*port);
    } catch (...) {
      port->mutex_.unlock();
      throw;
    }
  }
  return true;
}

void decision::relock() {
  if (first_ != nullptr && !wanted_.contains(*first_)) {
    wanted_.add(*first_);
  }
  for (port_core* port : more_.all()) {
    if (!wanted_.contains(*port)) {
      wanted_.add(*port);
    }
  }
  unlock();
  wanted_.sort();
  std::swap(more_, wanted_);
  wanted_.clear();
  for (port_core* port : more_.all()) {
    port->mutex_.lock();
  }
}

void decision::lock_with_watched(port_core& port) noexcept {
  lock(port);
  // While the port's lock is held nobody starts to watch it, so the locks
  // gathered here serve every offer that follows.
  const auto extended = [&] {
    for (receiver* r = port.receivers_.front();
         r != nullptr && port.receivers_.wide() != 0;
         r = receiver_list::after(*r)) {
      if (!try_extend(r->lock_set())) {
        return false;
      }
    }
    return true;
  };
  while (!extended()) {
    relock();
  }
}

void decision::unlock() noexcept {
  if (first_ != nullptr) {
    std::exchange(first_, nullptr)->mutex_.unlock();
  }
  if (more_.size() != 0) {
    for (port_core* port : more_.all()) {
      port->mutex_.unlock();
    }
    more_.clear();
  }
}

void decision::settle(arbiter& a) noexcept {
  a.next_to_settle_ = nullptr;
  (to_settle_ ? last_to_settle_->next_to_settle_ : to_settle_) = &a;
  last_to_settle_ = &a;
}

void decision::revisit(arbiter& a) noexcept {
  a.add_ref();
  a.revisited_ = true;
  settle(a);
}

void decision::failed(arbiter& owner, port_core& port,
                      std::exception_ptr error) noexcept {
  owner.queue().add_ref();
  failures_.push_back(
      {&owner.queue(), &port, owner.armed_under(), std::move(error)});
}

void decision::finish() noexcept {
  unlock();
  while (to_settle_ != nullptr) {
    arbiter* next = std::exchange(to_settle_, to_settle_->next_to_settle_);
    const bool referenced = std::exchange(next->revisited_, false);
    next->settle(*this);
    unlock();
    if (referenced) {
      next->drop_ref();
    }
  }
  while (work_item* item = work_.pop_front()) {
    item->queue().enqueue(*item);
  }
  if (!failures_.empty()) {
    for (failure& each : std::exchange(failures_, {})) {
      const context_scope of_activator{std::move(each.under)};
      each.queue->report(std::move(each.error), {&each.port, 1});
      each.queue->drop_ref();
    }
  }
}

void refuse_in_predicate() {
  if (inside_predicate) {
    throw std::logic_error{
        "a predicate runs under its port's lock and may call nothing of Wharf"};
  }
}

predicate_scope::predicate_scope() noexcept {
  inside_predicate = true;
}
predicate_scope::~predicate_scope() {
  inside_predicate = false;
}

} // namespace wharf::inline v1::detail

// How an interleave takes members in: all at its activation, further ones while
// it runs. See COMBINE in detail/interleave_core.hpp.

#include <wharf/detail/interleave_core.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace wharf::inline v1::detail {

interleave_core& expect_interleave(arbiter& a) {
  interleave_core* const core = a.as_interleave();
  if (core == nullptr) {
    throw std::logic_error{"combine: what was activated on queue \"" +
                           a.queue().name() + "\" is not an interleave"};
  }
  return *core;
}

void interleave_parts::add(std::unique_ptr<interleave_member> member,
                           group_kind kind) {
  std::vector<port_ref> ports;
  member->name_ports(ports);
  ports_.add(ports);
  member->kind_ = kind;
  members_.push_back(std::move(member));
  if (members_.size() > 1) {
    members_[members_.size() - 2]->next_ = members_.back().get();
  }
}

interleave_core::interleave_core(queue_core& queue, interleave_parts parts)
    : arbiter{queue} {
  take_in_locked(parts); // nobody else knows it yet
}

interleave_group*
interleave_core::group_of(const interleave_member& member) noexcept {
  switch (member.kind_) {
  case group_kind::exclusive:
    return &exclusive_;
  case group_kind::concurrent:
    return &concurrent_;
  case group_kind::teardown:
    break;
  }
  return nullptr;
}

void interleave_core::take_in_locked(interleave_parts& parts) {
  // First what may throw: it changes nothing that anybody sees.
  for (const auto& member : parts.members_) {
    if (interleave_group* const group = group_of(*member)) {
      group->make_room(*member);
    }
  }
  const std::size_t before = members_.size();
  members_.insert(members_.end(),
                  std::make_move_iterator(parts.members_.begin()),
                  std::make_move_iterator(parts.members_.end()));
  for (std::size_t i = before; i < members_.size(); ++i) {
    interleave_member& member = *members_[i];
    member.owner_ = this;
    if (interleave_group* const group = group_of(member)) {
      group->add(member);
    }
  }
  ports_.merge(parts.ports_);
  closes_at_end_ = closes_at_end_ || parts.closes_;
  cancels_ = cancels_ || parts.cancels_;
}

void interleave_core::let_go_locked(interleave_parts& gone) noexcept {
  for (auto& member : members_) {
    if (member->running_ == 0 && member->spent()) {
      if (interleave_group* const group = group_of(*member)) {
        group->remove(*member);
      }
      gone.members_.push_back(std::move(member));
    }
  }
  std::erase(members_, nullptr);
  ended_ -= gone.members_.size();
  ports_.hand_over_forgotten(gone.ports_);
  crowd_ = std::max(least_crowd, 2 * members_.size());
}

void interleave_core::activate(bool linked) {
  if (!linked) {
    cancel();
  }
  arm(members_.empty() ? nullptr : members_.front().get());
}

bool interleave_core::combine(interleave_parts parts) {
  interleave_member* const first =
      parts.members_.empty() ? nullptr : parts.members_.front().get();
  interleave_parts gone;
  {
    const lock_guard lock{mutex_};
    if (phase_ != phase::open) {
      return false;
    }
    const bool crowded = arming_ == 0 && members_.size() >= crowd_;
    if (crowded) {
      gone.members_.reserve(members_.size()); // may throw, so before the rest
    }
    take_in_locked(parts);
    if (crowded) {
      let_go_locked(gone);
    }
    ++arming_;
  }
  {
    decision d;
    for (const auto& member : gone.members_) {
      member->leave(d); // a join is known to its ports until then
    }
  }
  arm(first);
  return true;
}

void interleave_core::arm(interleave_member* first) {
  decision d;
  std::exception_ptr failure;
  for (interleave_member* m = first; m != nullptr; m = m->next_) {
    try {
      m->arm(d, active());
    } catch (...) {
      d.unlock();
      failure = std::current_exception();
      cancel(); // those that follow register no more
    }
  }
  mutex_.lock();
  if (phase_ != phase::open) {
    mutex_.unlock();
    for (interleave_member* m = first; m != nullptr; m = m->next_) {
      m->leave(d); // it may have registered after it was made to leave
    }
    mutex_.lock();
  }
  --arming_;
  mutex_.unlock();
  go_on(d);
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

} // namespace wharf::inline v1::detail

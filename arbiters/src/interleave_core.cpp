// interleave_core.cpp -- see the head comment in detail/interleave_core.hpp.

#include <wharf/detail/interleave_core.hpp>

#include <wharf/detail/queue_end.hpp>

#include <utility>

namespace wharf::inline v1::detail {

void interleave_core::be_fair(fairness_rule rule,
                              std::uint32_t exclusives_in_a_row) {
  rule_ = rule;
  row_max_ = exclusives_in_a_row;
  if (rule == fairness_rule::arrival) {
    arrivals_.emplace();
  }
}

bool interleave_core::startable_locked() const noexcept {
  if (phase_ != phase::open) {
    return phase_ == phase::tearing && members_left_ && teardown_ != nullptr &&
           idle_locked() && claims_ == 0 && arming_ == 0;
  }
  const interleave_group* const turn = turn_locked();
  return turn != nullptr && !exclusive_running_ &&
         (turn == &concurrent_ ? concurrent_.startable()
                               : concurrent_running_ == 0);
}

const interleave_group* interleave_core::turn_locked() const noexcept {
  if (arrivals_) {
    return arrivals_->first();
  }
  const bool row_is_full = rule_ == fairness_rule::bounded && row_ >= row_max_;
  if (concurrent_.waiting() != 0 &&
      (exclusive_.waiting() == 0 || concurrent_.in_batch() || row_is_full)) {
    return &concurrent_;
  }
  return exclusive_.waiting() != 0 ? &exclusive_ : nullptr;
}

interleave_core::pick interleave_core::pick_locked() noexcept {
  if (phase_ != phase::open || !startable_locked()) {
    return {};
  }
  const bool exclusive = turn_locked() == &exclusive_;
  if (arrivals_) {
    arrivals_->started();
  }
  if (exclusive) {
    ++row_;
    exclusive_running_ = true;
    return {&exclusive_.next(), true};
  }
  if (rule_ == fairness_rule::bounded && exclusive_.waiting() != 0 &&
      !concurrent_.in_batch()) {
    concurrent_.begin_batch();
  }
  row_ = 0;
  ++concurrent_running_;
  return {&concurrent_.next(), false};
}

void interleave_core::wake_locked(decision& d) noexcept {
  if (!queued_ && startable_locked()) {
    queued_ = true;
    d.schedule(*this);
  }
}

void interleave_core::arrived_locked(decision& d, interleave_member& member,
                                     group_kind kind) noexcept {
  interleave_group& group =
      kind == group_kind::exclusive ? exclusive_ : concurrent_;
  group.arrived(member);
  if (arrivals_) {
    arrivals_->arrived(group);
  }
  wake_locked(d);
}

/// Only one decision at a time may have it in its notes.
void interleave_core::note_locked(decision& d) noexcept {
  if (!std::exchange(noted_, true)) {
    d.revisit(*this);
  }
}

void interleave_core::ended_locked(decision& d) noexcept {
  if (++ended_ == members_.size() && phase_ == phase::open) {
    note_locked(d);
  }
}

void interleave_core::begin_teardown_locked() noexcept {
  phase_ = phase::tearing;
  open_.store(false, memory_order_release);
}

void interleave_core::teardown_ready_locked(one_time& root,
                                            decision& d) noexcept {
  teardown_ = &root;
  note_locked(d);
}

void interleave_core::claim_ends_locked(decision& d) noexcept {
  if (--claims_ == 0 && phase_ != phase::open && members_left_) {
    note_locked(d);
  }
}

void interleave_core::members_leave(decision& d) noexcept {
  for (const auto& member : members_) {
    member->leave(d);
  }
  const lock_guard lock{mutex_};
  exclusive_.clear();
  concurrent_.clear();
  members_left_ = true;
}

void interleave_core::settle(decision& d) noexcept {
  mutex_.lock();
  noted_ = false;
  mutex_.unlock();
  go_on(d);
}

/// What the interleave does between its phases; also called when nothing is to
/// be done.
void interleave_core::go_on(decision& d) noexcept {
  bool leave = false;
  bool tearing = false;
  {
    const lock_guard lock{mutex_};
    if (phase_ == phase::open) {
      if (ended_ != members_.size()) {
        return;
      }
      bool spent = inside_ == 0 && !queued_ && idle_locked();
      for (const auto& member : members_) {
        spent = spent && member->spent();
      }
      if (!spent) {
        return; // the worker that runs the last unit comes back
      }
      phase_ = phase::leaving;
      open_.store(false, memory_order_release);
    }
    if (finished_ || (phase_ == phase::tearing && teardown_ == nullptr)) {
      return;
    }
    leave = !std::exchange(leave_begun_, true);
    tearing = phase_ == phase::tearing;
  }
  if (leave) {
    members_leave(d);
    if (tearing && cancels_) {
      scope_.set_cancelled();
      queue().cancel_all(scope_);
    }
  }
  mutex_.lock();
  wake_locked(d);
  const bool last = try_finish_locked();
  const bool keep = queued_;
  mutex_.unlock();
  if (last) {
    finish_pinned(keep);
  }
}

bool interleave_core::try_finish_locked() noexcept {
  const bool over = phase_ == phase::leaving && members_left_ && arming_ == 0 &&
                    inside_ == 0 && idle_locked() && claims_ == 0 && !finished_;
  if (over) {
    finished_ = true;
    add_ref(); // for finish_pinned()
  }
  return over;
}

bool interleave_core::end_with_queue(port_names* names) noexcept {
  {
    const lock_guard lock{mutex_};
    if (phase_ != phase::open) {
      return false;
    }
    phase_ = phase::leaving;
    open_.store(false, memory_order_release);
  }
  if (names != nullptr) {
    for (const auto& member : members_) { // they stay until they have left
      names->of(*member);
    }
  }
  decision d;
  go_on(d);
  return true;
}

void interleave_core::close_ports() noexcept {
  if (!closes_at_end_) {
    return;
  }
  // First all close: a gather that ends with the last of them gives back to
  // those before.
  for (const port_ref& port : ports_) {
    port->close();
  }
  for (const port_ref& port : ports_) {
    port->clear();
  }
}

void interleave_core::run_teardown(turn& budget) noexcept {
  one_time& root = *std::exchange(teardown_, nullptr);
  ++concurrent_running_; // nobody finishes under it
  mutex_.unlock();
  const handled outcome = root.run_branch(budget);
  if (outcome == handled::over) {
    close_ports();
  }
  mutex_.lock();
  if (outcome == handled::over) {
    --concurrent_running_;
    phase_ = phase::leaving;
  }
}

void interleave_core::teardown_over() noexcept {
  close_ports();
  mutex_.lock();
  --concurrent_running_;
  phase_ = phase::leaving;
  look_after();
}

void interleave_core::free_slot_locked(interleave_member& member) noexcept {
  --member.running_;
  if (member.kind_ == group_kind::exclusive) {
    exclusive_running_ = false;
  } else {
    --concurrent_running_;
  }
}

void interleave_core::slot_over(interleave_member& member) noexcept {
  mutex_.lock();
  free_slot_locked(member);
  look_after();
}

void interleave_core::run(turn& budget) noexcept {
  mutex_.lock();
  queued_ = false;
  if (finished_) {
    mutex_.unlock();
    drop_ref();
    return;
  }
  ++inside_;
  while (!budget.over() && queue().runnable()) {
    if (phase_ == phase::tearing && startable_locked()) {
      run_teardown(budget);
      break;
    }
    const pick next = pick_locked();
    if (next.member == nullptr) {
      break;
    }
    message_list unit = next.member->take_unit();
    ++next.member->running_;
    const bool help =
        !next.exclusive && !queued_ && startable_locked() && queue().parallel();
    queued_ = queued_ || help;
    mutex_.unlock();
    if (help) {
      queue().enqueue(*this, placement::back);
    }
    const handled outcome = next.member->run(std::move(unit), budget);
    mutex_.lock();
    if (outcome == handled::over) {
      free_slot_locked(*next.member);
    }
  }
  --inside_;
  look_after();
}

/// A slot has become free, or a worker leaves: who may start now, and is this
/// the end? Requires mutex_, which it releases.
void interleave_core::look_after() noexcept {
  const bool again = !queued_ && startable_locked();
  queued_ = queued_ || again;
  const bool spent = phase_ == phase::open && ended_ == members_.size();
  const bool last = try_finish_locked();
  const bool keep = queued_;
  if (spent) {
    add_ref(); // go_on() runs outside the lock
  }
  mutex_.unlock();
  if (last) {
    finish_pinned(keep);
  }
  if (again) {
    queue().enqueue(*this, placement::back);
  }
  if (spent) {
    {
      decision d;
      go_on(d);
    }
    drop_ref();
  }
}

void interleave_core::discard() noexcept {
  mutex_.lock();
  queued_ = false;
  const bool orphan = finished_;
  one_time* torn = finished_ ? nullptr : std::exchange(teardown_, nullptr);
  if (torn != nullptr) {
    phase_ = phase::leaving;
  }
  const bool last = try_finish_locked();
  mutex_.unlock();
  if (torn != nullptr) {
    torn->discard();
  }
  if (last) {
    finish_pinned(false);
  } else if (orphan) {
    drop_ref();
  }
}

} // namespace wharf::inline v1::detail

// See the head comment in detail/one_time.hpp.

#include <wharf/detail/one_time.hpp>

#include <wharf/detail/queue_end.hpp>

namespace wharf::inline v1::detail {

context_ref branch::under() noexcept {
  return root_->armed_under();
}

bool one_time::claim(branch* winner) noexcept {
  return sink_ != nullptr ? !decided() && sink_->claim(*this, winner)
                          : claim_word(winner);
}

bool one_time::claim_word(branch* winner) noexcept {
  std::uint32_t state = state_.load(memory_order_relaxed);
  while ((state & bit_decided) == 0) {
    // acq_rel: what the winner takes is ordered after every earlier look.
    if (state_.compare_exchange_weak(state, state | bit_decided,
                                     memory_order_acq_rel,
                                     memory_order_relaxed)) {
      winner_ = winner;
      return true;
    }
  }
  return false;
}

void one_time::add(branch& b) noexcept {
  b.root_ = this;
  (first_ ? last_->next_ : first_) = &b;
  last_ = &b;
  live_.store(live_.load(memory_order_relaxed) + 1, memory_order_relaxed);
}

void one_time::branch_died(decision& d) noexcept {
  if (live_.fetch_sub(1, memory_order_acq_rel) == 1 && claim(nullptr)) {
    d.settle(*this);
  }
}

void one_time::forget_branches() noexcept {
  live_.store(0, memory_order_relaxed);
  winner_ = first_ = last_ = nullptr;
}

void one_time::arm_branches(decision& d, bool timers) {
  for (branch* b = first_; b != nullptr && !decided(); b = b->next_) {
    if (b->is_timer() == timers) {
      b->arm(d);
    }
  }
}

void one_time::arm(decision& d, bool open,
                   std::exception_ptr& failure) noexcept {
  const auto end_unfired = [&] {
    if (claim(nullptr)) {
      d.settle(*this);
    }
  };
  const auto armed = [&] {
    const std::uint32_t before =
        state_.fetch_and(~bit_arming, memory_order_acq_rel);
    if ((before & bit_handed_over) != 0) {
      d.settle(*this);
    }
  };
  if (!open || first_ == nullptr) {
    end_unfired();
  }
  try {
    arm_branches(d, false);
    arm_branches(d, true);
  } catch (...) {
    d.unlock();
    failure = std::current_exception();
    end_unfired();
  }
  armed(); // who sees this may go on: nothing is written after it
}

void one_time::activate(bool linked) {
  std::exception_ptr failure;
  {
    decision d;
    arm(d, linked, failure);
  }
  if (failure != nullptr) {
    std::rethrow_exception(failure);
  }
}

void one_time::settle(decision& d) noexcept {
  const std::uint32_t before =
      state_.fetch_or(bit_handed_over, memory_order_acq_rel);
  if ((before & bit_arming) != 0) {
    return; // arm() will see bit 2 and settle
  }
  for (branch* b = first_; b != nullptr; b = b->next_) {
    if (b == winner_) {
      b->won(d);
    } else {
      b->disarm(d);
    }
  }
  settled(d);
}

void one_time::settled(decision& d) noexcept {
  if (winner_ == nullptr) {
    finish();
    if (sink_ != nullptr) {
      sink_->unfired(d);
    }
  } else if (sink_ != nullptr) {
    sink_->ready(*this, d);
  } else {
    d.schedule(*this);
  }
}

bool one_time::cancel() noexcept {
  return end_with_queue(nullptr);
}

bool one_time::end_with_queue(port_names* names) noexcept {
  if (!claim(nullptr)) {
    return false;
  }
  if (names != nullptr) {
    names->of(*this); // it ends only when it is settled
  }
  decision d;
  d.settle(*this);
  return true;
}

handled one_time::run_branch(turn& budget) noexcept {
  budget.spend();
  const context_scope scope{winner_->under()};
  try {
    if (winner_->run(budget) == handled::goes_on) {
      return handled::goes_on; // it may have ended, and this with it
    }
  } catch (...) {
    queue().report(std::current_exception());
  }
  finish();
  return handled::over;
}

void one_time::handler_ended(std::exception_ptr failure) noexcept {
  if (failure != nullptr) {
    queue().report(std::move(failure));
  }
  unit_sink* const sink = sink_;
  finish();
  if (sink != nullptr) {
    sink->ended(*this);
  }
}

void one_time::discard() noexcept {
  queue().count_discarded();
  winner_->destroy_taken();
  finish();
}

void one_time::give_back_taken(decision& d) noexcept {
  winner_->give_back_taken(d);
  finish();
}

void one_time::name_ports(std::vector<port_ref>& ports) const {
  for (const branch* b = first_; b != nullptr; b = b->next_) {
    b->name_ports(ports);
  }
}

} // namespace wharf::inline v1::detail

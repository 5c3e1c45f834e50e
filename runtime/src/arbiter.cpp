// The common end of everything that is activated.

#include <wharf/detail/arbiter.hpp>

#include <wharf/detail/queue_core.hpp>

#include <utility>

namespace wharf::inline v1::detail {

arbiter::arbiter(queue_core& queue) noexcept
    : work_item{queue}, under_{current_context()} {
  queue.add_ref();
}

arbiter::~arbiter() {
  queue_->drop_ref();
}

void arbiter::drop_ref() noexcept {
  if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) {
    delete this;
  }
}

void arbiter::finish_pinned(bool keep_reference) noexcept {
  keep_reference_ = keep_reference;
  bury(*this);
}

void arbiter::perish() noexcept {
  destroy_payload();
  payload_destroyed();
  under_ = context_ref{};
  const bool keep = keep_reference_;
  queue_->end(*this);
  ended_.notify_all();
  if (!keep) {
    drop_ref();
  }
  drop_ref(); // the one that finish() took
}

bool arbiter::listen(end_listener& who) noexcept {
  const lock_guard lock{queue_->list_mutex_};
  if (ended()) {
    return false;
  }
  who.next_ = std::exchange(listeners_, &who);
  if (who.next_ != nullptr) {
    who.next_->previous_ = &who;
  }
  who.listening_ = true;
  return true;
}

void arbiter::stop_listening(end_listener& who) noexcept {
  const lock_guard lock{queue_->list_mutex_};
  if (who.listening_) {
    who.listening_ = false;
    (who.previous_ ? who.previous_->next_ : listeners_) = who.next_;
    if (who.next_ != nullptr) {
      who.next_->previous_ = who.previous_;
    }
  }
}

void arbiter::end_locked(decision& d) noexcept {
  // release: who sees the end sees the payload destroyed.
  ended_.store(1, memory_order_release);
  while (end_listener* who = listeners_) {
    listeners_ = who->next_;
    if (listeners_ != nullptr) {
      listeners_->previous_ = nullptr;
    }
    who->listening_ = false;
    who->heard_end(d);
  }
}

void arbiter_list::push_back(arbiter& a) noexcept {
  a.previous_ = tail_;
  a.next_ = nullptr;
  (tail_ ? tail_->next_ : head_) = &a;
  tail_ = &a;
  a.linked_ = true;
  ++size_;
}

void arbiter_list::remove(arbiter& a) noexcept {
  if (!a.linked_) {
    return;
  }
  (a.previous_ ? a.previous_->next_ : head_) = a.next_;
  (a.next_ ? a.next_->previous_ : tail_) = a.previous_;
  a.linked_ = false;
  --size_;
}

} // namespace wharf::inline v1::detail

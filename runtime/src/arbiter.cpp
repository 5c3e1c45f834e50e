// The common end of everything that is activated.

#include <wharf/detail/arbiter.hpp>

#include <wharf/detail/queue_core.hpp>

namespace wharf::inline v1::detail {

arbiter::arbiter(queue_core& queue) noexcept : work_item{queue} {
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
  queue_->unlink(*this);
  const bool keep = keep_reference_;
  // release: who sees the end sees the payload destroyed.
  ended_.store(1, memory_order_release);
  ended_.notify_all();
  if (!keep) {
    drop_ref();
  }
  drop_ref(); // the one that finish() took
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

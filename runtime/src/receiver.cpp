// The order in which a port asks its receivers.

#include <wharf/detail/receiver.hpp>

namespace wharf::inline v1::detail {

void receiver_list::insert(receiver& r, std::uint64_t place) noexcept {
  r.place_ = place;
  receiver* before = tail_;
  while (before != nullptr &&
         (before->priority_ < r.priority_ ||
          (before->priority_ == r.priority_ && before->place_ > place))) {
    before = before->previous_;
  }
  r.previous_ = before;
  r.next_ = before != nullptr ? before->next_ : head_;
  (r.next_ ? r.next_->previous_ : tail_) = &r;
  (before ? before->next_ : head_) = &r;
  r.listed_ = true;
  wide_ += r.traits_.wide ? 1 : 0;
  asking_ += r.traits_.asks ? 1 : 0;
  holders_ += r.traits_.holds ? 1 : 0;
}

void receiver_list::remove(receiver& r) noexcept {
  if (!r.listed_) {
    return;
  }
  (r.previous_ ? r.previous_->next_ : head_) = r.next_;
  (r.next_ ? r.next_->previous_ : tail_) = r.previous_;
  r.previous_ = r.next_ = nullptr;
  r.listed_ = false;
  wide_ -= r.traits_.wide ? 1 : 0;
  asking_ -= r.traits_.asks ? 1 : 0;
  holders_ -= r.traits_.holds ? 1 : 0;
}

std::size_t receiver_list::holding() const noexcept {
  std::size_t count = 0;
  std::size_t left = holders_;
  for (const receiver* r = head_; left != 0; r = r->next_) {
    if (r->traits_.holds) {
      count += r->holding();
      --left;
    }
  }
  return count;
}

void member_list::insert(port_member& m, bool holds) noexcept {
  m.holds_ = holds;
  m.previous_member_ = holds ? nullptr : last_holder_;
  m.next_member_ =
      m.previous_member_ != nullptr ? last_holder_->next_member_ : head_;
  (m.previous_member_ ? m.previous_member_->next_member_ : head_) = &m;
  if (m.next_member_ != nullptr) {
    m.next_member_->previous_member_ = &m;
  }
  if (holds && last_holder_ == nullptr) {
    last_holder_ = &m;
  }
}

void member_list::remove(port_member& m) noexcept {
  if (last_holder_ == &m) {
    last_holder_ = m.previous_member_; // a holder too, or nobody
  }
  (m.previous_member_ ? m.previous_member_->next_member_ : head_) =
      m.next_member_;
  if (m.next_member_ != nullptr) {
    m.next_member_->previous_member_ = m.previous_member_;
  }
  m.previous_member_ = m.next_member_ = nullptr;
}

bool member_list::may_take() const noexcept {
  for (const port_member* m = head_; m != nullptr; m = m->next_member_) {
    if (m->may_take()) {
      return true;
    }
  }
  return false;
}

std::size_t member_list::holding() const noexcept {
  std::size_t count = 0;
  for (const port_member* m = head_; m != nullptr && m->holds_;
       m = m->next_member_) {
    count += m->holding();
  }
  return count;
}

} // namespace wharf::inline v1::detail

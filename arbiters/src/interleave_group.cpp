// See detail/interleave_group.hpp.

#include <wharf/detail/interleave_group.hpp>

#include <wharf/detail/interleave_core.hpp>

#include <algorithm>

namespace wharf::inline v1::detail {

void interleave_group::make_room(const interleave_member& member) {
  const auto at = std::find_if(
      classes_.begin(), classes_.end(),
      [&](const priority_class& c) { return c.priority <= member.priority(); });
  if (at == classes_.end() || at->priority != member.priority()) {
    classes_.insert(at, {member.priority(), 0, nullptr});
  } else if (at->only != nullptr) {
    if (at->waiting != 0) {
      at->log.push_back({at->only, at->waiting});
    }
    at->only = nullptr;
  }
}

void interleave_group::add(interleave_member& member) noexcept {
  priority_class& c = *class_of(member);
  c.only = ++c.members == 1 ? &member : nullptr;
}

void interleave_group::remove(const interleave_member& member) noexcept {
  const auto c = class_of(member);
  if (--c->members == 0) {
    classes_.erase(c);
  }
}

std::vector<interleave_group::priority_class>::iterator
interleave_group::class_of(const interleave_member& member) noexcept {
  auto c = classes_.begin();
  while (c->priority != member.priority()) {
    ++c;
  }
  return c;
}

void interleave_group::arrived(interleave_member& member) {
  priority_class& c = *class_of(member);
  if (c.only == nullptr) {
    if (!c.log.empty() && c.log.back().member == &member) {
      ++c.log.back().units;
    } else {
      c.log.push_back({&member, 1});
    }
  }
  ++c.waiting;
  ++waiting_;
}

interleave_member* interleave_group::next() noexcept {
  for (priority_class& c : classes_) {
    if (batch_ != 0 ? c.batch == 0 : c.waiting == 0) {
      continue;
    }
    interleave_member* member = c.only;
    if (member == nullptr) {
      run& oldest = c.log.front();
      member = oldest.member;
      if (--oldest.units == 0) {
        c.log.pop_front();
      }
    }
    if (batch_ != 0) {
      --c.batch;
      --batch_;
    }
    --c.waiting;
    --waiting_;
    return member;
  }
  return nullptr;
}

void interleave_group::begin_batch() noexcept {
  for (priority_class& c : classes_) {
    c.batch = c.waiting;
  }
  batch_ = waiting_;
}

void interleave_group::clear() noexcept {
  for (priority_class& c : classes_) {
    c.log.clear();
    c.waiting = c.batch = 0;
  }
  waiting_ = batch_ = 0;
}

void arrival_log::arrived(const interleave_group& group) {
  if (!log_.empty() && log_.back().group == &group) {
    ++log_.back().units;
  } else {
    log_.push_back({&group, 1});
  }
}

const interleave_group* arrival_log::first() const noexcept {
  return log_.empty() ? nullptr : log_.front().group;
}

void arrival_log::started() noexcept {
  if (--log_.front().units == 0) {
    log_.pop_front();
  }
}

} // namespace wharf::inline v1::detail

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
  serials_ += member.serial() ? 1 : 0;
}

void interleave_group::remove(const interleave_member& member) noexcept {
  const auto c = class_of(member);
  serials_ -= member.serial() ? 1 : 0;
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

interleave_group::place interleave_group::first() const noexcept {
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const priority_class& c = classes_[i];
    std::size_t units = batch_ != 0 ? c.batch : c.waiting;
    if (c.only != nullptr) {
      if (units != 0 && c.only->may_start()) {
        return {c.only, i, 0};
      }
      continue;
    }
    for (std::size_t at = 0; units != 0; ++at) {
      const run& next = c.log[at];
      if (next.member->may_start()) {
        return {next.member, i, at};
      }
      units -= std::min(units, next.units);
    }
  }
  return {};
}

interleave_member& interleave_group::next() noexcept {
  const place of = first();
  priority_class& c = classes_[of.in_classes];
  if (c.only == nullptr) {
    count_out(c.log, of.in_log);
  }
  if (batch_ != 0) {
    --c.batch;
    --batch_;
  }
  --c.waiting;
  --waiting_;
  return *of.member;
}

/// Runs of one member that come together become one, so that who has to wait is
/// passed over in few steps.
void interleave_group::count_out(std::deque<run>& log,
                                 std::size_t at) noexcept {
  if (--log[at].units != 0) {
    return;
  }
  const bool between = at != 0 && at + 1 != log.size() &&
                       log[at - 1].member == log[at + 1].member;
  if (between) {
    log[at + 1].units += log[at - 1].units;
  }
  const auto gone = log.begin() + static_cast<std::ptrdiff_t>(at);
  log.erase(between ? gone - 1 : gone, gone + 1);
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

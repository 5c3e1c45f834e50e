#pragma once

// The waiting units of one group of an interleave: by priority, then in the
// order of arrival across all members of the group.

#include <wharf/detail/message.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace wharf::inline v1::detail {

class interleave_member;

/// All functions are called under the interleave's lock.
///
/// Each member keeps its own units in order; across members the group keeps a
/// log of runs ("three of this one, then one of that one"). A class with one
/// member needs no log.
class interleave_group {
public:
  /// Throws std::bad_alloc, in which case nothing has changed that counts.
  void make_room(const interleave_member& member);
  /// Requires: room was made for it.
  void add(interleave_member& member) noexcept;
  /// Requires: nothing of it waits, nor will.
  void remove(const interleave_member& member) noexcept;

  /// Throws std::bad_alloc, in which case nothing has changed.
  void arrived(interleave_member& member);

  /// Whether one of the units that wait may start beside those that run. Looks
  /// at more than a counter only if a member runs one at a time.
  bool startable() const noexcept {
    return waiting_ != 0 && (serials_ == 0 || first().member != nullptr);
  }
  /// The member whose unit is next. Counts it out. Requires: startable().
  interleave_member& next() noexcept;

  /// What waits now may run as one batch; what comes later is not in it.
  void begin_batch() noexcept;
  bool in_batch() const noexcept { return batch_ != 0; }

  std::size_t waiting() const noexcept { return waiting_; }
  void clear() noexcept;

private:
  struct run {
    interleave_member* member;
    std::size_t units;
  };
  struct priority_class {
    std::int32_t priority;
    std::size_t members;
    interleave_member* only; // if it has never had another; else the log counts
    std::size_t waiting = 0;
    std::size_t batch = 0; // of waiting, the first so many
    std::deque<run> log{};
  };

  struct place {
    interleave_member* member = nullptr;
    std::size_t in_classes = 0;
    std::size_t in_log = 0; // if its class has one
  };

  /// The unit that may start first; no member if there is none. Passes over at
  /// most one run of each member that has to wait.
  place first() const noexcept;
  void count_out(std::deque<run>& log, std::size_t at) noexcept;
  std::vector<priority_class>::iterator
  class_of(const interleave_member& member) noexcept;

  std::vector<priority_class> classes_; // descending
  std::size_t waiting_ = 0;
  std::size_t batch_ = 0;
  std::size_t serials_ = 0; // members that run one at a time
};

/// Whose units wait, in the order of arrival over all groups, as a log of runs.
/// Under the interleave's lock, too.
class arrival_log {
public:
  /// Throws std::bad_alloc, in which case nothing has changed.
  void arrived(const interleave_group& group);

  /// The group of the oldest; nullptr if nothing waits.
  const interleave_group* first() const noexcept;
  /// Counts that one out.
  void started() noexcept;

private:
  struct run {
    const interleave_group* group;
    std::size_t units;
  };

  std::deque<run> log_;
};

} // namespace wharf::inline v1::detail

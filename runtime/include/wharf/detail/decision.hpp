#pragma once

// The heart: what one thread decides while it holds the locks of ports, and
// what follows from it once they are released.

#include <wharf/detail/arbiter.hpp>
#include <wharf/detail/graveyard.hpp>
#include <wharf/detail/port_core.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <span>
#include <vector>

namespace wharf::inline v1::detail {

/// The ports that a decision has locked.
class lock_set {
public:
  bool contains(const port_core& port) const noexcept;
  void add(port_core& port);
  void clear() noexcept;
  std::size_t size() const noexcept { return size_; }
  std::span<port_core* const> all() const noexcept {
    return {spilled_.empty() ? inline_.data() : spilled_.data(), size_};
  }
  void sort() noexcept;

private:
  std::array<port_core*, 8> inline_;
  std::size_t size_ = 0;
  std::vector<port_core*> spilled_; // takes over beyond the array
};

/// One event (a post, an activation, a cancel, a close) carried through.
///
/// Under the locks it only relinks nodes and notes consequences; finish(),
/// which the destructor calls, releases the locks and then works off the
/// notes in a loop until none is left. A consequence may lock ports again and
/// add notes; nothing here recurses.
///
/// Thread safety: a decision lives on one thread's stack.
class decision {
public:
  decision() noexcept = default;
  ~decision() { finish(); }
  decision(const decision&) = delete;
  decision& operator=(const decision&) = delete;

  // Locks. The compiler can't follow them through loops and across objects;
  // these functions are the only ones that take locks of level 1 but for the
  // plain guards in port_core.

  /// Requires: no lock held by this decision.
  void lock(port_core& port) noexcept WHARF_UNCHECKED;
  /// `ports` ascending by address. Requires: no lock held.
  void lock_all(std::span<port_core* const> ports) WHARF_UNCHECKED;
  /// Adds ports without waiting. False: one was taken; then the caller gives
  /// up, answers `blocked`, and whoever drives the decision calls relock().
  bool try_extend(std::span<port_core* const> ports) WHARF_UNCHECKED;
  /// Releases everything and waits for all that was held or wanted, ascending.
  /// What was seen before is void afterwards.
  void relock() WHARF_UNCHECKED;
  /// Locks `port` and every port that a receiver of it may need, so that no
  /// offer is `blocked` and many can be made in one step. Requires: no lock
  /// held.
  void lock_with_watched(port_core& port) noexcept;
  void unlock() noexcept WHARF_UNCHECKED;

  // Notes.

  /// `a` runs on its queue once the locks are released.
  void schedule(work_item& item) noexcept {
    if (&item == at_hand_) {
      is_at_hand_ = true;
    } else {
      work_.push_back(item);
    }
  }
  /// If `item` is scheduled by this decision it is not put in line: the caller,
  /// who is running it, looks at at_hand() after finish() and goes on with it.
  void keep_at_hand(work_item& item) noexcept { at_hand_ = &item; }
  bool at_hand() const noexcept { return is_at_hand_; }
  /// `a.settle()` is called once the locks are released. The caller has claimed
  /// `a`, so nobody else ends it before.
  void settle(arbiter& a) noexcept;
  /// The same for one that others may end meanwhile: keeps a reference.
  void revisit(arbiter& a) noexcept;
  /// A predicate of `owner` has thrown, asked about a message of `port`.
  void failed(arbiter& owner, port_core& port,
              std::exception_ptr error) noexcept;

  /// Releases the locks and does what was noted.
  void finish() noexcept;

private:
  struct failure {
    queue_core* queue;
    port_core* port; // its address: no failure of its predicates goes there
    context_ref under;
    std::exception_ptr error;
  };

  burial deferred_; // ends last: what died meanwhile dies with no lock held
  port_core* first_ = nullptr; // the lock that nearly every decision needs
  lock_set more_;              // all others
  lock_set wanted_;
  work_list work_;
  work_item* at_hand_ = nullptr;
  bool is_at_hand_ = false;
  arbiter* to_settle_ = nullptr;
  arbiter* last_to_settle_ = nullptr;
  std::vector<failure> failures_;
};

/// Refuses calls from inside a predicate: it runs under a port's lock.
/// Throws std::logic_error.
void refuse_in_predicate();

/// Marks the calling thread as inside a predicate.
class predicate_scope {
public:
  predicate_scope() noexcept;
  ~predicate_scope();
  predicate_scope(const predicate_scope&) = delete;
  predicate_scope& operator=(const predicate_scope&) = delete;
};

} // namespace wharf::inline v1::detail

#pragma once

// The timers of one dispatcher: an intrusive heap over due times.

#include <wharf/detail/durations.hpp>
#include <wharf/detail/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wharf::inline v1::detail {

class decision;

/// One pending timer, embedded in what it fires.
class timer_entry {
public:
  bool armed() const noexcept { return index_ != not_armed; }

protected:
  timer_entry() noexcept = default;
  ~timer_entry() = default;
  timer_entry(const timer_entry&) = delete;
  timer_entry& operator=(const timer_entry&) = delete;

private:
  friend class timer_heap;
  static constexpr std::size_t not_armed = static_cast<std::size_t>(-1);

  /// Called under the heap's lock at or after the due time, the entry being
  /// out of the heap: notes what follows in `d`. Returns when it is due again,
  /// or time_point::max() if it is not.
  virtual time_point fire(decision& d, time_point due,
                          time_point now) noexcept = 0;

  time_point due_{};
  std::uint64_t number_ = 0; // order of arming, for equal due times
  std::size_t index_ = not_armed;
};

/// Thread safety: every member may be called from any thread.
/// Cost: arm and disarm are logarithmic in the pending timers.
class timer_heap {
public:
  /// Returns whether the entry is now the first to be due.
  /// Throws std::bad_alloc, in which case nothing has changed.
  bool arm(timer_entry& entry, time_point due) WHARF_EXCLUDES(mutex_);

  /// Afterwards the entry does not fire any more. Does nothing if it is not
  /// armed.
  void disarm(timer_entry& entry) noexcept WHARF_EXCLUDES(mutex_);

  /// Fires what is due at `now`, oldest first, at most `limit` entries.
  void fire_due(decision& d, time_point now, std::size_t limit) noexcept
      WHARF_EXCLUDES(mutex_);

  /// When the next entry is due; time_point::max() if none is.
  time_point next_due() const noexcept {
    return time_point{duration{next_due_.load(memory_order_acquire)}};
  }

  /// The same question as next_due() answers, but under the lock: who arms
  /// an entry afterwards sees what the caller did before.
  bool has_due(time_point now) const noexcept WHARF_EXCLUDES(mutex_);

  std::size_t size() const noexcept WHARF_EXCLUDES(mutex_);

private:
  static bool before(const timer_entry& a, const timer_entry& b) noexcept;
  void place(std::size_t index, timer_entry& entry) noexcept
      WHARF_REQUIRES(mutex_);
  void sift_up(std::size_t index, timer_entry& entry) noexcept
      WHARF_REQUIRES(mutex_);
  void sift_down(std::size_t index, timer_entry& entry) noexcept
      WHARF_REQUIRES(mutex_);
  void remove(timer_entry& entry) noexcept WHARF_REQUIRES(mutex_);
  void publish() noexcept WHARF_REQUIRES(mutex_);

  mutable mutex mutex_;
  std::vector<timer_entry*> heap_ WHARF_GUARDED_BY(mutex_);
  std::uint64_t last_number_ WHARF_GUARDED_BY(mutex_) = 0;
  atomic<duration::rep> next_due_{duration::max().count()};
};

} // namespace wharf::inline v1::detail

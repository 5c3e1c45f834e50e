#pragma once

// Sleeping and waking: which workers sleep, who of them watches, and who is
// woken for what.

#include <wharf/detail/sync.hpp>
#include <wharf/detail/timers.hpp>

#include <cstdint>
#include <vector>

namespace wharf::inline v1::detail {

class hand_set_time;
class worker;

/// SLEEP AND WAKE
///
///   pusher:  make the work visible [S1], then read word_ [S3]
///   worker:  change word_ [S4], then look at the work once more [S2], then
///            sleep
///
///   All four are sequentially consistent, so either the pusher sees the
///   worker asleep and wakes it, or the worker sees the work.
///
/// Two questions, two functions. must_wake: is anybody awake who will look?
/// worth_waking (the dispatcher's): does the work pay for a second worker? A
/// push that is not worth it leaves a watcher behind: a sleeper with a
/// time-out of `watch`, who looks again and takes over what did not move.
///
/// Invariant: while work is visible and a worker sleeps, somebody searches or
/// one sleeper watches; while none is visible, all sleep without a time-out
/// (but for the keeper of the next timer; by a time that is set by hand none
/// sleeps until a moment, but none sleeps either while a timer is due).
class idle_workers {
public:
  static constexpr std::chrono::milliseconds watch{1};

  enum class order : std::uint8_t { search, watch };

  enum class seen : std::uint8_t { nothing, slow_work, work };

  bool all_sleep(std::size_t count) const noexcept {
    return sleepers(word_.load()) == count;
  }
  /// Asked by a searcher: is it not the only one?
  bool others_search() const noexcept { return searchers(word_.load()) > 1; }
  /// True: nobody is on the way to look, and somebody could be.
  bool must_wake() const noexcept {
    const std::uint32_t word = word_.load(); // [S3]
    return sleepers(word) != 0 && searchers(word) == 0;
  }
  /// As must_wake(), but a watcher is enough.
  bool must_watch() const noexcept {
    const std::uint32_t word = word_.load(); // [S3]
    return sleepers(word) != 0 && searchers(word) == 0 && (word & watched) == 0;
  }

  void start_search() noexcept { word_.fetch_add(one_searcher); }
  /// Returns whether nobody searches any more.
  bool end_search() noexcept {
    return searchers(word_.fetch_sub(one_searcher)) == 1;
  }

  /// Wakes one sleeper, the last to fall asleep that keeps no timer, if there
  /// is such a one. Does nothing if none sleeps or another one searches
  /// already.
  void wake_one(order what) noexcept WHARF_EXCLUDES(mutex_);
  /// An earlier timer was armed, or has become due by a time that is set by
  /// hand: somebody must look at it.
  void wake_keeper() noexcept WHARF_EXCLUDES(mutex_);
  /// Somebody awake has found work and a timer is pending: one of the sleepers
  /// must keep it, however long the work takes.
  void appoint_keeper() noexcept WHARF_EXCLUDES(mutex_);
  void wake_all() noexcept WHARF_EXCLUDES(mutex_);

  // A searching worker goes to sleep in three steps.

  /// First: from now on it counts as asleep [S4]. Then it looks again.
  void lie_down(worker& self) WHARF_EXCLUDES(mutex_);
  /// Second: how long it may sleep. `watching`: work was seen that is not
  /// worth taking yet. `clock`: the hand-set time that the timers go by, or
  /// null. max() stands for "until woken", min() for "not at all".
  time_point sleep_until(worker& self, bool watching, const timer_heap& timers,
                         const hand_set_time* clock) noexcept
      WHARF_EXCLUDES(mutex_);
  /// Third: it is up and counts as searching, woken or not.
  order get_up(worker& self) noexcept WHARF_EXCLUDES(mutex_);

  /// Runs `quiet()` while `count` workers sleep and none can wake; false if
  /// fewer do. How drain() finds its moment.
  template <class Quiet>
  bool if_all_sleep(std::size_t count, Quiet quiet) WHARF_EXCLUDES(mutex_) {
    const lock_guard lock{mutex_};
    return asleep_.size() == count && quiet();
  }

private:
  // word_: bits 0-11 sleepers, 12-23 searchers, 24 a sleeper watches.
  // Changed by read-modify-writes; sleepers and watched only under mutex_.
  static constexpr std::uint32_t one_sleeper = 1;
  static constexpr std::uint32_t one_searcher = 1U << 12;
  static constexpr std::uint32_t watched = 1U << 24;
  static std::uint32_t sleepers(std::uint32_t word) noexcept {
    return word & 0xfffU;
  }
  static std::uint32_t searchers(std::uint32_t word) noexcept {
    return (word >> 12) & 0xfffU;
  }

  /// Takes a sleeper off the list and makes it a searcher.
  void rouse(worker& sleeper) noexcept WHARF_REQUIRES(mutex_);

  atomic<std::uint32_t> word_{0};
  mutex mutex_;
  std::vector<worker*> asleep_ WHARF_GUARDED_BY(mutex_);
  worker* watcher_ WHARF_GUARDED_BY(mutex_) = nullptr;
  worker* keeper_ WHARF_GUARDED_BY(mutex_) = nullptr;
};

} // namespace wharf::inline v1::detail

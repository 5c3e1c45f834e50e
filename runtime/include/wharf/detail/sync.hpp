#pragma once

// The primitives of synchronisation, and the only file that names them:
// everything else in Wharf says detail::mutex, detail::atomic, detail::parker.
// A simulated build replaces this header and nothing else.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#if defined(__clang__)
#define WHARF_ANNOTATE(x) __attribute__((x))
#else
#define WHARF_ANNOTATE(x)
#endif
#define WHARF_CAPABILITY(x) WHARF_ANNOTATE(capability(x))
#define WHARF_SCOPED_CAPABILITY WHARF_ANNOTATE(scoped_lockable)
#define WHARF_GUARDED_BY(x) WHARF_ANNOTATE(guarded_by(x))
#define WHARF_REQUIRES(...) WHARF_ANNOTATE(requires_capability(__VA_ARGS__))
#define WHARF_EXCLUDES(...) WHARF_ANNOTATE(locks_excluded(__VA_ARGS__))
#define WHARF_ACQUIRE(...) WHARF_ANNOTATE(acquire_capability(__VA_ARGS__))
#define WHARF_TRY_ACQUIRE(...)                                                 \
  WHARF_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define WHARF_RELEASE(...) WHARF_ANNOTATE(release_capability(__VA_ARGS__))
#define WHARF_UNCHECKED WHARF_ANNOTATE(no_thread_safety_analysis)

namespace wharf::inline v1::detail {

template <class T>
using atomic = std::atomic<T>;

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;

using thread = std::thread;
using steady_clock = std::chrono::steady_clock;

/// A mutex of four bytes, since every port carries one: a word that spins
/// briefly under contention and then sleeps in the kernel.
///
/// After the exchange in unlock() the object may be gone (the next owner may
/// destroy it); the notification uses its address only as a key.
class WHARF_CAPABILITY("mutex") mutex {
public:
  mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept WHARF_ACQUIRE() {
    std::uint32_t expected = word_free;
    if (!word_.compare_exchange_strong(expected, word_locked,
                                       std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
      lock_contended();
    }
  }

  bool try_lock() noexcept WHARF_TRY_ACQUIRE(true) {
    std::uint32_t expected = word_free;
    return word_.compare_exchange_strong(expected, word_locked,
                                         std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  void unlock() noexcept WHARF_RELEASE() {
    if (word_.exchange(word_free, std::memory_order_release) ==
        word_contended) {
      word_.notify_one();
    }
  }

private:
  static constexpr std::uint32_t word_free = 0;
  static constexpr std::uint32_t word_locked = 1;
  static constexpr std::uint32_t word_contended = 2; // somebody may sleep

  void lock_contended() noexcept WHARF_ACQUIRE() WHARF_UNCHECKED;

  std::atomic<std::uint32_t> word_{word_free};
};

class WHARF_SCOPED_CAPABILITY lock_guard {
public:
  explicit lock_guard(mutex& m) noexcept WHARF_ACQUIRE(m) : mutex_{m} {
    mutex_.lock();
  }
  ~lock_guard() WHARF_RELEASE() { mutex_.unlock(); }
  lock_guard(const lock_guard&) = delete;
  lock_guard& operator=(const lock_guard&) = delete;

private:
  mutex& mutex_;
};

/// Where one thread sleeps until it is woken. A wake-up that comes first is
/// kept: the next park() returns at once.
class parker {
public:
  void park();
  /// Returns at `deadline` at the latest.
  void park_until(steady_clock::time_point deadline);
  void unpark() noexcept;

private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false; // guarded by mutex_
};

/// A condition that threads outside the pool block on: drain, shutdown and
/// the destructors. Never used on a path that a message takes.
class monitor {
public:
  class scope {
  public:
    explicit scope(monitor& m) : monitor_{m}, lock_{m.mutex_} {}
    template <class Condition>
    void wait(Condition holds) {
      monitor_.changed_.wait(lock_, holds);
    }
    /// False: the deadline came first.
    template <class Condition>
    bool wait_until(steady_clock::time_point deadline, Condition holds) {
      if (deadline == steady_clock::time_point::max()) {
        wait(holds);
        return true;
      }
      return monitor_.changed_.wait_until(lock_, deadline, holds);
    }

  private:
    monitor& monitor_;
    std::unique_lock<std::mutex> lock_;
  };

  /// Requires: a scope of this monitor is alive on the calling thread, or the
  /// state that waiters look at has its own order.
  void notify_all() noexcept { changed_.notify_all(); }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// Tells the processor that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

} // namespace wharf::inline v1::detail

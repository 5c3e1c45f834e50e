#pragma once

// Persistent arbiters: what was decided for them waits here in order until a
// worker runs the handler with it.

#include <wharf/detail/arbiter.hpp>
#include <wharf/detail/decision.hpp>
#include <wharf/detail/handler_owner.hpp>
#include <wharf/detail/message.hpp>
#include <wharf/detail/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace wharf::inline v1::detail {

/// Where units arrive; guarded by the inbox lock.
class pump_inbox {
protected:
  pump_inbox(mutex& lock, bool serial) noexcept
      : serial_{serial}, inbox_lock_{lock} {}
  ~pump_inbox() = default;

private:
  friend class pump;

  message_list units_;
  message_node* last_gift_ = nullptr; // in units_: where the next one belongs
  std::uint32_t active_ = 0; // workers inside run(), handlers that went on
  bool queued_ = false;
  bool leaving_ = false;
  bool closing_ = false;
  bool finished_ = false;
  const bool serial_; // one_at_a_time
  mutex& inbox_lock_;
};

/// What a worker has moved out of the inbox; made with the first backlog.
struct pump_outbox {
  mutex lock;
  message_list units WHARF_GUARDED_BY(lock);
};

/// PROTOCOL
///
///   Units (one message of a receiver, one set of a join) arrive in inbox_,
///   under the inbox lock, which the deciding thread holds anyway: for a
///   receiver it is the port's own. A worker that runs the pump moves the whole
///   inbox to the outbox, once for many units, and takes units from there one
///   by one under the outbox's lock. Other workers that run the pump at the
///   same time take from the same end, so handlers start in the order of
///   arrival, and a slow handler holds up nothing behind it.
///
///   The pump is in its queue's line at most once (queued_). Whoever adds to
///   the inbox puts it there; a worker that finds more than one unit puts it
///   back before it runs the first, for another worker to join in. A serial
///   pump (one_at_a_time) is not put there while a worker is inside, or while a
///   handler that is a coroutine goes on.
///
/// INVARIANTS (under the inbox lock)
///
///   P1  Units wait  =>  queued_, or active_ > 0 and the worker inside will
///       look again, or the pump is leaving.
///   P2  finished_ is set once, by whoever finds the pump leaving (or closing
///       and empty) with active_ == 0: no handler runs, none will.
///
/// LOCKS  inbox (level 1 or 2) before outbox (level 2); neither round user
/// code.
///
/// LAYOUT  What posters write (pump_inbox) and what workers touch for each
///   message (pump, the handler, the outbox) lie more than a cache line apart:
///   side by side they cost an outside poster's message 250 ns instead of 90.
class pump : public arbiter, public handler_owner {
public:
  void run(turn& budget) noexcept final;
  void discard() noexcept final;
  bool end_with_queue(port_names* names) noexcept final;
  bool active() const noexcept final {
    return !left_.load(memory_order_acquire) && !ended();
  }

protected:
  pump(queue_core& queue, pump_inbox& inbox, std::uint32_t unit_size) noexcept
      : arbiter{queue}, inbox_{inbox}, unit_size_{unit_size} {}

  /// Runs the handler with one unit, which it destroys. May throw.
  virtual handled handle(message_list unit, turn& budget) = 0;
  /// Whether its handlers go on.
  virtual bool in_coroutines() const noexcept { return false; }
  /// The handler is about to start with this unit.
  virtual void started(const message_list&) noexcept {}
  /// It ends by itself: leaves the ports that still know it.
  virtual void leave_ports() noexcept = 0;
  /// Its ports; a failure is not reported to a port that it came from.
  virtual std::span<port_core* const> reads() const noexcept = 0;

  // With the inbox lock held.

  void accept_locked(decision& d, message_list&& units) noexcept;
  void accept_locked(decision& d, const offered& unit) noexcept;
  std::size_t pending_locked() const noexcept {
    return inbox_.units_.size() + outbox_size_.load(memory_order_relaxed);
  }
  /// From now on nothing starts; returns what had not, oldest first.
  message_list leave_locked() noexcept;
  /// Ends by itself when what it has been given is handled.
  void close_locked() noexcept { inbox_.closing_ = true; }
  /// Whether the caller must call finish_pinned(), with its argument.
  struct last_one {
    bool out;
    bool keep_reference;
  };
  last_one try_finish_locked() noexcept;

  bool leave_once() noexcept { return !left_.exchange(true); }
  bool left() const noexcept { return left_.load(memory_order_acquire); }

private:
  void handler_ended(std::exception_ptr failure) noexcept final;
  void run_unit(message_list unit, turn& budget) noexcept;
  void leave_run() noexcept WHARF_RELEASE(inbox_.inbox_lock_);
  void wake_locked(decision& d) noexcept;
  void insert_gift_locked(message_node* gift) noexcept;
  message_list take_inbox_locked() noexcept;
  message_list refill_locked() noexcept;
  message_list pop_unit(message_list& from) noexcept;
  message_list take_unit() noexcept;

  pump_inbox& inbox_;
  const std::uint32_t unit_size_;
  atomic<bool> left_{false};           // cancelled or ended; decides who leaves
  atomic<std::size_t> outbox_size_{0}; // written under the outbox's lock
  // Set once, under the inbox lock, by a worker inside run(); the workers that
  // join in have taken that lock since.
  std::unique_ptr<pump_outbox> outbox_;
};

} // namespace wharf::inline v1::detail

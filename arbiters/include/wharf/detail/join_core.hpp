#pragma once

// Joins without their types: messages of several ports, all or none.

#include <wharf/detail/decision.hpp>
#include <wharf/detail/one_time.hpp>
#include <wharf/detail/port_core.hpp>
#include <wharf/detail/pump.hpp>
#include <wharf/detail/receiver.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace wharf::inline v1::detail {

/// PROTOCOL
///
///   An attempt holds the locks of all ports of the join. It either commits:
///   takes the oldest messages of every port, as many as each part names; or
///   it moves the watch: the join is listed as a receiver on exactly one port,
///   one that lacks a message, and a post to any other port does not ask it.
///   An attempt is made when the join is armed and when a message is offered
///   on the watched port. The offering thread holds that port's lock and adds
///   the others by try_lock; if one is taken it gives everything up, waits for
///   all of them in address order, and starts the offer afresh, before anybody
///   has seen the message.
///
/// INVARIANTS (under the lock of the watched port)
///
///   J1  Messages leave the ports of a join only in a commit: all or none.
///   J2  An armed join watches a port that lacks what the join needs there.
///
/// WHY
///
///   J2 holds when the watch is set, and a message that arrives at the watched
///   port is offered to the join under that port's lock, so the port still
///   lacks when the lock is released, or the join has committed or moved on.
///   Messages that others take from ports only make ports lack more. So while
///   a join waits, at least one of its ports lacks: nothing sleeps.
///   No deadlock: blocking acquisition is in address order with none held.
///
/// FAIRNESS  A persistent join that has fired goes to the end of its class on
///   all its ports, so joins that share a port take turns.
///
/// ENDS  The join is a member of each of its ports. A closed port that lacks
///   what the join needs starves it, wherever it watches.
class join_core : public receiver {
public:
  /// `parts`: the port of each message of a unit, in the handler's order.
  /// With one part, `repeat` messages are taken from it.
  join_core(std::vector<port_ref> parts, std::size_t repeat,
            std::int32_t priority, bool persistent);

  std::span<port_core* const> lock_set() const noexcept final { return ports_; }
  offer_result offer(decision& d, offered& m) noexcept final;
  void port_closed(decision&) noexcept final {} // see port_short

  std::size_t unit_size() const noexcept { return unit_size_; }

protected:
  ~join_core() = default;

  /// Makes the first attempts and takes the watch.
  void arm(decision& d);
  /// Leaves all ports. Requires: no lock held, or, for the second, all.
  void leave(decision& d) noexcept;
  void leave_locked() noexcept;
  /// Is asked no more, but stays a member of its ports. No lock held.
  void stop_watching(decision& d) noexcept;
  /// Gives units that were taken back to their ports. No lock held.
  void give_back(decision& d, message_list units) noexcept;
  /// Counts units in and out of size() of their ports.
  void hold(const message_list& unit) noexcept;
  void release(const message_list& unit) noexcept;
  void destroy(message_list units) noexcept;
  void name_ports(std::vector<port_ref>& ports) const;

private:
  struct part final : port_member {
    void port_short(decision& d) noexcept override { owner->starve(d, *this); }
    bool may_take() const noexcept override {
      return !owner->starved_.load(memory_order_relaxed);
    }
    std::size_t holding() const noexcept override {
      return need * owner->units_waiting();
    }
    join_core* owner = nullptr;
    port_core* port = nullptr;
    std::size_t need = 0;
    std::uint64_t place = 0; // of the join among the port's receivers
  };

  // What becomes of an attempt; called with all locks held.

  /// Whether the join may still fire.
  virtual bool may_commit() noexcept = 0;
  virtual void committed(decision& d, message_list unit) noexcept = 0;
  /// A closed port lacks a message. Once.
  virtual void starved(decision& d) noexcept = 0;
  /// Whether units_waiting() tells what was committed and has not started.
  virtual bool counts_units() const noexcept { return false; }
  virtual std::size_t units_waiting() const noexcept { return 0; }

  part* lacking(const offered* m) noexcept;
  message_list take() noexcept;
  void watch(part& p) noexcept;
  void starve(decision& d, const part& p) noexcept;
  void starve(decision& d) noexcept;
  part& part_of(std::size_t message) noexcept {
    return order_.empty() ? parts_.front()
                          : parts_[order_[message % unit_size_]];
  }

  const bool persistent_;
  std::size_t unit_size_;
  std::vector<port_ref> refs_;
  std::vector<port_core*> ports_;    // distinct, ascending
  std::vector<part> parts_;          // one for each of ports_
  std::vector<std::uint32_t> order_; // part of each message; empty: one part
  bool armed_ = false;               // guarded by the locks of all ports
  part* watched_ = nullptr;          // likewise
  atomic<bool> starved_{false};
};

/// A one-time join: one branch of its root.
class join_branch : public branch, public join_core {
public:
  join_branch(std::vector<port_ref> parts, std::size_t repeat,
              std::int32_t priority)
      : join_core{std::move(parts), repeat, priority, false} {}

  void arm(decision& d) final { join_core::arm(d); }
  void disarm(decision& d) noexcept final { leave(d); }
  void give_back_taken(decision& d) noexcept final;
  void destroy_taken() noexcept final { destroy(take_unit()); }
  context_ref under() noexcept final { return taken_contexts(taken_); }
  void name_ports(std::vector<port_ref>& ports) const final {
    join_core::name_ports(ports);
  }

protected:
  ~join_branch() = default;
  /// Counts it out of its ports, if it was counted.
  message_list take_unit() noexcept;

private:
  bool may_commit() noexcept final { return root().claim(this); }
  void committed(decision& d, message_list unit) noexcept final;
  void starved(decision& d) noexcept final { root().branch_died(d); }

  message_list taken_; // the claimer's
};

/// A persistent join on its own.
class join_pump : private pump_inbox, public join_core, public pump {
public:
  void activate(bool linked);
  bool cancel() noexcept final;
  void settle(decision& d) noexcept final;

protected:
  join_pump(queue_core& queue, std::vector<port_ref> parts, std::size_t repeat,
            std::int32_t priority, bool serial)
      : pump_inbox{mutex_, serial},
        join_core{std::move(parts), repeat, priority, true},
        pump{queue, *this, static_cast<std::uint32_t>(unit_size())} {}

private:
  bool may_commit() noexcept final { return !left(); }
  void committed(decision& d, message_list unit) noexcept final;
  void starved(decision& d) noexcept final;
  bool counts_units() const noexcept final { return true; }
  std::size_t units_waiting() const noexcept final {
    return committed_.load(memory_order_relaxed) -
           started_.load(memory_order_relaxed);
  }
  void started(const message_list&) noexcept final {
    started_.fetch_add(1, memory_order_relaxed);
  }
  void leave_ports() noexcept final;
  std::span<port_core* const> reads() const noexcept final {
    return lock_set();
  }

  mutex mutex_;                      // of the inbox
  atomic<std::size_t> committed_{0}; // units; written under all locks
  // Counted apart, since the two are written on different cores.
  atomic<std::size_t> started_{0}; // handed to the handler or given back
};

} // namespace wharf::inline v1::detail

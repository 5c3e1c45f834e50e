#pragma once

// Arbiters that fire once. Every one of them is a choice: of its branches
// exactly one wins. A plain receive is a choice with one branch, and a nested
// choice adds its branches to the root, so depth costs nothing. A coroutine is
// a root too: its branches are those of the await that it is at.

#include <wharf/detail/arbiter.hpp>
#include <wharf/detail/decision.hpp>
#include <wharf/detail/handler_owner.hpp>
#include <wharf/detail/message.hpp>
#include <wharf/detail/queue_core.hpp>
#include <wharf/detail/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace wharf::inline v1::detail {

class one_time;

/// One alternative of a one-time arbiter: where it waits and what it runs.
class branch {
public:
  /// Looks at what is there: claims the root and takes it, or registers.
  /// Called once, by the activating thread, with no lock held.
  virtual void arm(decision& d) = 0;

  /// Leaves the ports, giving back what it holds. Also called if it was never
  /// armed. No lock held.
  virtual void disarm(decision& d) noexcept = 0;

  /// It has won: leaves the ports where claiming did not do so.
  virtual void won(decision&) noexcept {}

  /// What its handler runs under, called before run(): the causalities of the
  /// messages that were taken; those of the activator where there are none.
  virtual context_ref under() noexcept;

  /// Runs the handler with what was taken. May throw. An awaited branch has no
  /// handler: its coroutine asks it for what was taken.
  virtual handled run(turn&) { return handled::over; }

  /// It has won but won't run. Either gives back or destroys what was taken.
  virtual void give_back_taken(decision& d) noexcept = 0;
  virtual void destroy_taken() noexcept = 0;

  /// Adds its ports to a list.
  virtual void name_ports(std::vector<port_ref>&) const {}

  /// Timers are armed when all ports have been looked at.
  virtual bool is_timer() const noexcept { return false; }

  one_time& root() const noexcept { return *root_; }

protected:
  branch() noexcept = default;
  ~branch() = default;
  branch(const branch&) = delete;
  branch& operator=(const branch&) = delete;

private:
  friend class one_time;
  one_time* root_ = nullptr;
  branch* next_ = nullptr;
};

/// Where a decided arbiter goes that belongs to an interleave.
class unit_sink {
public:
  /// Whether its rules allow it to be decided at present. Any locks held.
  virtual bool takes() noexcept = 0;
  /// Claims the root with one_time::claim_word, if the rules of the sink allow
  /// it. True: the sink stays until it has been told by one of the others.
  virtual bool claim(one_time& root, branch* winner) noexcept = 0;
  /// The root is decided and its losers have left. No lock held.
  virtual void ready(one_time& root, decision& d) noexcept = 0;
  /// The root has ended without firing.
  virtual void unfired(decision& d) noexcept = 0;
  /// The root's handler, a coroutine, has ended.
  virtual void ended(one_time& root) noexcept = 0;
  virtual const coroutine_scope* scope() const noexcept = 0;

protected:
  ~unit_sink() = default;
};

/// PROTOCOL
///
///   state_ is one word:   bit 0  decided: a branch has won, or the end has
///                         bit 1  arming: activate() has not returned yet
///                         bit 2  handed over: settle() came while arming
///                         others: a coroutine's, see coroutine_root.hpp
///
///   claim() sets bit 0 by compare-exchange, under the lock of the port whose
///   message decides. One thread succeeds; it alone goes on: it writes
///   winner_, takes the message, and after the locks settles: losers leave
///   their ports, then the handler is scheduled. If the activating thread is
///   still arming, settling is handed over to it, since it may be registering
///   a loser at this moment; bits 1 and 2 are changed by read-modify-writes,
///   so exactly one of the two sees the other's.
///
/// INVARIANTS
///
///   C1  After claim() fails nothing was taken: a loser touches no message.
///   C2  When the winner's handler is scheduled no other branch is listed.
class one_time : public arbiter, public handler_owner {
public:
  bool decided() const noexcept {
    return (state_.load(memory_order_acquire) & bit_decided) != 0;
  }

  /// Whether it has a use for a message that does not decide it.
  bool takes() const noexcept {
    return !decided() && (sink_ == nullptr || sink_->takes());
  }

  /// `winner` nullptr: the arbiter ends unfired. True for one caller only.
  bool claim(branch* winner) noexcept;
  /// What claim() does in the end, whatever a sink says.
  bool claim_word(branch* winner) noexcept;

  /// A branch can't win any more, because its ports have closed.
  void branch_died(decision& d) noexcept;

  void add(branch& b) noexcept;
  void belong_to(unit_sink& sink) noexcept { sink_ = &sink; }
  /// Whether size() counts what it has taken until its handler starts.
  bool in_group() const noexcept { return sink_ != nullptr; }

  /// Registers. `linked`: whether the queue holds it; false ends it at once.
  /// Throws what arming throws; the arbiter has ended then.
  void activate(bool linked);

  bool cancel() noexcept override;
  bool end_with_queue(port_names* names) noexcept override;
  bool active() const noexcept override { return !decided(); }
  void settle(decision& d) noexcept final;
  void run(turn& budget) noexcept override {
    static_cast<void>(run_branch(budget));
  }
  void discard() noexcept override;

  // For a sink that runs it, or won't run what it was given.
  handled run_branch(turn& budget) noexcept;
  void give_back_taken(decision& d) noexcept;
  void name_ports(std::vector<port_ref>& ports) const;

protected:
  using arbiter::arbiter;

  static constexpr std::uint32_t bit_decided = 1;
  static constexpr std::uint32_t bit_arming = 2;
  static constexpr std::uint32_t bit_handed_over = 4;

  /// Looks at all branches and registers them; `open` false ends it at once.
  /// Requires: bit_arming. If arming throws it ends unfired, unless a branch
  /// has won already, and `failure` says why.
  void arm(decision& d, bool open, std::exception_ptr& failure) noexcept;
  branch* winner() const noexcept { return winner_; }
  /// A coroutine's next await begins without branches.
  void forget_branches() noexcept;

  atomic<std::uint32_t> state_{bit_arming};

private:
  /// All branches have left but the winner, if there is one.
  virtual void settled(decision& d) noexcept;
  void handler_ended(std::exception_ptr failure) noexcept final;
  const coroutine_scope* scope() const noexcept final {
    return sink_ != nullptr ? sink_->scope() : nullptr;
  }
  void arm_branches(decision& d, bool timers);

  atomic<std::uint32_t> live_{0}; // branches that may still win
  branch* winner_ = nullptr;      // the claimer's, then the settler's
  branch* first_ = nullptr;       // constant while armed
  branch* last_ = nullptr;
  unit_sink* sink_ = nullptr; // constant once activated
};

} // namespace wharf::inline v1::detail

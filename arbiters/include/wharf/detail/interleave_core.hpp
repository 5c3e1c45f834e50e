#pragma once

// Interleaves without their types: three groups of arbiters and the rule of
// who may run beside whom.

#include <wharf/detail/interleave_group.hpp>
#include <wharf/detail/join_core.hpp>
#include <wharf/detail/one_time.hpp>
#include <wharf/detail/port_roll.hpp>
#include <wharf/detail/receive_core.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace wharf::inline v1::detail {

class interleave_core;

enum class group_kind : std::uint8_t { teardown, exclusive, concurrent };

/// Whose turn it is when both exclusives and concurrents wait.
enum class fairness_rule : std::uint8_t { bounded, writers_first, arrival };

/// One arbiter of an interleave. What is decided for it waits here.
class interleave_member {
public:
  /// `serial`: of its units one runs at a time, in the concurrent group too.
  explicit interleave_member(std::int32_t priority,
                             bool serial = false) noexcept
      : priority_{priority}, serial_{serial} {}
  virtual ~interleave_member() = default;
  interleave_member(const interleave_member&) = delete;
  interleave_member& operator=(const interleave_member&) = delete;

  std::int32_t priority() const noexcept { return priority_; }

  /// Registers, or ends if the interleave is not open any more. No lock held.
  virtual void arm(decision& d, bool open) = 0;
  /// Leaves its ports and gives back what has not started. No lock held.
  virtual void leave(decision& d) noexcept = 0;
  /// Adds its ports to a list.
  virtual void name_ports(std::vector<port_ref>& ports) const = 0;

  bool serial() const noexcept { return serial_; }

  // Under the interleave's lock.

  /// Its next unit may run beside those of it that run.
  bool may_start() const noexcept { return !serial_ || running_ == 0; }
  /// The oldest unit, to be run. Counts it out of its ports.
  virtual message_list take_unit() noexcept = 0;
  /// Nothing more will come and nothing waits.
  virtual bool spent() const noexcept = 0;

  /// Runs the handler with a unit; reports what it throws. One that goes on
  /// keeps its slot, and gives it back by slot_over(). No lock held.
  virtual handled run(message_list unit, turn& budget) noexcept = 0;

protected:
  interleave_core& owner() const noexcept { return *owner_; }
  group_kind kind() const noexcept { return kind_; }
  /// A handler of it that went on has ended.
  void slot_over() noexcept;
  /// The teardown handler is not cancelled with the others.
  const coroutine_scope* scope_of_handlers() const noexcept;

private:
  friend class interleave_core;
  friend class interleave_parts;
  interleave_core* owner_ = nullptr; // constant once taken in
  group_kind kind_ = group_kind::concurrent;
  const std::int32_t priority_;
  const bool serial_;
  interleave_member* next_ = nullptr; // that was made together with it
  std::uint32_t running_ = 0; // its slots; guarded by the interleave's lock
};

/// What an interleave is made of, or takes in while it runs: members that are
/// registered nowhere yet.
class interleave_parts {
public:
  void add(std::unique_ptr<interleave_member> member, group_kind kind);
  /// All ports of the interleave close at its end.
  void close_at_end() noexcept { closes_ = true; }
  /// Handlers that run are cancelled when teardown begins.
  void cancel_at_teardown() noexcept { cancels_ = true; }

private:
  friend class interleave_core;

  std::vector<std::unique_ptr<interleave_member>> members_;
  port_roll ports_;
  bool closes_ = false;
  bool cancels_ = false;
};

/// PROTOCOL
///
///   A unit is decided under the locks of its ports, as for any arbiter, and
///   then waits in its member, counted in its group, under mutex_. A worker
///   that runs the interleave picks the next unit by the rule below, runs it
///   with no lock held, and picks again; so whoever ends a unit looks for what
///   may start now. The interleave is in its queue's line at most once
///   (queued_): it is put there by whoever makes a unit startable, and by a
///   worker that starts a concurrent unit while another one may start too.
///   A handler that is a coroutine holds its slot across its awaits, while no
///   worker is inside; its end is looked after like that of any other.
///
/// THE RULE (pick)
///
///   A running exclusive excludes all. A member that runs one at a time has its
///   next unit passed over while one runs; the end of that one looks again.
///   While it is the exclusives' turn no concurrent starts; an exclusive starts
///   when the running concurrents are over. Whose turn it is the fairness says:
///     bounded        the exclusives' while one waits; but after `row_max_` of
///                    them in a row the concurrents that wait at that moment
///                    run first, as one batch; who comes later is not in it
///     writers_first  the exclusives' while one waits
///     arrival        that of the group whose unit came first: each unit that
///                    arrives brings its group one turn (arrivals_), and the
///                    group's own order says with which unit it is taken
///
/// TEARDOWN
///
///   phase_ is `open` until the first teardown message is decided: that one
///   turns it to `tearing` in one step with claiming its root, so a second one
///   stays in its port. Then the members leave and give back, the running
///   handlers end, and the teardown handler runs, alone and last. Cancel and
///   the queue's end turn it to `leaving`: the same without a handler.
///
/// COMBINE
///
///   Members are added under mutex_ and in phase `open` only, so from its end
///   on members_ is constant and read without the lock. Then they are armed,
///   with no lock held, by the thread that has added them (activate() or
///   combine()), counted in arming_ meanwhile. A phase that ends now does not
///   wait for it: who ends it makes all members leave, those too that are not
///   armed yet; who arms finds at last that the phase has ended, and makes his
///   own leave once more. Leaving twice is harmless. The teardown handler and
///   the end wait until arming_ is 0.
///
///   So that an interleave may take in one-time arbiters for ever, combine()
///   lets go of members that have ended, now and then: when there are twice as
///   many as the last time, and while nobody arms.
///
/// INVARIANTS (under mutex_)
///
///   I1  exclusive_running_  =>  concurrent_running_ == 0.
///   I2  A unit may start  =>  queued_, or a worker is inside run() and will
///       pick again.
///
/// LOCKS  mutex_ is level 2: taken under the locks of ports, and alone.
class interleave_core : public arbiter {
public:
  /// Throws std::bad_alloc.
  interleave_core(queue_core& queue, interleave_parts parts);

  const coroutine_scope& scope() const noexcept { return scope_; }
  /// Before activation. `exclusives_in_a_row` is for `bounded`.
  void be_fair(fairness_rule rule, std::uint32_t exclusives_in_a_row);

  void activate(bool linked);
  /// False: it has begun to end, and the parts are dropped. The caller keeps a
  /// reference.
  /// Throws std::bad_alloc: nothing has changed, or, if it was while the parts
  /// registered, the interleave is cancelled.
  bool combine(interleave_parts parts);
  interleave_core* as_interleave() noexcept final { return this; }
  bool cancel() noexcept final { return end_with_queue(nullptr); }
  bool end_with_queue(port_names* names) noexcept final;
  bool active() const noexcept final {
    return open_.load(memory_order_acquire);
  }
  void settle(decision& d) noexcept final;
  void run(turn& budget) noexcept final;
  void discard() noexcept final;

  // What members call.

  mutex& lock() noexcept { return mutex_; }
  bool open_locked() const noexcept { return phase_ == phase::open; }
  /// A unit waits in `member` now.
  void arrived_locked(decision& d, interleave_member& member,
                      group_kind kind) noexcept;
  /// A member will bring nothing more (once for each).
  void ended_locked(decision& d) noexcept;
  void begin_teardown_locked() noexcept;
  void teardown_ready_locked(one_time& root, decision& d) noexcept;
  /// A one-time member is being decided; the interleave stays meanwhile.
  void claim_begins_locked() noexcept { ++claims_; }
  void claim_ends_locked(decision& d) noexcept;
  /// A handler that went on has ended: its slot is free.
  void slot_over(interleave_member& member) noexcept;
  void teardown_over() noexcept;

private:
  void destroy_payload() noexcept override {
    members_.clear();
    ports_.clear();
  }

  static constexpr std::size_t least_crowd = 16;
  enum class phase : std::uint8_t { open, tearing, leaving };
  struct pick {
    interleave_member* member = nullptr;
    bool exclusive = false;
  };

  /// The group whose turn it is; nullptr if nothing waits.
  const interleave_group* turn_locked() const noexcept;
  interleave_group* group_of(const interleave_member& member) noexcept;
  void take_in_locked(interleave_parts& parts);
  /// Moves members that have ended to `gone`, which has room for all. There
  /// they have still to leave their ports. Requires: nobody arms.
  void let_go_locked(interleave_parts& gone) noexcept;
  /// Registers a member and those that were made together with it.
  void arm(interleave_member* first);

  pick pick_locked() noexcept;
  bool startable_locked() const noexcept;
  void wake_locked(decision& d) noexcept;
  void note_locked(decision& d) noexcept;
  void go_on(decision& d) noexcept;
  void members_leave(decision& d) noexcept;
  bool try_finish_locked() noexcept;
  bool idle_locked() const noexcept {
    return !exclusive_running_ && concurrent_running_ == 0;
  }
  void free_slot_locked(interleave_member& member) noexcept;
  void look_after() noexcept WHARF_RELEASE(mutex_);
  void close_ports() noexcept;
  /// Releases mutex_ while the handler runs.
  void run_teardown(turn& budget) noexcept WHARF_REQUIRES(mutex_);

  fairness_rule rule_ = fairness_rule::bounded;
  std::uint32_t row_max_ = 16; // these two are constant once activated
  coroutine_scope scope_;

  atomic<bool> open_{true}; // mirrors phase_, for active()

  // guarded by mutex_, and constant once phase_ is not `open` any more
  mutex mutex_;
  std::vector<std::unique_ptr<interleave_member>> members_;
  // Of all members ever: one that has fired has let go of its own.
  port_roll ports_;
  bool closes_at_end_ = false;
  bool cancels_ = false;
  std::size_t crowd_ = least_crowd; // so many members are looked through

  // guarded by mutex_
  interleave_group exclusive_;
  interleave_group concurrent_;
  std::optional<arrival_log> arrivals_; // engaged if rule_ is arrival
  phase phase_ = phase::open;
  bool noted_ = false; // a decision will call settle()
  bool leave_begun_ = false;
  bool members_left_ = false;
  bool queued_ = false;
  bool exclusive_running_ = false;
  bool finished_ = false;
  std::uint32_t arming_ = 1; // threads that register members
  std::uint32_t inside_ = 0; // workers in run()
  std::uint32_t claims_ = 0; // one-time members that are being decided
  std::uint32_t concurrent_running_ = 0;
  std::uint32_t row_ = 0; // exclusives since the last concurrent
  std::size_t ended_ = 0; // members that bring nothing more
  one_time* teardown_ = nullptr;
};

/// Throws std::logic_error, with a sentence that names its queue, if `a` is
/// something else.
interleave_core& expect_interleave(arbiter& a);

/// A persistent receiver in a group.
class receive_member : public interleave_member,
                       public handler_owner,
                       public receiver,
                       public message_filter {
public:
  receive_member(queue_core& queue, port_ref port,
                 const receive_options& options, bool picky) noexcept
      : interleave_member{options.priority, options.serial},
        receiver{options.priority, {.asks = picky}}, message_filter{picky},
        queue_{queue}, port_{std::move(port)} {}

  void arm(decision& d, bool open) final;
  void leave(decision& d) noexcept final;
  void name_ports(std::vector<port_ref>& ports) const final {
    ports.emplace_back(*port_);
  }
  message_list take_unit() noexcept final;
  bool spent() const noexcept final { return closed_ && waiting_.empty(); }
  handled run(message_list unit, turn& budget) noexcept final;
  offer_result offer(decision& d, offered& m) noexcept final;
  void port_closed(decision& d) noexcept final;

protected:
  queue_core& queue() const noexcept { return queue_; }

private:
  virtual handled handle(message_list unit, turn& budget) = 0;
  void handler_ended(std::exception_ptr failure) noexcept final;
  const coroutine_scope* scope() const noexcept final {
    return scope_of_handlers();
  }
  bool accept(decision& d, message_node* node) noexcept;

  queue_core& queue_;
  const port_ref port_;
  message_list waiting_; // guarded by the interleave's lock
  bool closed_ = false;  // likewise
};

/// A persistent join in a group.
class join_member : public interleave_member,
                    public handler_owner,
                    public join_core {
public:
  join_member(queue_core& queue, std::vector<port_ref> parts,
              std::size_t repeat, std::int32_t priority, bool serial)
      : interleave_member{priority, serial},
        join_core{std::move(parts), repeat, priority, true}, queue_{queue} {}

  void arm(decision& d, bool open) final;
  void leave(decision& d) noexcept final;
  void name_ports(std::vector<port_ref>& ports) const final {
    join_core::name_ports(ports);
  }
  message_list take_unit() noexcept final;
  bool spent() const noexcept final { return closed_ && waiting_.empty(); }
  handled run(message_list unit, turn& budget) noexcept final;

protected:
  queue_core& queue() const noexcept { return queue_; }

private:
  virtual handled handle(message_list unit, turn& budget) = 0;
  void handler_ended(std::exception_ptr failure) noexcept final;
  const coroutine_scope* scope() const noexcept final {
    return scope_of_handlers();
  }
  bool may_commit() noexcept final;
  void committed(decision& d, message_list unit) noexcept final;
  void starved(decision& d) noexcept final;

  queue_core& queue_;
  message_list waiting_; // guarded by the interleave's lock
  bool closed_ = false;  // likewise
};

/// A one-time arbiter in a group: receive, join, gather or choice.
class one_time_member : public interleave_member, public unit_sink {
public:
  /// Takes over the root's first reference.
  one_time_member(one_time& root, std::int32_t priority) noexcept
      : interleave_member{priority}, root_{root} {
    root.add_ref(); // the first one goes when the root ends
    root.belong_to(*this);
  }
  ~one_time_member() override {
    if (!armed_) {
      root_.drop_ref(); // the first one: the root never began
    }
    root_.drop_ref();
  }

  void arm(decision&, bool open) final {
    armed_ = true;
    root_.activate(open);
  }
  void leave(decision& d) noexcept final;
  void name_ports(std::vector<port_ref>& ports) const final {
    root_.name_ports(ports);
  }
  message_list take_unit() noexcept final;
  bool spent() const noexcept final { return ended_ && !waiting_; }
  handled run(message_list unit, turn& budget) noexcept final;

  bool takes() noexcept final;
  bool claim(one_time& root, branch* winner) noexcept final;
  void ready(one_time& root, decision& d) noexcept final;
  void unfired(decision& d) noexcept final;
  void ended(one_time& root) noexcept final;
  const coroutine_scope* scope() const noexcept final {
    return scope_of_handlers();
  }

private:
  one_time& root_;
  bool armed_ = false;   // the activating thread's, then constant
  bool waiting_ = false; // guarded by the interleave's lock
  bool ended_ = false;   // likewise
};

} // namespace wharf::inline v1::detail

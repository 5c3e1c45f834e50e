#pragma once

// A port without its type: the messages that belong to nobody yet, the
// receivers in the order in which they are asked, and the lock over both.

#include <wharf/detail/graveyard.hpp>
#include <wharf/detail/message.hpp>
#include <wharf/detail/receiver.hpp>
#include <wharf/detail/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace wharf::inline v1::detail {

/// Where an unnamed object was made.
struct made_at {
  const char* file;
  std::uint32_t line;
};

/// PROTOCOL (docs/architecture.md, "The decision", has the proof)
///
///   A message that is posted, or given back, is offered to the receivers in
///   order while the port's lock is held; the first that is willing takes it,
///   else it is linked into `queue_`. What follows from a decision (losers
///   leave, handlers are scheduled, failures are reported) is collected in the
///   `decision` and done when the locks are released.
///
/// LOCKS
///
///   level 1  port_core::mutex_   several at once: ascending address, or by
///                                try_lock on top of those held
///   level 2  an arbiter's own    taken under level 1
///   level 3  queues, timers      never while level 1 or 2 is held
///   none     user code, but predicates: under level 1
///
/// Lifetime: counted twice. Handles keep the port open; references (one for
/// all handles, one for each waiter) keep the memory.
class port_core final : public doomed {
public:
  port_core(const message_type& type, std::string_view name, made_at where);

  void add_handle() noexcept { handles_.fetch_add(1, memory_order_relaxed); }
  void drop_handle() noexcept { drop_handles(1); }
  /// A keeper is a handle that nobody reads through: see failure_port.
  void add_keeper() noexcept {
    handles_.fetch_add(keeper, memory_order_relaxed);
  }
  void drop_keeper() noexcept { drop_handles(keeper); }
  void add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void drop_ref() noexcept;
  /// Whether somebody refers to it besides the caller. False is for good.
  bool shared() const noexcept { return refs_.load(memory_order_acquire) != 1; }

  // What users call.

  /// False if the port is closed; the node is the caller's then.
  bool post(message_node* node);
  /// The oldest that belongs to nobody, or nullptr.
  message_node* try_take();
  message_list try_take_all();
  std::size_t clear();
  std::size_t size() const;
  void close();
  bool closed() const noexcept { return closed_.load(memory_order_acquire); }
  /// Whether there is a handle that is no keeper, or somebody waits.
  bool has_readers() const noexcept;
  std::string describe() const;
  const std::string* name() const noexcept { return name_.get(); }
  const message_type& type() const noexcept { return type_; }

  // What arbiters call, with the lock held through a decision.

  message_list& unowned() noexcept { return queue_; }
  std::size_t available(const offered& m) const noexcept {
    return queue_.size() + (m.linked ? 0 : 1);
  }
  /// Puts a message on offer where its number belongs.
  void link(offered& m) noexcept;
  /// On a closed port only for one that holds messages.
  void list(receiver& r) noexcept {
    (closed_.load(memory_order_relaxed) ? draining_ : receivers_)
        .insert(r, ++last_place_);
  }
  void list(receiver& r, std::uint64_t place) noexcept {
    receivers_.insert(r, place);
  }
  void unlist(receiver& r) noexcept {
    (closed_.load(memory_order_relaxed) ? draining_ : receivers_).remove(r);
  }
  std::uint64_t next_place() noexcept { return ++last_place_; }
  member_list& members() noexcept { return members_; }

  /// Unowned messages have been taken: who waits for them in vain now?
  void taken(decision& d) noexcept;

  /// Messages decided for an arbiter whose handler has not started.
  void hold(std::size_t n) noexcept {
    held_.fetch_add(n, memory_order_relaxed);
  }
  void release(std::size_t n) noexcept {
    held_.fetch_sub(n, memory_order_relaxed);
  }

  /// Gives messages back: each to the place of its number, then to the
  /// receivers, oldest first. Requires: decision::lock_with_watched(*this).
  /// They must have been counted by hold().
  void give_back(decision& d, message_list gifts) noexcept;

  mutable mutex mutex_;

private:
  friend class decision;

  static constexpr std::uint64_t keeper = (std::uint64_t{1} << 32) + 1;

  void drop_handles(std::uint64_t which) noexcept;
  /// Offers to the receivers in order. `blocked` only if locks are missing.
  offer_result offer(decision& d, offered& m) noexcept;
  void close_locked(decision& d) noexcept;
  void perish() noexcept override;
  ~port_core() = default;

  atomic<bool> closed_{false}; // written under mutex_
  atomic<std::uint32_t> refs_{1};
  atomic<std::uint64_t> handles_{1}; // low half: all; high half: the keepers

  // guarded by mutex_
  message_list queue_;
  receiver_list receivers_; // empty once closed
  receiver_list draining_;  // once closed: those who hold messages still
  member_list members_;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_place_ = 0;

  atomic<std::size_t> held_{0}; // raised under mutex_, lowered anywhere

  const message_type& type_;
  const std::unique_ptr<const std::string> name_; // null: unnamed
  const made_at where_;
};

/// A counted reference to a port's memory: what a waiter holds.
class port_ref {
public:
  explicit port_ref(port_core& port) noexcept : port_{&port} { port.add_ref(); }
  port_ref(port_ref&& other) noexcept
      : port_{std::exchange(other.port_, nullptr)} {}
  port_ref& operator=(port_ref&&) = delete;
  ~port_ref() {
    if (port_ != nullptr) {
      port_->drop_ref();
    }
  }

  port_core& operator*() const noexcept { return *port_; }
  port_core* operator->() const noexcept { return port_; }
  port_core* get() const noexcept { return port_; }
  /// The port as a list of one.
  std::span<port_core* const> self() const noexcept { return {&port_, 1}; }

private:
  port_core* port_;
};

/// Destroys the messages of a list, with no lock held and without recursion.
void destroy(message_list&& messages, const message_type& type) noexcept;

/// Counts messages that were linked back into a port by an arbiter other than
/// a persistent one that left. Receives, joins and choices leave it at 0.
std::uint64_t relinks() noexcept;

} // namespace wharf::inline v1::detail

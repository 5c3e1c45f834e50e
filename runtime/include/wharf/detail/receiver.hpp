#pragma once

// The one interface through which a port knows who waits on it. Arbiters
// implement it; the runtime knows nothing else of them.

#include <cstddef>
#include <cstdint>
#include <span>

namespace wharf::inline v1::detail {

class decision;
class port_core;
class receiver_list;
struct message_node;

enum class offer_result : std::uint8_t {
  taken,   // the message is the receiver's now
  left,    // the receiver does not want it, or can't use it
  blocked, // undecided: the receiver needs locks that decision::relock() gets
};

/// A message on offer. It lies in no list yet; a receiver that takes other
/// messages along with it (a join) links it first with port_core::link().
struct offered {
  message_node* node;
  bool linked = false;
  bool given_back = false; // it may be older than what a receiver holds
};

/// One registration on one port. All functions are called with the port's
/// lock held, on whatever thread caused them.
class receiver {
public:
  virtual offer_result offer(decision& d, offered& m) noexcept = 0;

  /// The port has closed: nothing more will be offered. The receiver is no
  /// longer asked; one that holds messages stays known until it is unlisted.
  virtual void port_closed(decision& d) noexcept = 0;

  /// All ports whose locks an attempt of this receiver takes, ascending;
  /// empty for one that needs its own port only.
  virtual std::span<port_core* const> lock_set() const noexcept { return {}; }

  /// Messages of this port that lie with this receiver, decided for it but
  /// not started; only for those that count them themselves.
  virtual std::size_t holding() const noexcept { return 0; }

  bool listed() const noexcept { return listed_; }

protected:
  /// What a port must know beforehand of those that wait on it.
  struct traits {
    bool wide = false;  // its attempts need locks of other ports
    bool holds = false; // holding() may be more than 0
    bool asks = false;  // it has a predicate
  };

  explicit receiver(std::int32_t priority, traits t) noexcept
      : priority_{priority}, traits_{t} {}
  ~receiver() = default;
  receiver(const receiver&) = delete;
  receiver& operator=(const receiver&) = delete;

private:
  friend class receiver_list;
  friend class port_core;

  receiver* previous_ = nullptr;
  receiver* next_ = nullptr;
  std::uint64_t place_ = 0; // order of registration within a priority
  const std::int32_t priority_;
  const traits traits_;
  bool listed_ = false;
};

/// The receivers of a port: descending priority, then ascending place.
class receiver_list {
public:
  receiver* front() const noexcept { return head_; }
  static receiver* after(const receiver& r) noexcept { return r.next_; }

  /// From the back: a new registration finds its place at once.
  void insert(receiver& r, std::uint64_t place) noexcept;
  void remove(receiver& r) noexcept;

  std::size_t wide() const noexcept { return wide_; }
  std::size_t asking() const noexcept { return asking_; }
  /// Sum over those that hold; steps over others only while looking for them.
  std::size_t holding() const noexcept;

private:
  receiver* head_ = nullptr;
  receiver* tail_ = nullptr;
  std::uint32_t wide_ = 0;
  std::uint32_t asking_ = 0;
  std::uint32_t holders_ = 0;
};

/// Somebody who needs to know when a closed port can't serve him any more,
/// although he may be waiting elsewhere at the moment: a join, on each of its
/// ports.
class port_member {
public:
  /// The port is closed and messages have left it. Port's lock held.
  virtual void port_short(decision& d) noexcept = 0;

  /// Whether it can still come to take messages of this port. Port's lock held.
  virtual bool may_take() const noexcept = 0;

  /// As receiver::holding(); only for those that joined as holders.
  virtual std::size_t holding() const noexcept { return 0; }

protected:
  port_member() noexcept = default;
  ~port_member() = default;
  port_member(const port_member&) = delete;
  port_member& operator=(const port_member&) = delete;

private:
  friend class member_list;
  port_member* previous_member_ = nullptr;
  port_member* next_member_ = nullptr;
  bool holds_ = false;
};

/// The members of a port: those that hold messages first, so that counting
/// steps over nobody else.
class member_list {
public:
  port_member* front() const noexcept { return head_; }
  static port_member* after(const port_member& m) noexcept {
    return m.next_member_;
  }
  void insert(port_member& m, bool holds) noexcept;
  void remove(port_member& m) noexcept;
  bool may_take() const noexcept;
  std::size_t holding() const noexcept;

private:
  port_member* head_ = nullptr;
  port_member* last_holder_ = nullptr;
};

} // namespace wharf::inline v1::detail

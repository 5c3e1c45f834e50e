#pragma once

// What an activation names and a queue holds: arbiters and spawned functions,
// from the moment they are active to the end of their last handler.

#include <wharf/detail/sync.hpp>
#include <wharf/detail/work_item.hpp>

#include <cstdint>

namespace wharf::inline v1::detail {

class decision;
class coroutine_scope;
class interleave_core;
class port_names;

/// Somebody who hears of an arbiter's end. In a list of the arbiter, guarded by
/// the list lock of its queue.
class end_listener {
public:
  /// The arbiter has ended; the listener is out of its list. That lock is held.
  virtual void heard_end(decision& d) noexcept = 0;

protected:
  end_listener() noexcept = default;
  ~end_listener() = default;
  end_listener(const end_listener&) = delete;
  end_listener& operator=(const end_listener&) = delete;

private:
  friend class arbiter;
  end_listener* previous_ = nullptr;
  end_listener* next_ = nullptr;
  bool listening_ = false;
};

/// The untyped root of everything that is activated.
///
/// Lifetime: counted. The queue holds one reference from link() until
/// finish(); activations hold the others. finish() destroys the payload (the
/// handlers and what they captured), so an activation that outlives its
/// arbiter holds a few bytes and nothing of the user's.
class arbiter : public work_item {
public:
  void add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void drop_ref() noexcept;

  /// Ends it before its time. True: nothing of it will start any more, and
  /// what it had not used is back in its ports. False: too late.
  virtual bool cancel() noexcept = 0;

  /// Whether something of it may still be decided.
  virtual bool active() const noexcept = 0;

  /// Whether its last handler is over and its payload destroyed.
  bool ended() const noexcept { return ended_.load(memory_order_acquire) != 0; }

  /// Blocks until ended().
  void wait_ended() const noexcept {
    while (!ended()) {
      ended_.wait(0, memory_order_acquire);
    }
  }

  /// Its queue ends: like cancel(), and nothing may keep it from ending. Names
  /// what it waited on, if somebody wants to know.
  virtual bool end_with_queue(port_names*) noexcept { return cancel(); }

  /// What a handler that is a coroutine belongs to.
  virtual const coroutine_scope* belongs_to() const noexcept { return nullptr; }

  /// Itself, if it takes further arbiters while it is at work: an interleave.
  virtual interleave_core* as_interleave() noexcept { return nullptr; }

  /// Will hear of the end. False: it has ended already.
  bool listen(end_listener& who) noexcept;
  void stop_listening(end_listener& who) noexcept;

  /// Called by a decision, once, with no lock held, for an arbiter that was
  /// handed to decision::settle().
  virtual void settle(decision&) noexcept {}

protected:
  explicit arbiter(queue_core& queue) noexcept;
  virtual ~arbiter();

  /// Buries the payload, leaves the queue's list and tells the waiters.
  /// `keep`: the queue's reference stays, for a work item still in line.
  /// Requires: the caller keeps the object alive until this returns.
  void finish(bool keep_reference = false) noexcept {
    add_ref();
    finish_pinned(keep_reference);
  }
  /// The same with a reference that the caller has taken for it, under the lock
  /// under which it decided to finish: a work item that is still in line may
  /// drop the queue's reference from then on.
  void finish_pinned(bool keep_reference) noexcept;

  /// Destroys handlers, predicates and captures.
  virtual void destroy_payload() noexcept = 0;
  /// Called after that, before anybody hears of the end.
  virtual void payload_destroyed() noexcept {}

  /// Its queue's end waits for it.
  void be_coroutine() noexcept { coroutine_ = true; }

private:
  friend class arbiter_list;
  friend class decision;
  friend class queue_core;

  void perish() noexcept final;
  /// Requires: the list lock of its queue.
  void end_locked(decision& d) noexcept;

  atomic<std::uint32_t> refs_{1};
  atomic<std::uint32_t> ended_{0};
  bool keep_reference_ = false;
  bool coroutine_ = false;            // constant once constructed
  bool linked_ = false;               // guarded by the queue's list lock
  end_listener* listeners_ = nullptr; // guarded by the queue's list lock
  arbiter* next_ = nullptr;           // guarded by the queue's list lock
  arbiter* previous_ = nullptr;       // guarded by the queue's list lock
  arbiter* next_to_settle_ = nullptr; // the deciding thread's
  bool revisited_ = false;            // likewise: a reference goes with it
};

/// The arbiters of one queue, in the order of activation.
class arbiter_list {
public:
  void push_back(arbiter& a) noexcept;
  void remove(arbiter& a) noexcept;
  arbiter* front() const noexcept { return head_; }
  bool contains(const arbiter& a) const noexcept { return a.linked_; }
  std::size_t size() const noexcept { return size_; }

private:
  arbiter* head_ = nullptr;
  arbiter* tail_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace wharf::inline v1::detail

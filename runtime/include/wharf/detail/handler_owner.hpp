#pragma once

// What a handler is to the arbiter that runs it: over when the call returns,
// or a coroutine that goes on and says so when it has ended.

#include <wharf/detail/sync.hpp>

#include <cstdint>
#include <exception>

namespace wharf::inline v1::detail {

/// What the call of a handler has left behind.
enum class [[nodiscard]] handled : std::uint8_t {
  over,    // nothing: the handler has returned
  goes_on, // a coroutine; the owner is told when it has ended, at once perhaps
};

/// Handlers that may be cancelled together while they run.
class coroutine_scope {
public:
  /// Whether one that starts now is to be cancelled.
  bool cancelled() const noexcept {
    return cancelled_.load(memory_order_acquire);
  }
  /// To be followed by queue_core::cancel_all().
  void set_cancelled() noexcept {
    cancelled_.store(true, memory_order_release);
  }

private:
  atomic<bool> cancelled_{false};
};

/// Whoever runs handlers.
class handler_owner {
public:
  /// What its handlers belong to, if they may be cancelled while they run.
  virtual const coroutine_scope* scope() const noexcept { return nullptr; }

  /// A handler that went on has ended, and its frame and messages are
  /// destroyed. `failure`: what it threw, or null. Called once, on a worker
  /// that serves the queue, with no lock held.
  virtual void handler_ended(std::exception_ptr failure) noexcept = 0;

protected:
  ~handler_owner() = default;
};

} // namespace wharf::inline v1::detail

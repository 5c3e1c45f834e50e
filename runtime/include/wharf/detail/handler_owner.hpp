#pragma once

// What a handler is to the arbiter that runs it: over when the call returns,
// or a coroutine that goes on and says so when it has ended.

#include <cstdint>
#include <exception>

namespace wharf::inline v1::detail {

/// What the call of a handler has left behind.
enum class [[nodiscard]] handled : std::uint8_t {
  over,    // nothing: the handler has returned
  goes_on, // a coroutine; the owner is told when it has ended, at once perhaps
};

/// Whoever runs handlers.
class handler_owner {
public:
  /// A handler that went on has ended, and its frame and messages are
  /// destroyed. `failure`: what it threw, or null. Called once, on a worker
  /// that serves the queue, with no lock held.
  virtual void handler_ended(std::exception_ptr failure) noexcept = 0;

protected:
  ~handler_owner() = default;
};

} // namespace wharf::inline v1::detail

#pragma once

// Activations: what activate and spawn return.

#include <wharf/detail/arbiter.hpp>

#include <utility>

namespace wharf::inline v1 {

/// A handle to something that was activated. Dropping it changes nothing; it
/// keeps nothing alive but a few bytes.
///
/// Thread safety: the members may be called from any thread; one activation
/// object is as thread-safe as a std::shared_ptr object.
class activation {
public:
  /// Names nothing: inactive and ended.
  activation() noexcept = default;
  activation(const activation& other) noexcept : arbiter_{other.arbiter_} {
    if (arbiter_ != nullptr) {
      arbiter_->add_ref();
    }
  }
  activation(activation&& other) noexcept
      : arbiter_{std::exchange(other.arbiter_, nullptr)} {}
  activation& operator=(activation other) noexcept {
    std::swap(arbiter_, other.arbiter_);
    return *this;
  }
  ~activation() {
    if (arbiter_ != nullptr) {
      arbiter_->drop_ref();
    }
  }

  /// True: nothing of the arbiter will start any more, and messages that it
  /// had not used are back in their ports. False: it is too late; it has ended
  /// or been cancelled, or its handler is decided. Does not wait: what has
  /// started goes on.
  bool cancel();

  /// Whether the arbiter still waits for something to be decided.
  bool active() const noexcept {
    return arbiter_ != nullptr && arbiter_->active();
  }

  /// Blocks until its last handler is over and its handler object destroyed.
  /// Throws std::logic_error on a worker of any dispatcher.
  void wait() const;

private:
  friend struct detail_activation_access;
  explicit activation(detail::arbiter& a) noexcept : arbiter_{&a} {
    a.add_ref();
  }

  detail::arbiter* arbiter_ = nullptr;
};

/// How activate and spawn make one.
struct detail_activation_access {
  static activation make(detail::arbiter& a) noexcept { return activation{a}; }
};

} // namespace wharf::inline v1

#pragma once

// Activations: what activate and spawn return.

#include <wharf/detail/arbiter.hpp>

#include <utility>

namespace wharf::inline v1 {

class when_ended;
template <class... Groups>
class interleave_of; // of <wharf/interleave.hpp>, which has combine() too

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
  /// or been cancelled, or its handler is decided. Does not wait: handlers that
  /// have started go on, coroutines included.
  ///
  /// A spawned coroutine that has started is asked to end: what it awaits now,
  /// and every later await, throws wharf::cancelled. True for the first such
  /// request that comes before its end, false for one that it makes itself.
  bool cancel();

  /// Adds the groups of `more` to this running interleave. When it returns they
  /// are registered on their ports, and from then on they are under the same
  /// exclusion, order, fairness, teardown and end as those before them;
  /// `then_close()` and `cancelling()` of an added teardown hold for all.
  ///
  /// False: the interleave has ended, or its teardown has begun, and `more` is
  /// dropped without having been registered. An activation that names nothing
  /// has ended. True is no promise that something of it will run: the end may
  /// come at any moment, and then what was added has left with the others.
  ///
  /// Never runs a handler; handlers of the same interleave may call it.
  /// Throws std::logic_error if the activation is not an interleave's, if
  /// `more` has a fairness of its own, or was used before. Throws
  /// std::bad_alloc: nothing was registered, or the interleave is cancelled.
  /// Cost: as activate().
  template <class... Groups>
  bool combine(interleave_of<Groups...> more);

  /// Whether the arbiter still waits for something to be decided.
  bool active() const noexcept {
    return arbiter_ != nullptr && arbiter_->active();
  }

  /// Blocks until its last handler is over and its handler object destroyed.
  /// Throws std::logic_error on a worker of any dispatcher.
  ///
  /// On a dispatcher that is cranked by hand it cranks; std::logic_error if
  /// nothing is left to run before that.
  void wait() const;

  /// The same for coroutines: `co_await running.ended();`. Also a branch of an
  /// awaited choice.
  when_ended ended() const;

private:
  friend struct detail_activation_access;
  explicit activation(detail::arbiter& a) noexcept : arbiter_{&a} {
    a.add_ref();
  }

  detail::arbiter* arbiter_ = nullptr;
};

namespace detail {
/// Throws std::logic_error on a worker of any dispatcher, inside predicates and
/// in coroutines.
void refuse_blocking(const char* what);
} // namespace detail

/// How activate and spawn make one.
struct detail_activation_access {
  static activation make(detail::arbiter& a) noexcept { return activation{a}; }
  static detail::arbiter* of(const activation& a) noexcept {
    return a.arbiter_;
  }
  /// Cancels what waits in vain on a dispatcher that is cranked by hand.
  static void cancel_and_wait(activation running);
};

} // namespace wharf::inline v1

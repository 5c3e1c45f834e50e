#pragma once

// Causalities: for whom work is done, and so where its failures go.

#include <wharf/detail/context.hpp>
#include <wharf/port.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace wharf::inline v1 {

namespace detail {
class causality_core;
} // namespace detail

/// A name and a port of failures, and a cheap handle to both: copies refer to
/// the same causality.
///
///     causality request{"request 42", failures};
///     {
///       causality_scope scope{request};
///       service.post(get); // whatever fails for it is told to `failures`
///     }
///
/// It travels with every post, spawn and activation that is made in a scope of
/// it, and with those that follow from them, to other dispatchers too: see
/// causality_scope.
///
/// Thread safety: as a std::shared_ptr.
/// Lifetime: it lasts as long as a handle of it, or something under way that
/// carries it, and so long it keeps the port open: a receiver on that port is
/// served until all is done. A port that nobody else holds and nobody waits on
/// is passed over as a closed one is, since nobody would read the failure.
class causality {
public:
  /// The name is for diagnostics. Throws std::bad_alloc.
  causality(std::string_view name, const port<std::exception_ptr>& failures);
  causality(const causality& other) noexcept;
  causality(causality&& other) noexcept : causality{std::as_const(other)} {}
  causality& operator=(causality other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~causality();

  const std::string& name() const noexcept;

  /// Whether two handles refer to the same causality.
  friend bool operator==(const causality& a, const causality& b) noexcept {
    return a.core_ == b.core_;
  }

private:
  friend class causality_scope;

  detail::causality_core* core_; // never null
};

/// Stands for "under no causality": causality_scope none{no_causality}.
struct no_causality_t {};
inline constexpr no_causality_t no_causality{};

/// While it lives, what its thread or coroutine posts, spawns and activates
/// carries a causality. Scopes nest: the innermost causality is told of a
/// failure, and the others only if it can't be.
///
/// What carries what:
/// * A message carries the causalities of its poster. A handler runs under
///   those of all its messages, each once, and what it posts, spawns and
///   activates carries them on.
/// * What has no messages (a timer, a spawned function) runs under those of
///   whoever armed or spawned it. So does a coroutine, for all its life: what
///   it receives does not change that, but for receive(p).with_causality().
/// * Code behind the scope is not affected, and neither is code inside: what a
///   handler itself throws there is its own failure, not the scope's.
///
/// A scope may be opened in a coroutine: it belongs to the coroutine, across
/// its awaits and on whatever thread it goes on.
///
/// Lifetime: a local variable. Scopes end in the opposite order of their
/// beginning, on the same thread or in the same coroutine; so it can't be made
/// by new, and std::terminate, with a message, is the answer to one that ends
/// elsewhere. A coroutine that is none of Wharf's must not suspend inside.
class [[nodiscard("a scope ends where its variable does")]] causality_scope {
public:
  /// Throws std::bad_alloc, and std::logic_error inside a predicate.
  explicit causality_scope(const causality& innermost);
  /// What is posted in it carries nothing: for messages that stand for a
  /// resource and come back, or for work that concerns nobody who waits.
  explicit causality_scope(no_causality_t);
  ~causality_scope();
  causality_scope(const causality_scope&) = delete;
  causality_scope& operator=(const causality_scope&) = delete;
  static void* operator new(std::size_t) = delete;
  static void* operator new[](std::size_t) = delete;

private:
  void enter(detail::context_ref under) noexcept;

  detail::context_state before_; // what it restores, and owns meanwhile
};

} // namespace wharf::inline v1

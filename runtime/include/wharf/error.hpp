#pragma once

// The errors that Wharf throws and posts, beside std::invalid_argument and
// std::logic_error for misuse.

#include <stdexcept>

namespace wharf::inline v1 {

/// Waiting on a port has become pointless: it is closed and lacks what was
/// waited for.
class port_closed : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Thrown by the await of a coroutine that was cancelled, or whose queue has
/// ended, and by every later one. A coroutine that lets it pass ends as it was
/// asked to: that is reported to nobody.
class cancelled : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A question was not answered in time.
class timed_out : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The answer of a request that was dropped without one.
class unanswered : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace wharf::inline v1

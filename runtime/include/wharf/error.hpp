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

} // namespace wharf::inline v1

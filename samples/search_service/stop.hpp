#pragma once

// Owns the message by which every component ends, and its answer.

#include <wharf/port.hpp>

#include <string_view>

namespace search_service {

/// A component has stopped: no handler of it runs or will run.
struct stopped {
  std::string_view component;
};

/// Ends the component that gets it. It overtakes what waits at the component's
/// ports; all that is destroyed, and what owes an answer answers by that.
struct stop {
  wharf::port<stopped> reply;
};

} // namespace search_service

#pragma once

// Owns the addresses of the service: which request means what, and how its
// answer is dressed.

#include "front.hpp"
#include "http_message.hpp"
#include "status.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>

namespace search_service {

/// Somebody wants the whole service to stop.
struct stop_requested {};

using web_port = wharf::port_set<http_request, stop>;

struct web_options {
  front_port front;
  status_port status;
  wharf::port<stop_requested> on_stop; ///< is told of POST /stop
};

/// Starts the component. It serves
///
///     GET  /                        the search page, with results for ?q=
///     GET  /search?q=...&limit=...  the same as JSON
///     GET  /status                  JSON
///     POST /stop                    ends the service
///
/// and HEAD wherever GET is served; other paths are 404, other methods 405. A
/// POST /stop that a page of some other site made a browser send is refused.
web_port create_web(wharf::dispatcher_queue& queue, web_options options);

} // namespace search_service

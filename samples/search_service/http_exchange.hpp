#pragma once

// Owns what comes of one request: whatever happens to it, there is one
// response.

#include "http_message.hpp"

#include <wharf/port.hpp>
#include <wharf/port_set.hpp>
#include <wharf/task.hpp>

#include <exception>

namespace search_service {

using http_answer = wharf::port_set<http_response, std::exception_ptr>;

/// Posts a request to be answered at `answer`, and gives the response: the
/// answer, a 500 as soon as a handler fails that works for it, or a 503 if
/// nobody is going to answer. A failure goes on to the queue's own.
///
/// Requires: request.answer is of `answer`, which has no other replies.
wharf::task<http_response> response_to(wharf::port<http_request> requests,
                                       http_request request,
                                       http_answer answer);

} // namespace search_service

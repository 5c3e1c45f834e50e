#pragma once

// Owns what travels between the HTTP side and the components: a request, and
// its response. Nothing here knows of sockets.

#include <wharf/reply.hpp>

#include <chrono>
#include <string>

namespace search_service {

/// What a client gets.
struct http_response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string allow = {};   ///< the methods that a 405 names
  bool retry_after = false; ///< whether it is worth a second try
};

/// A request as a client sent it; nothing in it has been checked.
///
/// It comes under a causality of its own: a handler that fails anywhere on the
/// way fails this request at once, whoever holds the answer.
struct http_request {
  std::string method;
  std::string target;
  std::string host;   ///< the header, or nothing
  std::string origin; ///< the header, or nothing
  std::chrono::steady_clock::time_point arrived;
  wharf::reply<http_response> answer;
};

} // namespace search_service

#pragma once

// Owns what travels between the HTTP side and the Wharf side: a request, and
// the right to answer it. Nothing here knows of sockets.

#include <chrono>
#include <memory>
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

/// Where an answer goes; the HTTP side's half of a responder.
class response_sink {
public:
  virtual ~response_sink() = default;

  /// Called once at most, from anywhere; doesn't wait.
  virtual void send(http_response response) = 0;
};

/// The duty to answer a request. Move-only, so it travels with the request from
/// message to message, and whoever can answer does.
///
/// One that dies unanswered, because its handler failed or its message was
/// discarded at the end, sends a 503: no client waits for an answer that
/// nobody owes any more.
class responder {
public:
  explicit responder(std::unique_ptr<response_sink> to) noexcept
      : to_{std::move(to)} {}
  ~responder();

  responder(responder&&) noexcept = default;
  responder& operator=(responder&& other) noexcept;

  /// Sends the answer. Only the first one counts.
  void send(http_response response);

private:
  void abandon();

  std::unique_ptr<response_sink> to_; // null once answered or moved from
};

/// A request as a client sent it; nothing in it has been checked.
struct http_request {
  std::string method;
  std::string target;
  std::string host;   ///< the header, or nothing
  std::string origin; ///< the header, or nothing
  std::chrono::steady_clock::time_point arrived;
  responder answer;
};

} // namespace search_service

#pragma once

// Owns the HTTP server as a whole: it accepts connections on 127.0.0.1, has
// each served by a coroutine, and ends them in order.

#include "http_message.hpp"

#include <wharf/activation.hpp>
#include <wharf/asio/io_thread.hpp>
#include <wharf/dispatcher.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/port.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace search_service {

struct http_options {
  std::uint16_t port = 8080; ///< 0: any that is free

  /// Connections that are served at once. The limit of open files of the
  /// process is raised for them as far as the system allows, and where it does
  /// not allow enough there are fewer. Further connections are refused with a
  /// 503 that says so.
  std::size_t connections_max = 12'000;

  /// Connections that are being refused at once. Still further ones wait in
  /// the system's backlog until others end.
  std::size_t refusals_max = 256;

  /// How long a connection may rest between two requests once others have
  /// found all places taken.
  std::chrono::milliseconds rest{100};

  /// How long a connection may take to send a request or to read an answer.
  std::chrono::milliseconds patience{15'000};

  /// How long requests at hand may take to be answered once it stops.
  std::chrono::milliseconds grace{500};
};

/// A server. Asio's thread waits for the system; whatever is done about a
/// connection is done on a queue of the dispatcher.
///
/// A request goes to the port. Its answer is what comes of its reply: a reply
/// that dies unanswered is a 503, and a failure of any handler that works for
/// the request a 500. Such a failure then goes where those of the queue go.
///
/// Thread safety: port() from anywhere, the rest by its owner, on no worker.
/// Lifetime: the I/O thread and the dispatcher outlive it.
class http_server {
public:
  /// Listens when it returns. Throws port_unavailable.
  http_server(wharf::asio::io_thread& io, wharf::dispatcher& pool,
              const http_options& options, wharf::port<http_request> requests);

  /// Stops.
  ~http_server();

  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  std::uint16_t port() const { return port_; }

  /// No more connections and requests from now on; those at hand are answered
  /// within the grace. Returns when all of it is over.
  void stop();

private:
  std::optional<wharf::dispatcher_queue> queue_; // nothing once stopped
  wharf::activation reception_;
  std::uint16_t port_ = 0;
};

} // namespace search_service

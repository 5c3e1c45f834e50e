#pragma once

// Owns the one thread that runs Asio. It accepts connections on 127.0.0.1,
// hands requests over, and ends in order on a signal or when told to.

#include "http_message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

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

  /// How long a connection may rest between two requests while all are taken.
  std::chrono::milliseconds rest{100};

  /// How long a connection may take to send a request or to read an answer.
  std::chrono::milliseconds patience{15'000};

  /// How long requests at hand may take to be answered once it stops.
  std::chrono::milliseconds grace{500};

  /// Whether SIGINT and SIGTERM stop it. They stay caught, to no further
  /// effect, while it exists: a second one must not spoil the exit status.
  bool stops_on_signals = false;
};

/// The port can't be had; what() is a sentence for the user.
class port_unavailable : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

class http_core;

/// A server and its thread.
///
/// Thread safety: port() and stop() from anywhere, the rest by its owner.
/// Lifetime: responders may outlive it; what they send then goes nowhere.
class http_thread {
public:
  /// Takes a request over; called on the server's thread, so it only posts.
  using handler = std::function<void(http_request)>;

  /// Listens when it returns. Throws port_unavailable.
  http_thread(const http_options& options, handler handle);

  /// Stops and waits.
  ~http_thread();

  http_thread(const http_thread&) = delete;
  http_thread& operator=(const http_thread&) = delete;

  std::uint16_t port() const;

  /// No more connections and requests from now on; those at hand are answered
  /// within the grace. Doesn't wait.
  void stop();

  /// Returns when it has stopped, for whatever reason.
  void wait();

private:
  std::shared_ptr<http_core> core_;
  std::thread thread_;
};

} // namespace search_service

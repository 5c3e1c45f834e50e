#pragma once

// Owns the listening socket, the connections and the end of both. Private to
// the HTTP side: includes Asio.

#include "http_thread.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>

#include <cstddef>
#include <memory>
#include <unordered_set>

namespace search_service {

class http_session;

/// The server without its thread.
///
/// A session is owned by the set of sessions from its start to its finish, so
/// it is there while nothing of Asio refers to it, which is when its request is
/// with Wharf. Responders own the core and watch their session: what they send
/// late finds nobody and harms nothing.
///
/// Thread safety: stop(), port() and context() from anywhere, the rest on the
/// thread that is in run().
class http_core : public std::enable_shared_from_this<http_core> {
public:
  /// Throws port_unavailable.
  http_core(const http_options& options, http_thread::handler handle);
  ~http_core();

  http_core(const http_core&) = delete;
  http_core& operator=(const http_core&) = delete;

  /// Accepts and serves until stopped. If something throws, what threw has cost
  /// its own connection or request; call it again for the others.
  void run();

  void stop();

  std::uint16_t port() const { return port_; }
  boost::asio::io_context& context() { return context_; }

  /// Hands a request to the program.
  void handle(http_request request) { handle_(std::move(request)); }

  const http_options& limits() const { return options_; }

  /// Whether further connections are refused.
  bool is_full() const { return sessions_.size() >= connections_max_; }

  bool stopping() const { return stopping_; }

  /// The session is over; its place is free.
  void remove(const std::shared_ptr<http_session>& session);

private:
  using tcp = boost::asio::ip::tcp;

  void listen();
  void accept();
  void admit(tcp::socket socket);
  void on_accept(boost::beast::error_code error, tcp::socket socket);
  void stop_here();
  void end_if_empty();

  const http_options options_;
  const std::size_t connections_max_; // as far as open files allow
  const http_thread::handler handle_;
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type>
      open_{context_.get_executor()};
  tcp::acceptor acceptor_{context_};
  boost::asio::signal_set signals_{context_};
  boost::asio::steady_timer retry_{context_}; // of accepting, if files ran out
  boost::asio::steady_timer grace_{context_};
  std::uint16_t port_ = 0;
  bool accepting_ = false;
  bool stopping_ = false;
  std::unordered_set<std::shared_ptr<http_session>> sessions_;
};

} // namespace search_service

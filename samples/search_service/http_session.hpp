#pragma once

// Owns one connection: reading a request, handing it over, writing the answer,
// and again while the client likes. Private to the HTTP side: includes Beast.

#include "http_message.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace search_service {

class http_core;

/// A connection.
///
/// Thread safety: none; everything happens on the server's thread.
/// Lifetime: the core owns it until finish(), and outlives it.
class http_session : public std::enable_shared_from_this<http_session> {
public:
  http_session(http_core& core, boost::asio::ip::tcp::socket socket);

  /// Begins to read.
  void start();

  /// Says that there are too many connections, instead.
  void turn_away();

  /// Sends the answer to the request at hand. Called once for each.
  void respond(http_response response);

  /// Ends the connection at once, whatever it is doing.
  void close();

  /// Ends it if no request is at hand.
  void close_if_reading();

  /// Others wait to be accepted: ends it soon, if it has been served and does
  /// not ask for more.
  void limit_rest();

private:
  enum class phase { reading, handed_over, writing, lingering, finished };

  using error_code = boost::beast::error_code;

  void read();
  void on_read(const error_code& error);
  void hand_over();
  void refuse(const error_code& error);
  void write(http_response response);
  void linger();
  void discard();
  void finish();

  http_core& core_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<
      boost::beast::http::request_parser<boost::beast::http::string_body>>
      parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
  boost::asio::steady_timer rest_;
  phase phase_ = phase::reading;
  bool served_ = false; // at least one request
  bool refused_ = false;
  bool keep_alive_ = false;
  bool without_body_ = false; // the answer to a HEAD
  std::size_t discarded_ = 0;
};

} // namespace search_service

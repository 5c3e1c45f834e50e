#include "http_connection.hpp"

#include "http_exchange.hpp"

#include <wharf/after.hpp>
#include <wharf/asio/awaited.hpp>
#include <wharf/choice.hpp>
#include <wharf/receive.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

namespace search_service {

namespace {

namespace http = boost::beast::http;
using boost::asio::as_tuple;
using boost::asio::ip::tcp;
using boost::beast::error_code;
using wharf::asio::awaited;

constexpr std::size_t header_size_max = 8 << 10;
constexpr std::size_t body_size_max = 64 << 10; // nothing here needs a body

// What the client is to be told of bytes that are no request; nothing if it has
// left, and does not listen.
std::optional<http_response> refusal_of(error_code error, bool has_target) {
  const bool left = error == http::error::end_of_stream ||
                    error == http::error::partial_message;
  const auto& nonsense = http::make_error_code(http::error{}).category();
  if (left || error.category() != nonsense) {
    return std::nullopt;
  }
  const bool too_long = error == http::error::header_limit ||
                        error == http::error::buffer_overflow;
  if (too_long && !has_target) {
    return http_response{
        .status = 414,
        .body = "The address is too long; a query has at most 1000 bytes.\n"};
  }
  if (too_long) {
    return http_response{
        .status = 431,
        .body = "The header is too long; at most 8 KiB are read.\n"};
  }
  if (error == http::error::body_limit) {
    return http_response{
        .status = 413,
        .body = "The body is too long; no request here needs one.\n"};
  }
  return http_response{.status = 400,
                       .body = "This is no HTTP request: " + error.message() +
                               ".\n"};
}

class connection {
public:
  connection(tcp::socket socket, connection_limits limits)
      : socket_{std::move(socket)}, limits_{limits},
        // Room for a header that is too long to be seen as such.
        buffer_{2 * header_size_max} {}

  wharf::task<void> serve(wharf::port<http_request> requests,
                          wharf::port<hurry> hint, std::stop_token ending) {
    for (;;) {
      const error_code error = co_await read(hint);
      if (error) {
        auto refusal = refusal_of(error, !parser_->get().target().empty());
        if (refusal) {
          co_await refuse(*std::move(refusal));
        }
        co_return;
      }
      // An answer at hand is still sent when all others leave.
      const bool goes_on = co_await wharf::shielded(answer(requests, ending));
      if (!goes_on) {
        co_return;
      }
    }
  }

  // Says no, and closes: where the next request would begin is unknown.
  wharf::task<void> refuse(http_response refusal) {
    const bool written = co_await wharf::shielded(write(refusal, false, false));
    if (written) {
      co_await linger();
    }
  }

private:
  // Reads a request into the parser. Who gives up in the middle loses nothing:
  // what has come is in the buffer and in the parser, and the next operation
  // goes on from there.
  wharf::task<error_code> read(const wharf::port<hurry>& hint) {
    parser_.emplace();
    parser_->header_limit(header_size_max);
    parser_->body_limit(body_size_max);
    if (!hurries_) {
      auto outcome = co_await wharf::choice(
          http::async_read(socket_, buffer_, *parser_, as_tuple(awaited)),
          wharf::receive(hint), wharf::after(limits_.patience));
      if (auto* read = std::get_if<0>(&outcome)) {
        co_return std::get<0>(*read);
      }
      if (outcome.index() == 2) {
        co_return boost::asio::error::timed_out;
      }
      hurries_ = true;
    }
    // Who has not been served yet has not rested.
    const auto time = served_ ? limits_.rest : limits_.patience;
    auto outcome = co_await wharf::choice(
        http::async_read(socket_, buffer_, *parser_, as_tuple(awaited)),
        wharf::after(time));
    if (auto* read = std::get_if<0>(&outcome)) {
      co_return std::get<0>(*read);
    }
    co_return boost::asio::error::timed_out;
  }

  // Whether the client may go on.
  wharf::task<bool> answer(const wharf::port<http_request>& requests,
                           const std::stop_token& ending) {
    served_ = true;
    auto request = parser_->release();
    const bool keep_alive = request.keep_alive();
    const bool to_head = request.method() == http::verb::head;
    http_answer where;
    http_request asked{.method = std::string{request.method_string()},
                       .target = std::string{request.target()},
                       .host = std::string{request[http::field::host]},
                       .origin = std::string{request[http::field::origin]},
                       .arrived = std::chrono::steady_clock::now(),
                       .answer = wharf::reply{where}};
    auto exchange = response_to(requests, std::move(asked), where);
    http_response response = co_await std::move(exchange);
    const bool kept = keep_alive && !ending.stop_requested();
    const bool written = co_await write(response, kept, to_head);
    co_return written&& kept && !ending.stop_requested();
  }

  // Whether all of it was written.
  wharf::task<bool> write(http_response& response, bool keep_alive,
                          bool to_head) {
    http::response<http::string_body> message;
    message.result(response.status);
    message.set(http::field::content_type, response.content_type);
    message.set(http::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    message.set("Referrer-Policy", "no-referrer");
    // Whatever slipped through the escaping of a page would not be run.
    message.set("Content-Security-Policy",
                "default-src 'none'; style-src 'unsafe-inline'; "
                "form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
    if (!response.allow.empty()) {
      message.set(http::field::allow, response.allow);
    }
    if (response.retry_after) {
      message.set(http::field::retry_after, "1");
    }
    message.keep_alive(keep_alive);
    message.content_length(response.body.size());
    if (!to_head) {
      message.body() = std::move(response.body);
    }
    auto outcome = co_await wharf::choice(
        http::async_write(socket_, message, as_tuple(awaited)),
        wharf::after(limits_.patience));
    auto* wrote = std::get_if<0>(&outcome);
    co_return wrote != nullptr && !std::get<0>(*wrote);
  }

  // Who was refused may still be sending. Closing now would make the system
  // reset the connection, and the answer would be lost on the way. So: no more
  // from us, and what comes is thrown away, within limits, until the client
  // closes too.
  wharf::task<void> linger() {
    constexpr std::size_t discarded_max = 64 << 20;
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::seconds{2};
    error_code error;
    socket_.shutdown(tcp::socket::shutdown_send, error);
    std::vector<char> room(64 << 10); // in few steps, for time is short
    for (std::size_t discarded = 0; !error && discarded <= discarded_max;) {
      const auto left = until - std::chrono::steady_clock::now();
      auto outcome = co_await wharf::choice(
          socket_.async_read_some(boost::asio::buffer(room), as_tuple(awaited)),
          wharf::after(left));
      auto* read = std::get_if<0>(&outcome);
      if (read == nullptr) {
        co_return;
      }
      error = std::get<0>(*read);
      discarded += std::get<1>(*read);
    }
  }

  tcp::socket socket_;
  const connection_limits limits_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool served_ = false; // at least one request
  bool hurries_ = false;
};

} // namespace

wharf::task<void> serve_connection(tcp::socket socket, connection_limits limits,
                                   wharf::port<http_request> requests,
                                   wharf::port<hurry> hint,
                                   std::stop_token ending,
                                   farewell_note /*note*/) {
  connection guest{std::move(socket), limits};
  co_await guest.serve(std::move(requests), std::move(hint), std::move(ending));
}

wharf::task<void> turn_away(tcp::socket socket, connection_limits limits,
                            farewell_note /*note*/) {
  connection guest{std::move(socket), limits};
  http_response refusal;
  refusal.status = 503;
  refusal.body = "Too many connections at once; try again in a second.\n";
  refusal.retry_after = true;
  co_await guest.refuse(std::move(refusal));
}

} // namespace search_service

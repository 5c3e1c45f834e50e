#include "http_session.hpp"

#include "http_core.hpp"

#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <utility>

namespace search_service {

namespace http = boost::beast::http;

namespace {

constexpr std::size_t header_size_max = 8 << 10;
constexpr std::size_t body_size_max = 64 << 10; // nothing here needs a body

// Sends answers from anywhere to a session on the server's thread.
class session_sink final : public response_sink {
public:
  session_sink(std::shared_ptr<http_core> core,
               std::weak_ptr<http_session> session) noexcept
      : core_{std::move(core)}, session_{std::move(session)} {}

  void send(http_response response) override {
    boost::asio::post(
        core_->context(),
        [session = session_, answer = std::move(response)]() mutable {
          if (const auto alive = session.lock()) {
            alive->respond(std::move(answer));
          }
        });
  }

private:
  std::shared_ptr<http_core> core_;
  std::weak_ptr<http_session> session_;
};

} // namespace

http_session::http_session(http_core& core, boost::asio::ip::tcp::socket socket)
    : core_{core}, stream_{std::move(socket)},
      // Room for a header that is too long to be seen as such.
      buffer_{2 * header_size_max}, rest_{core.context()} {
}

void http_session::start() {
  read();
}

void http_session::turn_away() {
  refused_ = true;
  write({.status = 503,
         .body = "Too many connections at once; try again in a second.\n",
         .retry_after = true});
}

void http_session::respond(http_response response) {
  if (phase_ == phase::handed_over) {
    write(std::move(response));
  }
}

void http_session::close() {
  if (phase_ != phase::finished) {
    stream_.close(); // what is under way ends with an error
    finish();
  }
}

void http_session::close_if_reading() {
  if (phase_ == phase::reading || phase_ == phase::lingering) {
    close();
  }
}

void http_session::limit_rest() {
  if (phase_ != phase::reading || !served_) {
    return;
  }
  rest_.expires_after(core_.limits().rest);
  rest_.async_wait([self = shared_from_this()](const error_code& cancelled) {
    if (!cancelled && self->phase_ == phase::reading) {
      self->close();
    }
  });
}

void http_session::read() {
  phase_ = phase::reading;
  parser_.emplace();
  parser_->header_limit(header_size_max);
  parser_->body_limit(body_size_max);
  stream_.expires_after(core_.limits().patience);
  http::async_read(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](const error_code& error, std::size_t) {
        self->on_read(error);
      });
  if (core_.is_full()) {
    limit_rest();
  }
}

void http_session::on_read(const error_code& error) {
  rest_.cancel();
  if (phase_ == phase::finished) {
    return;
  }
  const bool left = error == http::error::end_of_stream ||
                    error == http::error::partial_message;
  const auto& nonsense = http::make_error_code(http::error{}).category();
  if (!error) {
    hand_over();
  } else if (!left && error.category() == nonsense) {
    refuse(error);
  } else {
    close(); // the client left or took too long
  }
}

void http_session::hand_over() {
  phase_ = phase::handed_over;
  served_ = true;
  auto request = parser_->release();
  keep_alive_ = request.keep_alive();
  without_body_ = request.method() == http::verb::head;
  const auto field = [&request](http::field name) {
    return std::string{request[name]};
  };
  core_.handle({.method = std::string{request.method_string()},
                .target = std::string{request.target()},
                .host = field(http::field::host),
                .origin = field(http::field::origin),
                .arrived = std::chrono::steady_clock::now(),
                .answer = responder{std::make_unique<session_sink>(
                    core_.shared_from_this(), weak_from_this())}});
}

// Answers what is no request that we can read, and closes: where the next one
// would begin is unknown.
void http_session::refuse(const error_code& error) {
  refused_ = true;
  keep_alive_ = false;
  without_body_ = false;
  const bool too_long = error == http::error::header_limit ||
                        error == http::error::buffer_overflow;
  if (too_long && parser_->get().target().empty()) {
    write(
        {.status = 414,
         .body = "The address is too long; a query has at most 1000 bytes.\n"});
  } else if (too_long) {
    write({.status = 431,
           .body = "The header is too long; at most 8 KiB are read.\n"});
  } else if (error == http::error::body_limit) {
    write({.status = 413,
           .body = "The body is too long; no request here needs one.\n"});
  } else {
    write({.status = 400,
           .body = "This is no HTTP request: " + error.message() + ".\n"});
  }
}

void http_session::write(http_response response) {
  phase_ = phase::writing;
  keep_alive_ = keep_alive_ && !core_.stopping();
  response_ = {};
  response_.result(response.status);
  response_.set(http::field::content_type, response.content_type);
  response_.set(http::field::cache_control, "no-store");
  response_.set("X-Content-Type-Options", "nosniff");
  response_.set("Referrer-Policy", "no-referrer");
  // Whatever slipped through the escaping of a page would not be run.
  response_.set("Content-Security-Policy",
                "default-src 'none'; style-src 'unsafe-inline'; "
                "form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
  if (!response.allow.empty()) {
    response_.set(http::field::allow, response.allow);
  }
  if (response.retry_after) {
    response_.set(http::field::retry_after, "1");
  }
  response_.keep_alive(keep_alive_);
  response_.content_length(response.body.size());
  if (!without_body_) {
    response_.body() = std::move(response.body);
  }
  stream_.expires_after(core_.limits().patience);
  http::async_write(
      stream_, response_,
      [self = shared_from_this()](const error_code& error, std::size_t) {
        if (self->phase_ == phase::finished) {
          return;
        }
        if (error) {
          self->close();
        } else if (self->keep_alive_ && !self->core_.stopping()) {
          self->read();
        } else if (self->refused_) {
          self->linger();
        } else {
          self->close();
        }
      });
}

// Who was refused may still be sending. Closing now would make the system reset
// the connection, and the answer would be lost on the way. So: no more from us,
// and what comes is thrown away, within limits, until the client closes too.
void http_session::linger() {
  phase_ = phase::lingering;
  error_code error;
  stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, error);
  if (error || core_.stopping()) {
    close();
    return;
  }
  stream_.expires_after(std::chrono::seconds{2});
  buffer_.clear();
  discard();
}

void http_session::discard() {
  constexpr std::size_t discarded_max = 64 << 20;
  stream_.async_read_some(
      buffer_.prepare(header_size_max),
      [self = shared_from_this()](const error_code& error, std::size_t size) {
        if (self->phase_ == phase::finished) {
          return;
        }
        self->discarded_ += size;
        if (error || self->discarded_ > discarded_max) {
          self->close();
        } else {
          self->discard();
        }
      });
}

void http_session::finish() {
  phase_ = phase::finished;
  rest_.cancel();
  core_.remove(shared_from_this());
}

} // namespace search_service

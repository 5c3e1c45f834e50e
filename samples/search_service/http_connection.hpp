#pragma once

// Owns one connection: reading a request, handing it over, writing the answer,
// and again while the client likes. Private to the HTTP side: includes Asio.

#include "http_message.hpp"

#include <wharf/port.hpp>
#include <wharf/task.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

namespace search_service {

struct connection_limits {
  std::chrono::milliseconds rest;
  std::chrono::milliseconds patience;
};

/// Others wait to be accepted: who gets it rests no longer than `rest` between
/// two requests from now on.
struct hurry {};

/// A guest has gone.
struct departure {
  std::uint64_t guest = 0;
};

/// Announces the departure of a guest when it dies, be it with the coroutine
/// that serves the guest or before that has started.
class farewell_note {
public:
  farewell_note(std::uint64_t guest, const wharf::port<departure>& to)
      : guest_{guest}, to_{to} {}
  ~farewell_note() {
    if (to_) {
      to_->post(departure{guest_});
    }
  }
  farewell_note(farewell_note&& other) noexcept
      : guest_{other.guest_}, to_{std::exchange(other.to_, std::nullopt)} {}
  farewell_note& operator=(farewell_note&&) = delete;

private:
  std::uint64_t guest_;
  std::optional<wharf::port<departure>> to_; // nothing once moved from
};

/// Serves a connection until the client leaves, takes too long, or rests too
/// long. A cancel ends it at rest at once, and else with the answer at hand;
/// `ending` is requested before that, and the answer says so.
wharf::task<void> serve_connection(boost::asio::ip::tcp::socket socket,
                                   connection_limits limits,
                                   wharf::port<http_request> requests,
                                   wharf::port<hurry> hint,
                                   std::stop_token ending, farewell_note note);

/// Says that there are too many connections, instead.
wharf::task<void> turn_away(boost::asio::ip::tcp::socket socket,
                            connection_limits limits, farewell_note note);

} // namespace search_service

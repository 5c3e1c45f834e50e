#include "http_server.hpp"

#include "http_connection.hpp"
#include "listener.hpp"

#include <wharf/after.hpp>
#include <wharf/asio/post_to.hpp>
#include <wharf/choice.hpp>
#include <wharf/error.hpp>
#include <wharf/port_set.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <unordered_map>
#include <utility>
#include <variant>

namespace search_service {

namespace {

using boost::asio::ip::tcp;

// Whether accepting fails for want of something that others may give back.
bool is_shortage(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code() == boost::asio::error::no_descriptors ||
           error.code() == boost::system::errc::too_many_files_open_in_system ||
           error.code() == boost::asio::error::no_buffer_space ||
           error.code() == boost::asio::error::no_memory;
  } catch (...) {
    return false;
  }
}

// Receives the guests, knows how many there are, and sees them off. One
// coroutine, so what it counts needs no protection.
class reception {
public:
  reception(const http_options& options, tcp::acceptor acceptor,
            wharf::port<http_request> requests)
      : options_{options}, places_{connections_possible(options.connections_max,
                                                        options.refusals_max)},
        limits_{.rest = options.rest, .patience = options.patience},
        acceptor_{std::move(acceptor)}, requests_{std::move(requests)} {}

  wharf::task<void> work() {
    try {
      for (;;) {
        accept_if_there_is_room();
        co_await hear_news();
      }
    } catch (const wharf::cancelled&) {
      // It is time to stop, and to do that properly.
    }
    co_await wharf::shielded(see_all_off());
  }

private:
  // A connection that arrives is a message, so none is lost by looking at
  // something else meanwhile.
  void accept_if_there_is_room() {
    if (!accepting_ && guests_ < places_ + options_.refusals_max) {
      accepting_ = true;
      acceptor_.async_accept(wharf::asio::post_to(arrivals_));
    }
  }

  wharf::task<void> hear_news() {
    auto news = co_await wharf::choice(
        wharf::receive(departures_),
        wharf::receive(arrivals_.get<tcp::socket>()),
        wharf::receive(arrivals_.get<std::exception_ptr>()));
    if (auto* left = std::get_if<0>(&news)) {
      --guests_;
      hints_.erase(left->guest);
      co_return;
    }
    accepting_ = false;
    if (auto* arrived = std::get_if<1>(&news)) {
      admit(std::move(*arrived));
    } else if (is_shortage(std::get<2>(news))) {
      // Trying again at once would find the same and burn a core meanwhile.
      co_await wharf::sleep_for(std::chrono::milliseconds{100});
    }
  }

  void admit(tcp::socket socket) {
    const std::uint64_t guest = next_guest_++;
    farewell_note note{guest, departures_};
    ++guests_;
    if (guests_ > places_) {
      wharf::spawn(wharf::this_queue(), ending_.get_token(), turn_away,
                   std::move(socket), limits_, std::move(note));
      return;
    }
    const wharf::port<hurry> hint{"hint to hurry"};
    hints_.emplace(guest, hint);
    wharf::spawn(wharf::this_queue(), ending_.get_token(), serve_connection,
                 std::move(socket), limits_, requests_, hint,
                 ending_.get_token(), std::move(note));
    if (guests_ >= places_) {
      for (auto& [_, each] : std::exchange(hints_, {})) {
        each.post(hurry{});
      }
    }
  }

  // Those at rest leave at once, those with a request when it is answered. Who
  // is still there after the grace is sent away by the end of the queue.
  wharf::task<void> see_all_off() {
    boost::system::error_code ignored; // it fails only if it is closed already
    acceptor_.close(ignored);
    ending_.request_stop();
    const auto until = std::chrono::steady_clock::now() + options_.grace;
    while (guests_ > 0) {
      const auto left = until - std::chrono::steady_clock::now();
      const auto news = co_await wharf::choice(wharf::receive(departures_),
                                               wharf::after(left));
      if (news.index() == 1) {
        co_return;
      }
      --guests_;
    }
  }

  const http_options options_;
  const std::size_t places_; // as far as open files allow
  const connection_limits limits_;
  tcp::acceptor acceptor_;
  wharf::port<http_request> requests_;
  wharf::port_set<tcp::socket, std::exception_ptr> arrivals_;
  wharf::port<departure> departures_{"departures"};
  std::stop_source ending_;
  std::size_t guests_ = 0; // those who are turned away included
  std::uint64_t next_guest_ = 0;
  std::unordered_map<std::uint64_t, wharf::port<hurry>> hints_; // not given yet
  bool accepting_ = false;
};

wharf::task<void> receive_guests(http_options options, tcp::acceptor acceptor,
                                 wharf::port<http_request> requests) {
  reception desk{options, std::move(acceptor), std::move(requests)};
  co_await desk.work();
}

} // namespace

http_server::http_server(wharf::asio::io_thread& io, wharf::dispatcher& pool,
                         const http_options& options,
                         wharf::port<http_request> requests) {
  tcp::acceptor acceptor = listen_at(io.context(), options.port);
  port_ = acceptor.local_endpoint().port();
  queue_.emplace(pool, "http");
  reception_ = wharf::spawn(*queue_, receive_guests, options,
                            std::move(acceptor), std::move(requests));
}

http_server::~http_server() {
  stop();
}

void http_server::stop() {
  if (queue_) {
    reception_.cancel();
    reception_.wait();
    queue_.reset();
  }
}

} // namespace search_service

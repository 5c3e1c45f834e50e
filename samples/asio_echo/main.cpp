// An echo server: the sockets are Asio's, the coroutines and their threads are
// Wharf's. What each line needs to know is in docs/asio.md.

#include <wharf/asio.hpp>
#include <wharf/wharf.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <iostream>
#include <utility>

namespace net = boost::asio;
using net::ip::tcp;
using wharf::asio::awaited;

/// Sends back what a client sends, until it leaves or is silent for a minute.
wharf::task<void> serve(tcp::socket client) {
  std::array<char, 4096> room;
  for (;;) {
    auto outcome = co_await wharf::choice(
        client.async_read_some(net::buffer(room), net::as_tuple(awaited)),
        wharf::after(std::chrono::minutes{1}));
    if (outcome.index() == 1) {
      co_return;
    }
    const auto [error, bytes] = std::get<0>(outcome);
    if (error) {
      co_return;
    }
    co_await net::async_write(client, net::buffer(room, bytes), awaited);
  }
}

wharf::task<void> welcome(tcp::acceptor& listener) {
  for (;;) {
    tcp::socket client = co_await listener.async_accept(awaited);
    wharf::spawn(wharf::this_queue(), serve, std::move(client));
  }
}

wharf::task<int> signal_of(net::signal_set& signals) {
  co_return co_await signals.async_wait(awaited);
}

int main() {
  wharf::asio::io_thread io; // first: it outlives what uses it
  net::signal_set signals{io.context(), SIGINT, SIGTERM};
  tcp::acceptor listener{io.context(), {net::ip::address_v4::loopback(), 0}};
  std::cout << "port " << listener.local_endpoint().port() << std::endl;

  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "echo"};
  wharf::spawn(queue, welcome, std::ref(listener));
  wharf::sync_wait(queue, signal_of(signals));
} // the queue ends its coroutines, and with them the connections

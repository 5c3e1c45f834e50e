#pragma once

// Two sockets of this machine that are connected: a near one, which is tested,
// and a far one, which the test drives with blocking calls.

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace wharf::test {

class connection {
  using tcp = boost::asio::ip::tcp;

public:
  /// Any port that is free.
  static tcp::endpoint loopback() {
    return {boost::asio::ip::address_v4::loopback(), 0};
  }

  /// The far end, by blocking calls.
  class far_end {
  public:
    void write(std::string_view text) {
      boost::asio::write(socket_, boost::asio::buffer(text));
    }
    std::string read(std::size_t bytes) {
      std::string text(bytes, ' ');
      boost::asio::read(socket_, boost::asio::buffer(text));
      return text;
    }
    void close() { socket_.close(); }

  private:
    friend connection;
    explicit far_end(boost::asio::io_context& context) : socket_{context} {}
    tcp::socket socket_;
  };

  explicit connection(boost::asio::io_context& context)
      : near{context}, far{context} {
    tcp::acceptor acceptor{context, loopback()};
    far.socket_.connect(acceptor.local_endpoint());
    acceptor.accept(near);
    far.socket_.set_option(tcp::no_delay{true});
  }

  tcp::socket near;
  far_end far;
};

} // namespace wharf::test

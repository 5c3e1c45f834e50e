#pragma once

// Owns where connections come from: the listening socket, and how many of them
// the system allows.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace search_service {

/// The port can't be had; what() is a sentence for the user.
class port_unavailable : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Listens on 127.0.0.1; port 0 is any that is free. Throws port_unavailable.
boost::asio::ip::tcp::acceptor listen_at(boost::asio::io_context& context,
                                         std::uint16_t port);

/// How many of the wanted connections can have a file descriptor, when others
/// need some, too: so many that are refused, and the files that are indexed.
/// Raises the limit of open files as far as that takes.
std::size_t connections_possible(std::size_t wanted, std::size_t refused);

} // namespace search_service

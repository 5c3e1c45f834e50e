#include "listener.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <algorithm>
#include <string>

#include <sys/resource.h>

namespace search_service {

using boost::asio::ip::tcp;

tcp::acceptor listen_at(boost::asio::io_context& context, std::uint16_t port) {
  const tcp::endpoint where{boost::asio::ip::address_v4::loopback(), port};
  try {
    return tcp::acceptor{context, where}; // the address may be reused
  } catch (const boost::system::system_error& error) {
    const std::string number = std::to_string(port);
    if (error.code() == boost::asio::error::address_in_use) {
      throw port_unavailable{"port " + number +
                             " is in use by another program; choose one with "
                             "--http, or 0 for any that is free."};
    }
    throw port_unavailable{"can't serve on port " + number + ": " +
                           error.code().message() + "."};
  }
}

std::size_t connections_possible(std::size_t wanted, std::size_t refused) {
  const rlim_t others = refused + 512;
  const rlim_t all = wanted + others;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return wanted;
  }
  if (files.rlim_cur < all) {
    files.rlim_cur = std::min(all, files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files); // if not, then not
    ::getrlimit(RLIMIT_NOFILE, &files);
  }
  const rlim_t possible = files.rlim_cur > 2 * others ? files.rlim_cur - others
                                                      : files.rlim_cur / 2;
  return std::min<std::size_t>(wanted, possible);
}

} // namespace search_service

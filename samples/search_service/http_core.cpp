#include "http_core.hpp"

#include "http_session.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace search_service {

namespace asio = boost::asio;
using boost::beast::error_code;

namespace {

// How many of the wanted connections can have a file descriptor, when others
// need some, too: those that are refused, and the files that are indexed.
std::size_t connections_possible(const http_options& options) {
  const rlim_t others = options.refusals_max + 512;
  const rlim_t wanted = options.connections_max + others;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return options.connections_max;
  }
  if (files.rlim_cur < wanted) {
    files.rlim_cur = std::min(wanted, files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files); // if not, then not
    ::getrlimit(RLIMIT_NOFILE, &files);
  }
  const rlim_t possible = files.rlim_cur > 2 * others ? files.rlim_cur - others
                                                      : files.rlim_cur / 2;
  return std::min<std::size_t>(options.connections_max, possible);
}

} // namespace

http_core::http_core(const http_options& options, http_thread::handler handle)
    : options_{options}, connections_max_{connections_possible(options)},
      handle_{std::move(handle)} {
  listen();
  if (options_.stops_on_signals) {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](const error_code& error, int) {
      if (!error) {
        stop_here();
      }
    });
  }
}

http_core::~http_core() = default;

void http_core::listen() {
  const tcp::endpoint where{asio::ip::address_v4::loopback(), options_.port};
  try {
    acceptor_.open(where.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address{true});
    acceptor_.bind(where);
    acceptor_.listen();
    port_ = acceptor_.local_endpoint().port();
  } catch (const boost::system::system_error& error) {
    const std::string port = std::to_string(options_.port);
    if (error.code() == asio::error::address_in_use) {
      throw port_unavailable{"port " + port +
                             " is in use by another program; choose one with "
                             "--http, or 0 for any that is free."};
    }
    throw port_unavailable{"can't serve on port " + port + ": " +
                           error.code().message() + "."};
  }
}

void http_core::run() {
  accept();
  context_.run();
}

void http_core::stop() {
  asio::post(context_, [this] { stop_here(); });
}

void http_core::accept() {
  const std::size_t sessions_max = connections_max_ + options_.refusals_max;
  if (accepting_ || stopping_ || sessions_.size() >= sessions_max) {
    return;
  }
  accepting_ = true;
  acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
    accepting_ = false;
    on_accept(error, std::move(socket));
  });
}

void http_core::on_accept(error_code error, tcp::socket socket) {
  if (stopping_) {
    return;
  }
  if (error == asio::error::no_descriptors ||
      error == boost::system::errc::too_many_files_open_in_system ||
      error == asio::error::no_buffer_space ||
      error == asio::error::no_memory) {
    // Trying again at once would find the same and burn a core meanwhile.
    retry_.expires_after(std::chrono::milliseconds{100});
    retry_.async_wait([this](const error_code& cancelled) {
      if (!cancelled) {
        accept();
      }
    });
    return;
  }
  if (!error) {
    admit(std::move(socket));
  }
  accept();
}

void http_core::admit(tcp::socket socket) {
  const bool was_full = is_full();
  const auto session = std::make_shared<http_session>(*this, std::move(socket));
  sessions_.insert(session);
  if (was_full) {
    session->turn_away();
  } else {
    session->start();
  }
  if (is_full() && !was_full) {
    for (const auto& each : sessions_) {
      each->limit_rest();
    }
  }
}

void http_core::remove(const std::shared_ptr<http_session>& session) {
  sessions_.erase(session);
  end_if_empty();
  accept();
}

void http_core::stop_here() {
  if (stopping_) {
    return;
  }
  stopping_ = true;
  error_code ignored; // closing fails only if it is closed already
  acceptor_.close(ignored);
  retry_.cancel();
  const std::vector<std::shared_ptr<http_session>> all{sessions_.begin(),
                                                       sessions_.end()};
  for (const auto& session : all) {
    session->close_if_reading();
  }
  grace_.expires_after(options_.grace);
  grace_.async_wait([this](const error_code&) {
    const std::vector<std::shared_ptr<http_session>> rest{sessions_.begin(),
                                                          sessions_.end()};
    for (const auto& session : rest) {
      session->close();
    }
    end_if_empty();
  });
  end_if_empty();
}

// Nothing keeps run() from returning once nobody is left: the work guard goes,
// and what still waits is cancelled. Signals stay caught.
void http_core::end_if_empty() {
  if (stopping_ && sessions_.empty()) {
    grace_.cancel();
    error_code ignored;
    signals_.cancel(ignored);
    open_.reset();
  }
}

} // namespace search_service

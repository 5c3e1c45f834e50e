// The program: reads the command line, runs the service behind HTTP until it is
// told to stop, and says what it did.

#include "http_server.hpp"
#include "listener.hpp"
#include "options.hpp"
#include "service.hpp"

#include <wharf/asio/awaited.hpp>
#include <wharf/asio/io_thread.hpp>
#include <wharf/choice.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <iostream>
#include <stop_token>
#include <string>
#include <utility>

#include <unistd.h>

namespace search_service {
namespace {

namespace net = boost::asio;

// Until a signal or a request says that it is enough. Who is busy meanwhile
// hears of it by `ending`.
wharf::task<void> until_told(net::signal_set& signals,
                             wharf::port<stop_requested> requests,
                             std::stop_source ending) {
  co_await wharf::choice(
      signals.async_wait(net::as_tuple(wharf::asio::awaited)),
      wharf::receive(requests));
  ending.request_stop();
}

// The end of everything: first the connections, then the components, which
// save and account for what they had, then the threads.
void end(http_server& http, service& all) {
  using namespace std::chrono_literals;
  http.stop();
  all.stop();
  for (const auto& [name, report] : all.shut_down(5s)) {
    std::cerr << "search_service: dispatcher \"" << name
              << "\": " << report.text() << std::endl;
  }
}

int serve(const options& chosen) {
  wharf::asio::io_thread io{"http"}; // first: it outlives what uses it
  // Signals stay caught to the end: a second one must not spoil the exit.
  net::signal_set signals{io.context(), SIGINT, SIGTERM};
  service all{{.loads = chosen.loads,
               .shards = chosen.shards,
               .watch = chosen.watch,
               .snapshot = chosen.snapshot,
               .snapshot_every = chosen.snapshot_every,
               .console = {.out = &std::cout,
                           .bar = ::isatty(STDERR_FILENO) == 1 ? &std::cerr
                                                               : nullptr}}};
  wharf::dispatcher_queue queue{all.pool(), "main"};
  std::stop_source ending;
  const wharf::activation told = wharf::spawn(
      queue, until_told, std::ref(signals), all.stop_requests(), ending);
  http_server http{io, all.pool(), {.port = chosen.http_port}, all.requests()};
  const std::string restored =
      all.restore([&ending] { return ending.stop_requested(); });
  std::cout << "serving http://127.0.0.1:" << http.port() << "/" << std::endl;
  if (!restored.empty()) {
    std::cout << restored << std::endl;
  }
  if (!ending.stop_requested()) {
    all.index(chosen.directories);
  }
  told.wait();
  end(http, all);
  return 0;
}

int run(int argc, const char* const argv[]) {
  const auto parsed = parse_options(argc, argv);
  if (const auto* said = std::get_if<farewell>(&parsed)) {
    (said->status == 0 ? std::cout : std::cerr) << said->text << std::flush;
    return said->status;
  }
  try {
    return serve(std::get<options>(parsed));
  } catch (const port_unavailable& error) {
    std::cerr << "search_service: " << error.what() << std::endl;
    return exit_status_for_bad_input;
  } catch (const std::exception& error) {
    std::cerr << "search_service: " << error.what() << std::endl;
    return 1;
  }
}

} // namespace
} // namespace search_service

int main(int argc, char* argv[]) {
  // Who reads the output may leave; the service goes on.
  std::signal(SIGPIPE, SIG_IGN);
  return search_service::run(argc, argv);
}

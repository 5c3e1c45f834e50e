// The program: reads the command line, runs the service behind HTTP until it is
// told to stop, and says what it did.

#include "http_thread.hpp"
#include "options.hpp"
#include "service.hpp"

#include <wharf/receive.hpp>

#include <csignal>
#include <exception>
#include <iostream>

#include <unistd.h>

namespace search_service {
namespace {

int serve(const options& chosen) {
  service all{{.loads = chosen.loads,
               .shards = chosen.shards,
               .out = &std::cout,
               .is_terminal = ::isatty(STDOUT_FILENO) == 1}};
  http_thread http{{.port = chosen.http_port, .stops_on_signals = true},
                   [requests = all.requests()](http_request request) mutable {
                     requests.post(std::move(request));
                   }};
  wharf::activation stop_watch = wharf::activate(
      all.queue(), wharf::receive(all.stop_requests(),
                                  [&http](stop_requested) { http.stop(); }));
  std::cout << "serving http://127.0.0.1:" << http.port() << "/" << std::endl;
  all.index(chosen.directories);

  http.wait();
  all.stop();
  if (!stop_watch.cancel()) {
    stop_watch.wait(); // its handler refers to http
  }
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

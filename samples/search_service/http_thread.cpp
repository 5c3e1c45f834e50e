#include "http_thread.hpp"

#include "http_core.hpp"

#include <exception>
#include <iostream>
#include <utility>

namespace search_service {

namespace {

void run(const std::shared_ptr<http_core>& core) {
  while (true) {
    try {
      core->run();
      return;
    } catch (const std::exception& error) {
      std::cerr << "search_service: HTTP: " << error.what() << '\n';
    }
  }
}

} // namespace

http_thread::http_thread(const http_options& options, handler handle)
    : core_{std::make_shared<http_core>(options, std::move(handle))} {
  thread_ = std::thread{run, core_};
}

http_thread::~http_thread() {
  stop();
  wait();
}

std::uint16_t http_thread::port() const {
  return core_->port();
}

void http_thread::stop() {
  core_->stop();
}

void http_thread::wait() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

} // namespace search_service

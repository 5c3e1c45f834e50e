#pragma once

// A port of failures in the hands of those who report to it.

#include <wharf/detail/port_core.hpp>

#include <exception>
#include <span>
#include <utility>

namespace wharf::inline v1::detail {

/// Keeps its port open, so that a receiver on it hears of what is still under
/// way; but a port that nobody else holds and nobody waits on is no place for a
/// failure: nobody would ever read it.
class failure_port {
public:
  failure_port() noexcept = default; // none
  /// `port` is one of std::exception_ptr.
  explicit failure_port(port_core& port) noexcept : port_{&port} {
    port.add_keeper();
  }
  failure_port(const failure_port& other) noexcept : port_{other.port_} {
    if (port_ != nullptr) {
      port_->add_keeper();
    }
  }
  failure_port(failure_port&& other) noexcept
      : port_{std::exchange(other.port_, nullptr)} {}
  failure_port& operator=(failure_port other) noexcept {
    std::swap(port_, other.port_);
    return *this;
  }
  ~failure_port() {
    if (port_ != nullptr) {
      port_->drop_keeper();
    }
  }

  /// False: there is no port, it is one of `not_to`, it is closed, nobody reads
  /// it, or there is no memory.
  bool post(const std::exception_ptr& failure,
            std::span<port_core* const> not_to) const noexcept;

private:
  port_core* port_ = nullptr;
};

} // namespace wharf::inline v1::detail

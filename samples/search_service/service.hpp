#pragma once

// Owns the service as a whole: the dispatchers, the components and how they are
// joined together. Knows nothing of sockets and of the command line.

#include "console.hpp"
#include "front.hpp"
#include "loader.hpp"
#include "scanner.hpp"
#include "shard.hpp"
#include "status.hpp"
#include "web.hpp"

#include <wharf/dispatcher.hpp>
#include <wharf/dispatcher_queue.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <vector>

namespace search_service {

struct service_options {
  std::size_t loads = 4;
  std::size_t shards = 4;
  std::chrono::milliseconds step_time{300}; ///< as front_options has it
  std::ostream* out = nullptr;              ///< where progress goes
  bool is_terminal = false;                 ///< whether `out` is one
};

/// The running service.
///
/// Thread safety: its members are called by its owner, on no worker; the ports
/// that they return may be used from anywhere.
class service {
public:
  /// Starts all components. Requires: `options.out` is not null and outlives
  /// the service.
  explicit service(const service_options& options);

  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Begins to index the directories. Called once.
  void index(std::vector<std::filesystem::path> directories);

  /// Stops all components, prints and returns the last report, in which every
  /// file that was found is accounted for. Takes as long as the handlers that
  /// run, and little more than a second if they don't end.
  status_report stop();

  wharf::port<http_request> requests() const {
    return web_.get<http_request>();
  }
  wharf::port<stop_requested> stop_requests() const { return stop_requests_; }
  status_port status() const { return status_; }
  wharf::dispatcher_queue& queue() { return front_queue_; }

private:
  status_gauge make_gauge() const;
  void stop_components();
  status_report last_report();

  const service_options options_;

  // The ports below end first, then the queues, which wait for the handlers
  // that run, then the pools. Handlers hold what they need.
  //
  // Reading files blocks, so it has workers of its own: however slow the disk
  // is, searches find a worker.
  wharf::dispatcher pool_;
  wharf::dispatcher loading_pool_;
  wharf::dispatcher_queue front_queue_;
  wharf::dispatcher_queue status_queue_;
  wharf::dispatcher_queue loading_queue_;
  std::vector<std::unique_ptr<wharf::dispatcher_queue>> shard_queues_;

  wharf::port<load_token> tokens_;
  wharf::port<stop_requested> stop_requests_;
  console_port console_;
  std::vector<shard_port> shards_;
  loader_port loader_;
  front_port front_;
  status_port status_;
  scanner_port scanner_;
  web_port web_;
};

} // namespace search_service

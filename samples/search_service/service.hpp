#pragma once

// Owns the service as a whole: the dispatchers, the components and how they are
// joined together. Knows nothing of sockets and of the command line.

#include "console.hpp"
#include "front.hpp"
#include "loader.hpp"
#include "scanner.hpp"
#include "shard.hpp"
#include "snapshot_keeper.hpp"
#include "status.hpp"
#include "watcher.hpp"
#include "web.hpp"

#include <wharf/dispatcher.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/shutdown_report.hpp>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace search_service {

struct service_options {
  std::size_t loads = 4;
  std::size_t shards = 4;
  std::chrono::milliseconds step_time{300}; ///< as front_options has it

  /// How long after a look at the directories comes the next; nothing: never.
  std::optional<std::chrono::milliseconds> watch = {};

  std::filesystem::path snapshot = {}; ///< empty: none is read or written
  std::chrono::milliseconds snapshot_every{30'000}; ///< while it watches

  console_options console;

  /// How a file is read.
  file_reading read = [](const std::filesystem::path& path) {
    return read_file(path);
  };
};

/// How a dispatcher of the service has ended.
struct dispatcher_end {
  std::string name;
  wharf::shutdown_report report;
};

/// The running service.
///
/// Thread safety: its members are called by its owner, on no worker; the ports
/// that they return may be used from anywhere.
class service {
public:
  /// Starts all components. Requires: the streams of `options.console` are
  /// there and outlive the service.
  explicit service(const service_options& options);

  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Reads the snapshot, if there is one: searches find what it holds from then
  /// on, and wait meanwhile. Returns a sentence about it, or nothing. It gives
  /// up soon after `give_up()` is true; then the snapshot stays as it is.
  /// Called once, before index().
  std::string restore(const std::function<bool()>& give_up);

  /// Begins to index the directories, and to watch them if so chosen. Called
  /// once.
  void index(std::vector<std::filesystem::path> directories);

  /// Stops all components, writes the snapshot, prints and returns the last
  /// report, in which every file that was found is accounted for. Takes as long
  /// as the handlers that run, and little more than a second if they don't end.
  /// Writing a snapshot takes ten seconds at most; one that takes longer is
  /// given up, and the old one stays.
  status_report stop();

  /// Ends the dispatchers, after stop(), and says how that went. Waits so long
  /// at most.
  std::vector<dispatcher_end> shut_down(std::chrono::milliseconds within);

  wharf::port<http_request> requests() const {
    return web_.get<http_request>();
  }
  wharf::port<stop_requested> stop_requests() const { return stop_requests_; }
  status_port status() const { return status_; }
  wharf::dispatcher& pool() { return pool_; }
  wharf::dispatcher_queue& queue() { return front_queue_; }

private:
  status_gauge make_gauge() const;
  std::string adopt_snapshot(std::vector<inverted_index> parts);
  void save_last_snapshot();
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
  wharf::port<std::string> notes_; // sentences, which go to the console
  std::vector<shard_port> shards_;
  loader_port loader_;
  front_port front_;
  status_port status_;
  scanner_port scanner_;
  web_port web_;
  std::optional<keeper_port> keeper_; // unless there is no snapshot to write
  wharf::activation watching_;
  wharf::activation saving_;
};

} // namespace search_service

#pragma once

// Owns the snapshot as a component: when it is written, and what goes into it.

#include "inverted_index.hpp"
#include "shard.hpp"
#include "status.hpp"
#include "stop.hpp"

#include <wharf/activation.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace search_service {

/// The snapshot is written.
struct saved {
  std::uint64_t bytes = 0;
};

/// Writes a snapshot now. If the keeper stops first, the reply dies unanswered
/// and the old snapshot stays.
struct save {
  wharf::reply<saved> reply;
};

using keeper_port = wharf::port_set<save, stop>;

struct keeper_options {
  std::filesystem::path file;
  std::vector<shard_port> shards;
};

/// Starts the keeper on a queue whose workers may block on the disk. One
/// snapshot is written at a time. The shards are asked one after the other, so
/// at any moment all but one answer searches as ever.
keeper_port create_keeper(wharf::dispatcher_queue& queue,
                          keeper_options options);

/// Has a snapshot written every `interval`, if the index has changed meanwhile,
/// until it is cancelled or the keeper has stopped. What goes wrong goes to
/// `notes`, as a sentence.
wharf::activation save_from_time_to_time(wharf::dispatcher_queue& queue,
                                         keeper_port keeper, status_port status,
                                         wharf::port<std::string> notes,
                                         std::chrono::milliseconds interval);

/// Reads a snapshot for `shards` shards, of whatever number of shards it was
/// written; nothing if there is no file, or `give_up()` was true in between.
/// Throws snapshot_refused.
std::optional<std::vector<inverted_index>>
read_snapshot(const std::filesystem::path& file, std::size_t shards,
              const std::function<bool()>& give_up);

} // namespace search_service

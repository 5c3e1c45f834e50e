#pragma once

// Owns a search from question to answer: scatter, gather, deadline.

#include "answers.hpp"
#include "loader.hpp"
#include "search_parameters.hpp"
#include "shard.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <vector>

namespace search_service {

/// Searches the whole index. If the front stops first, the reply dies
/// unanswered.
struct search {
  search_parameters parameters;
  std::chrono::steady_clock::time_point arrived;
  wharf::reply<search_answer> reply;
};

using front_port = wharf::port_set<search, stop>;

struct front_options {
  std::vector<shard_port> shards;
  loader_port loader; ///< makes the snippets

  /// How long each of a search's three steps may take.
  std::chrono::milliseconds step_time{300};

  /// Searches that are worked on at once; further ones wait in order.
  std::size_t searches_max = 16;
};

/// Starts the front. A search is one coroutine: it asks all shards for their
/// statistics, then for their best documents by the sum of the statistics, then
/// the loader for the snippets of the best of all. Each step goes on when all
/// have answered, or its time is over: a choice of a gather and a time. A shard
/// that is late for either question is left out, and the answer says that it is
/// partial. A late snippet is left out, too; that doesn't make an answer
/// partial. A search for which something fails is not answered. Stop cancels
/// the searches that are worked on.
front_port create_front(wharf::dispatcher_queue& queue, front_options options);

} // namespace search_service

#pragma once

// Owns one part of the index as a component.

#include "document.hpp"
#include "file_claim.hpp"
#include "inverted_index.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace search_service {

/// The words of a query, shared by all who work on it.
using shared_words = std::shared_ptr<const std::vector<std::string>>;

/// Adds a document, and settles its file.
struct merge {
  document added;
  file_claim claim;
};

/// A shard's part of a collection's statistics.
struct shard_statistics {
  std::size_t shard = 0; ///< as the question had it
  collection_statistics part;
};

/// The first question of a search; see inverted_index for why there are two.
struct ask_statistics {
  using reply_port = wharf::port_set<shard_statistics, std::exception_ptr>;

  shared_words words;
  std::size_t shard = 0;
  reply_port reply;
};

/// The second question: documents for `words`, scored with the statistics of
/// all shards.
struct ask_ranking {
  using reply_port = wharf::port_set<ranking, std::exception_ptr>;

  shared_words words;
  std::shared_ptr<const collection_statistics> statistics;
  std::size_t limit = 0;
  reply_port reply;
};

using shard_port = wharf::port_set<merge, ask_statistics, ask_ranking, stop>;

/// Starts a shard: an empty index behind an interleave. Questions run beside
/// each other, merges alone, and stop ends it; a stream of merges lets waiting
/// questions through after every sixteen.
shard_port create_shard(wharf::dispatcher_queue& queue);

} // namespace search_service

#pragma once

// Owns one part of the index as a component.

#include "document.hpp"
#include "file_claim.hpp"
#include "inverted_index.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace search_service {

/// The words of a query, shared by all who work on it.
using shared_words = std::shared_ptr<const std::vector<std::string>>;

/// Adds a document, in the place of an older one of its name, and settles its
/// file.
struct merge {
  document added;
  file_claim claim;
};

/// Removes the document of a file, if there is one, and settles the file.
struct drop {
  std::string path;
  file_settled outcome; ///< what became of the file
  file_claim claim;
};

/// A shard's part of a collection's statistics.
struct shard_statistics {
  std::size_t shard = 0; ///< as the question had it
  collection_statistics part;
};

/// The first question of a search; see inverted_index for why there are two.
struct ask_statistics {
  shared_words words;
  std::size_t shard = 0;
  wharf::reply<shard_statistics> reply;
};

/// The second question: documents for `words`, scored with the statistics of
/// all shards.
struct ask_ranking {
  shared_words words;
  std::shared_ptr<const collection_statistics> statistics;
  std::size_t limit = 0;
  wharf::reply<ranking> reply;
};

struct adopted {};

/// Takes over an index, in the place of the shard's own.
struct adopt {
  inverted_index index;
  wharf::port<adopted> reply;
};

/// The shard's part of a snapshot.
struct section {
  std::string bytes;
};

/// Asks for it.
struct ask_section {
  wharf::reply<section> reply;
};

using shard_port = wharf::port_set<adopt, merge, drop, ask_statistics,
                                   ask_ranking, ask_section, stop>;

/// Starts a shard: an empty index behind an interleave. Questions run beside
/// each other, changes alone, and stop ends it; a stream of changes lets
/// waiting questions through after every sixteen.
shard_port create_shard(wharf::dispatcher_queue& queue);

} // namespace search_service

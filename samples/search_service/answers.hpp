#pragma once

// Owns what the service knows when it answers: what a search found, and how it
// is doing. How that looks is up to json.hpp and page.hpp.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace search_service {

/// One document of an answer.
struct search_result {
  std::string path; ///< as the system spells it: any bytes
  double score = 0;
  std::string snippet; ///< HTML; empty if there was no time to make it
};

/// The answer to a search.
struct search_answer {
  std::string query;
  double took_ms = 0;
  bool partial = false;    ///< a shard was late or failed
  std::uint64_t total = 0; ///< documents found, by the shards that answered
  std::vector<search_result> results;
};

/// Files that are not indexed, by the reason why.
struct skipped_files {
  std::uint64_t by_name = 0;
  std::uint64_t binary = 0;
  std::uint64_t too_large = 0;
  std::uint64_t special = 0; ///< pipes, devices and the like
  std::uint64_t links = 0;   ///< symbolic links, which are not followed

  std::uint64_t total() const {
    return by_name + binary + too_large + special + links;
  }
};

/// What waits at the ports of the service at one moment.
struct queue_depths {
  std::size_t files = 0;    ///< to be loaded
  std::size_t snippets = 0; ///< to be made
  std::size_t merges = 0;   ///< loaded, on the way into a shard
  std::size_t searches = 0; ///< that have not begun
};

/// How the service is doing. Each file that was found, be it new, changed or
/// gone, is indexed, skipped, failed, removed, dropped at the end, or still on
/// its way.
struct status_report {
  bool indexing = true;
  std::uint64_t documents = 0; ///< that can be found now
  std::uint64_t words = 0;     ///< in them
  std::uint64_t found = 0;
  std::uint64_t indexed = 0;
  std::uint64_t updated = 0; ///< indexed, in the place of an older document
  std::uint64_t removed = 0;
  std::uint64_t changes = 0; ///< of the index
  skipped_files skipped;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t unsteady = 0;           ///< indexed, and changed meanwhile
  std::uint64_t failed_directories = 0; ///< could not be looked into
  std::uint64_t handler_failures = 0;   ///< of the program itself
  std::uint64_t bytes = 0;              ///< of indexed files, read so far
  std::size_t running_loads = 0;
  std::size_t loads_max = 0;
  queue_depths waiting;

  std::uint64_t settled() const {
    return indexed + skipped.total() + failed + removed + dropped;
  }
  std::uint64_t failures() const { return failed + failed_directories; }
};

/// `number` with its thousands set apart, for people: 1,234,567.
std::string readable(std::uint64_t number);

} // namespace search_service

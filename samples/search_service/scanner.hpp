#pragma once

// Owns finding the files below the directories.

#include "file_stamp.hpp"
#include "loader.hpp"
#include "status.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace search_service {

/// A round has ended: every file that it found is settled.
struct round_ended {};

/// Walks the directories and all below them, once, and hands over what is new,
/// has changed or has gone since the round before.
struct scan {
  std::vector<std::filesystem::path> roots;
  wharf::reply<round_ended> reply;
};

/// Files that the index holds already, and how they were when they were read.
struct known_files {
  std::vector<std::pair<std::string, file_stamp>> files;
};

using scanner_port = wharf::port_set<known_files, scan, stop>;

struct scanner_options {
  loader_port loader; ///< gets the files
  status_port status; ///< is told what was seen

  /// Entries that are looked at in a row; then others have their turn.
  std::size_t slice_size = 256;

  /// Slices whose files may be under way at once.
  std::size_t slices_max = 16;

  /// The time of files, in nanoseconds.
  std::function<std::int64_t()> now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
};

/// Starts the scanner. It walks in slices: between two it goes through its
/// queue, so no worker is held for long and stop is heard. A slice needs a
/// credit, which comes home when all files of some earlier slice are settled,
/// so files wait on the disk and not in memory. With all credits home a round
/// has ended; so no file is under way twice.
///
/// Symbolic links are counted and not followed, but those that were named as
/// roots; a directory that is met twice is walked once. So no walk is endless
/// and none leaves its roots. Directories of version control systems are left
/// out: what they hold is not for reading.
///
/// A file is read again when its stamp has changed. What a round does not see
/// any more has gone, unless its directory could not be looked into: nobody
/// knows what such a one holds.
scanner_port create_scanner(wharf::dispatcher_queue& queue,
                            scanner_options options);

} // namespace search_service

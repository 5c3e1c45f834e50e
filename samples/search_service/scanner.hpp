#pragma once

// Owns finding the files below the directories.

#include "loader.hpp"
#include "status.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>

#include <cstddef>
#include <filesystem>
#include <vector>

namespace search_service {

/// Walks the directories and all below them.
struct scan {
  std::vector<std::filesystem::path> roots;
};

using scanner_port = wharf::port_set<scan, stop>;

struct scanner_options {
  loader_port loader; ///< gets the files
  status_port status; ///< is told what was seen

  /// Entries that are looked at in a row; then others have their turn.
  std::size_t slice_size = 256;

  /// Slices whose files may be under way at once.
  std::size_t slices_max = 16;
};

/// Starts the scanner. It walks in slices: each ends by posting the next to
/// itself, so no worker is held for long and stop is heard between two. A slice
/// needs a credit, which comes home when all files of some earlier slice are
/// settled, so files wait on the disk and not in memory.
///
/// Symbolic links are counted and not followed, but those that were named as
/// roots; a directory that is met twice is walked once. So no walk is endless
/// and none leaves its roots. Directories of version control systems are left
/// out: what they hold is not for reading.
scanner_port create_scanner(wharf::dispatcher_queue& queue,
                            scanner_options options);

} // namespace search_service

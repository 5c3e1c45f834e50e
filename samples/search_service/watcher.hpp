#pragma once

// Owns when the scanner goes round: once, or again and again.

#include "scanner.hpp"

#include <wharf/activation.hpp>
#include <wharf/dispatcher_queue.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <vector>

namespace search_service {

/// Starts the first round now, and with an interval each further one that long
/// after the end of the round before; so rounds don't pile up, however large
/// the directories are and slow the disk. Ends when it is cancelled, or the
/// scanner has stopped.
wharf::activation watch(wharf::dispatcher_queue& queue, scanner_port scanner,
                        std::vector<std::filesystem::path> roots,
                        std::optional<std::chrono::milliseconds> interval);

} // namespace search_service

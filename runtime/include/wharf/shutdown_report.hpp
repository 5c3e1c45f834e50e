#pragma once

// What dispatcher::shutdown found and left.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wharf::inline v1 {

/// Everything is named; text() says it in lines for a log.
struct shutdown_report {
  /// One queue about which there is something to tell.
  struct queue {
    std::string name;
    std::size_t running = 0;     ///< handlers and coroutines not over yet
    std::uint64_t discarded = 0; ///< decided or spawned, and never started
    std::size_t cancelled = 0; ///< arbiters that left without an end of theirs
    std::size_t resumed = 0;   ///< coroutines that were cut short
  };
  /// One port that an arbiter or a coroutine waited on.
  struct port {
    std::string name;
    std::size_t messages = 0; ///< left in it, for nobody
  };

  /// Nothing of the dispatcher ran any more when shutdown returned.
  bool finished = false;
  /// All that was queued was run before the queues ended.
  bool drained = false;
  std::chrono::steady_clock::duration took{};
  std::vector<queue> queues;
  std::vector<port> ports;

  /// Nothing was running, discarded, cut short, or left in ports.
  bool clean() const noexcept;
  /// One line, and one more for each queue and each port.
  std::string text() const;
};

} // namespace wharf::inline v1

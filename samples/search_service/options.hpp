#pragma once

// Owns the command line, and CLI11.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace search_service {

/// What the service is to do.
struct options {
  std::vector<std::filesystem::path> directories;
  std::uint16_t http_port = 8080; ///< 0: any that is free
  std::size_t loads = 4;          ///< files read at once
  std::size_t shards = 4;

  /// How long after a look at the directories comes the next; nothing: never.
  std::optional<std::chrono::milliseconds> watch;

  std::filesystem::path snapshot; ///< empty: none is read or written
  std::chrono::milliseconds snapshot_every{30'000}; ///< while it watches
};

/// What to print instead, and the exit status.
struct farewell {
  std::string text;
  int status = 0;
};

inline constexpr int exit_status_for_bad_input = 2;

/// Reads the command line. A directory that is missing or can't be looked into
/// is refused here, before anything has started.
std::variant<options, farewell> parse_options(int argc,
                                              const char* const argv[]);

} // namespace search_service

#pragma once

// Owns reading a file that may be anything: huge, unreadable, special, or
// changing while it is read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>

namespace search_service {

/// Files above this are skipped: one of them would hold a loader and its
/// memory for longer than any text that somebody wrote deserves.
inline constexpr std::size_t file_size_limit = 16 << 20;

/// How reading a file ended.
enum class read_outcome {
  complete,  ///< everything is there
  unsteady,  ///< changed while it was read; what was read is there
  too_large, ///< above the limit; nothing is there
  special,   ///< a pipe, device or the like; nothing is there
  failed     ///< the system refused; `error` says why, nothing is there
};

struct file_content {
  read_outcome outcome = read_outcome::complete;
  std::string bytes;
  std::error_code error;
};

/// Reads a whole file of at most `size_max` bytes. A file that grows is read to
/// the end that it has when the reader gets there. Never waits for a pipe or a
/// terminal.
file_content read_file(const std::filesystem::path& path,
                       std::size_t size_max = file_size_limit);

/// A way to read files.
using file_reading = std::function<file_content(const std::filesystem::path&)>;

/// Reads up to `size` bytes to `to`: how many came, 0 at the end, -1 for an
/// error that is then in `error`.
using read_step = std::function<std::ptrdiff_t(char* to, std::size_t size,
                                               std::error_code& error)>;

/// The reading itself, of a file that announced `expected` bytes.
file_content read_steps(std::uintmax_t expected, std::size_t size_max,
                        const read_step& step);

} // namespace search_service

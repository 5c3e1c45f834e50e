#pragma once

// Owns the rule by which a file counts as unchanged without being read.

#include <cstdint>

struct stat;

namespace search_service {

/// What the system says about a file's content: two equal stamps that are
/// settled mean that it has not changed in between.
struct file_stamp {
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0; ///< when its content changed
  std::int64_t changed_ns = 0;  ///< when anything of it did; 0: not settled

  /// A file that changed a moment before it was looked at may change again
  /// without its times showing it, since clocks of file systems tick slowly.
  /// Such a stamp is like no other, so that the file is read once more.
  bool settled() const { return changed_ns != 0; }

  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// The stamp of a file with this status, looked at at `now_ns` of the system's
/// clock.
file_stamp stamp_of(const struct stat& status, std::int64_t now_ns);

/// Whether a file that was stamped `before` has to be read again.
inline bool has_changed(const file_stamp& before, const file_stamp& now) {
  return !before.settled() || before != now;
}

} // namespace search_service

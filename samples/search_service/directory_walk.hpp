#pragma once

// Owns walking directories and all below them, a step at a time.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace search_service {

/// What a step of a walk came upon.
struct sight {
  enum class kind {
    nothing, ///< worth telling
    file,
    link,
    special, ///< a pipe, a device or the like
    failed   ///< a directory that can't be looked into; `error` says why
  };

  kind what = kind::nothing;
  std::filesystem::path path = {};
  std::optional<struct stat> status = {}; ///< of a file, if it can be had
  std::error_code error = {};
};

/// A walk. It follows no links but its roots, enters no directory twice and
/// none of a version control system, and takes what vanishes under its feet for
/// something that was never there; but a root that is missing has failed.
///
/// Thread safety: none.
class directory_walk {
public:
  explicit directory_walk(std::vector<std::filesystem::path> roots);

  /// Looks at one entry, or opens one directory; nothing at the end.
  std::optional<sight> step();

private:
  struct place {
    std::filesystem::path path;
    bool is_root;
  };

  sight open(const place& directory);
  sight look_at(const std::filesystem::directory_entry& entry);

  std::vector<place> waiting_; // the next one last
  std::optional<std::filesystem::directory_iterator> current_; // not at its end
  std::filesystem::path directory_;                            // current_ is in
  std::set<std::pair<dev_t, ino_t>> visited_;
};

} // namespace search_service

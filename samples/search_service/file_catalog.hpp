#pragma once

// Owns the memory of what was seen on the disk: from one round of the scanner
// to the next, which files are new, changed or gone.

#include "file_stamp.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace search_service {

/// The files that were seen, each with its stamp.
///
/// Thread safety: none; its owner's interleave sees to that.
class file_catalog {
public:
  enum class finding { added, changed, same };

  /// What is seen from now on is of a new round.
  void begin_round() { ++round_; }

  /// All of the round have been seen; sweep() is next.
  void begin_sweep() { next_ = files_.begin(); }

  /// Takes down a file as this round found it.
  finding see(std::string_view path, const file_stamp& stamp);

  /// Looks at up to `steps` more files and calls `gone(path) -> bool` for each
  /// that this round has not seen: true, it is forgotten; false, it is kept.
  /// Returns whether there are more to look at.
  template <class Gone>
  bool sweep(std::size_t steps, Gone gone) {
    for (; steps > 0 && next_ != files_.end(); --steps) {
      const bool missing = next_->second.round != round_;
      const bool forgotten = missing && gone(next_->first);
      next_ = forgotten ? files_.erase(next_) : std::next(next_);
    }
    return next_ != files_.end();
  }

  /// Takes down a file as somebody saw it before the first round.
  void remember(std::string path, const file_stamp& stamp) {
    files_.insert_or_assign(std::move(path), entry{stamp, round_});
  }

  std::size_t size() const { return files_.size(); }

private:
  struct path_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view path) const {
      return std::hash<std::string_view>{}(path);
    }
  };
  struct entry {
    file_stamp stamp;
    std::uint64_t round;
  };
  using table =
      std::unordered_map<std::string, entry, path_hash, std::equal_to<>>;

  table files_;
  std::uint64_t round_ = 0;
  table::iterator next_ = files_.end(); // to be swept
};

} // namespace search_service

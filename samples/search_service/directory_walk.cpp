#include "directory_walk.hpp"

#include <cerrno>
#include <ranges>

namespace search_service {

namespace {

namespace fs = std::filesystem;

bool is_version_control(const fs::path& directory) {
  const fs::path name = directory.filename();
  return name == ".git" || name == ".hg" || name == ".svn";
}

bool is_missing(std::error_code error) {
  return error == std::errc::no_such_file_or_directory ||
         error == std::errc::not_a_directory;
}

std::error_code last_error() {
  return {errno, std::generic_category()};
}

} // namespace

directory_walk::directory_walk(std::vector<fs::path> roots) {
  for (fs::path& root : std::views::reverse(roots)) {
    waiting_.push_back({std::move(root), true});
  }
}

std::optional<sight> directory_walk::step() {
  if (!current_) {
    if (waiting_.empty()) {
      return std::nullopt;
    }
    const place directory = std::move(waiting_.back());
    waiting_.pop_back();
    return open(directory);
  }
  sight seen = look_at(**current_);
  std::error_code error;
  current_->increment(error);
  if (error || *current_ == fs::directory_iterator{}) {
    current_.reset();
  }
  if (error && !is_missing(error)) {
    // What the last entry was is lost; the next round sees it.
    return sight{sight::kind::failed, directory_, {}, error};
  }
  return seen;
}

sight directory_walk::open(const place& directory) {
  struct stat status{};
  std::error_code error;
  if (::stat(directory.path.c_str(), &status) != 0) {
    error = last_error();
  } else if (!visited_.emplace(status.st_dev, status.st_ino).second) {
    return {};
  }
  if (!error) {
    fs::directory_iterator entries{directory.path, error};
    if (!error && entries != fs::directory_iterator{}) {
      current_ = std::move(entries);
      directory_ = directory.path;
    }
  }
  if (error && (directory.is_root || !is_missing(error))) {
    return {sight::kind::failed, directory.path, {}, error};
  }
  return {};
}

sight directory_walk::look_at(const fs::directory_entry& entry) {
  struct stat status{};
  if (::lstat(entry.path().c_str(), &status) != 0) {
    if (is_missing(last_error())) {
      return {};
    }
    // Whoever reads it finds out why, and says so.
    return {sight::kind::file, entry.path(), {}, {}};
  }
  if (S_ISREG(status.st_mode)) {
    return {sight::kind::file, entry.path(), status, {}};
  }
  if (S_ISLNK(status.st_mode)) {
    return {sight::kind::link, entry.path(), {}, {}};
  }
  if (!S_ISDIR(status.st_mode)) {
    return {sight::kind::special, entry.path(), {}, {}};
  }
  if (!is_version_control(entry.path())) {
    waiting_.push_back({entry.path(), false});
  }
  return {};
}

} // namespace search_service

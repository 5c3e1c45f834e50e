#include "file_stamp.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace search_service {

namespace {

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

file_stamp stamp_of(const struct stat& status, std::int64_t now_ns) {
  // Longer than the ticks of Linux, shorter than anybody's interval.
  constexpr std::int64_t moment_ns = 50'000'000;
  file_stamp stamp{static_cast<std::uint64_t>(status.st_size),
                   nanoseconds(status.st_mtim), nanoseconds(status.st_ctim)};
  const std::int64_t latest = std::max(stamp.modified_ns, stamp.changed_ns);
  // A time in the future is somebody's wish, and no reason to read for ever.
  if (latest <= now_ns && now_ns - latest < moment_ns) {
    stamp.changed_ns = 0;
  }
  return stamp;
}

} // namespace search_service

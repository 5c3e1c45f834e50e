#include "search_service/file_stamp.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include <sys/stat.h>

namespace search_service {
namespace {

constexpr std::int64_t second = 1'000'000'000;

struct stat status_of(std::int64_t size, std::int64_t modified,
                      std::int64_t changed) {
  struct stat status{};
  status.st_size = size;
  status.st_mtim.tv_sec = modified;
  status.st_ctim.tv_sec = changed;
  return status;
}

TEST(SearchServiceFileStampTest, SizeOrTimesTellThatAFileHasChanged) {
  const file_stamp before = stamp_of(status_of(5, 10, 10), 99 * second);
  EXPECT_FALSE(
      has_changed(before, stamp_of(status_of(5, 10, 10), 100 * second)));
  EXPECT_TRUE(has_changed(before, stamp_of(status_of(6, 10, 10), 99 * second)));
  EXPECT_TRUE(has_changed(before, stamp_of(status_of(5, 11, 10), 99 * second)));
  EXPECT_TRUE(has_changed(before, stamp_of(status_of(5, 10, 11), 99 * second)));
}

// It may be written once more in the same tick of the file system's clock.
TEST(SearchServiceFileStampTest, FileThatHasJustChangedIsReadOnceMore) {
  const auto status = status_of(5, 10, 10);
  const file_stamp hot = stamp_of(status, 10 * second + 1'000'000);
  EXPECT_FALSE(hot.settled());
  EXPECT_TRUE(has_changed(hot, hot));
  const file_stamp cold = stamp_of(status, 11 * second);
  EXPECT_TRUE(has_changed(hot, cold));
  EXPECT_FALSE(has_changed(cold, cold));
}

TEST(SearchServiceFileStampTest, OldestAndFutureTimesAreTimesLikeOthers) {
  const file_stamp oldest = stamp_of(status_of(5, 0, 7), 99 * second);
  EXPECT_TRUE(oldest.settled());
  const file_stamp future = stamp_of(status_of(5, 200, 7), 99 * second);
  EXPECT_TRUE(future.settled());
}

} // namespace
} // namespace search_service

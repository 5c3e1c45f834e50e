#include "search_service/file_reader.hpp"

#include "search_service_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include <sys/stat.h>

namespace search_service {
namespace {

using test::scratch_directory;

// A file that has `content` by the time it is read, in steps of three bytes.
read_step in_small_steps(std::string content) {
  return [content, at = std::size_t{0}](char* to, std::size_t size,
                                        std::error_code&) mutable {
    const std::size_t got = std::min({size, content.size() - at, {3}});
    std::memcpy(to, content.data() + at, got);
    at += got;
    return static_cast<std::ptrdiff_t>(got);
  };
}

TEST(SearchServiceFileReaderTest, ReadsAWholeFile) {
  scratch_directory files;
  const std::string bytes(100'000, 'x');
  const file_content content = read_file(files.write("a.txt", bytes));
  EXPECT_EQ(content.outcome, read_outcome::complete);
  EXPECT_EQ(content.bytes, bytes);
}

TEST(SearchServiceFileReaderTest, ReadsAnEmptyFile) {
  scratch_directory files;
  const file_content content = read_file(files.write("empty.txt", ""));
  EXPECT_EQ(content.outcome, read_outcome::complete);
  EXPECT_TRUE(content.bytes.empty());
}

TEST(SearchServiceFileReaderTest, MissingFileFailsWithTheReason) {
  scratch_directory files;
  const file_content content = read_file(files.path() / "missing.txt");
  EXPECT_EQ(content.outcome, read_outcome::failed);
  EXPECT_EQ(content.error, std::errc::no_such_file_or_directory);
}

TEST(SearchServiceFileReaderTest, FileAboveTheLimitIsNotRead) {
  scratch_directory files;
  const auto path = files.write("big.txt", "0123456789");
  EXPECT_EQ(read_file(path, 9).outcome, read_outcome::too_large);
  EXPECT_EQ(read_file(path, 10).outcome, read_outcome::complete);
}

TEST(SearchServiceFileReaderTest, PipeIsSpecialAndNotWaitedFor) {
  scratch_directory files;
  const auto path = files.path() / "pipe.txt";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_file(path).outcome, read_outcome::special);
}

TEST(SearchServiceFileReaderTest, ShrinkingFileKeepsWhatWasLeft) {
  const file_content content = read_steps(10, 100, in_small_steps("short"));
  EXPECT_EQ(content.outcome, read_outcome::unsteady);
  EXPECT_EQ(content.bytes, "short");
}

TEST(SearchServiceFileReaderTest, GrowingFileIsReadToItsEnd) {
  const file_content content = read_steps(2, 100, in_small_steps("longer now"));
  EXPECT_EQ(content.outcome, read_outcome::complete);
  EXPECT_EQ(content.bytes, "longer now");
}

TEST(SearchServiceFileReaderTest, FileThatGrowsAboveTheLimitIsTooLarge) {
  const file_content content = read_steps(2, 9, in_small_steps("ten bytes!"));
  EXPECT_EQ(content.outcome, read_outcome::too_large);
  EXPECT_TRUE(content.bytes.empty());
}

TEST(SearchServiceFileReaderTest, ErrorWhileReadingLeavesNothing) {
  const auto fail_at_once = [](char*, std::size_t, std::error_code& error) {
    error = std::make_error_code(std::errc::io_error);
    return std::ptrdiff_t{-1};
  };
  const file_content content = read_steps(5, 100, fail_at_once);
  EXPECT_EQ(content.outcome, read_outcome::failed);
  EXPECT_EQ(content.error, std::errc::io_error);
  EXPECT_TRUE(content.bytes.empty());
}

} // namespace
} // namespace search_service

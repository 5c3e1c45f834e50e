#include "search_service/options.hpp"

#include "search_service_support.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

namespace search_service {
namespace {

using test::scratch_directory;

std::variant<options, farewell> parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv{"search_service"};
  for (const std::string& argument : arguments) {
    argv.push_back(argument.c_str());
  }
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

// The farewell of a command line that is refused.
farewell refused(std::vector<std::string> arguments) {
  const auto parsed = parse(std::move(arguments));
  const auto* said = std::get_if<farewell>(&parsed);
  EXPECT_NE(said, nullptr);
  return said ? *said : farewell{};
}

bool mentions(const farewell& said, std::string_view words) {
  return said.text.find(words) != std::string::npos;
}

TEST(SearchServiceOptionsTest, HasDefaultsForAllButTheDirectories) {
  const auto parsed = parse({"/"});
  ASSERT_TRUE(std::holds_alternative<options>(parsed));
  const auto& chosen = std::get<options>(parsed);
  EXPECT_EQ(chosen.directories, std::vector<std::filesystem::path>{"/"});
  EXPECT_EQ(chosen.http_port, 8080);
  EXPECT_EQ(chosen.loads, 4u);
  EXPECT_EQ(chosen.shards, 4u);
}

TEST(SearchServiceOptionsTest, TakesOptionsBetweenDirectories) {
  const auto parsed =
      parse({"/", "--http", "0", "--loads=2", "--shards", "1", "/usr"});
  ASSERT_TRUE(std::holds_alternative<options>(parsed));
  const auto& chosen = std::get<options>(parsed);
  EXPECT_EQ(chosen.directories.size(), 2u);
  EXPECT_EQ(chosen.http_port, 0);
  EXPECT_EQ(chosen.loads, 2u);
  EXPECT_EQ(chosen.shards, 1u);
}

TEST(SearchServiceOptionsTest, HelpIsNoError) {
  const farewell help = refused({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_TRUE(mentions(help, "--loads"));
}

TEST(SearchServiceOptionsTest, MissingDirectoryIsSaidInASentence) {
  const farewell said = refused({"/no/such/place"});
  EXPECT_EQ(said.status, 2);
  EXPECT_TRUE(mentions(said, "/no/such/place does not exist."));
}

TEST(SearchServiceOptionsTest, FileIsNoDirectory) {
  scratch_directory files;
  const std::string file = files.write("a.txt", "words").string();
  const farewell said = refused({file});
  EXPECT_EQ(said.status, 2);
  EXPECT_TRUE(mentions(said, "is no directory."));
}

TEST(SearchServiceOptionsTest, NoDirectoryAtAllIsRefused) {
  const farewell said = refused({});
  EXPECT_EQ(said.status, 2);
  EXPECT_TRUE(mentions(said, "DIR"));
}

TEST(SearchServiceOptionsTest, NumbersOutOfRangeAreSaidInASentence) {
  EXPECT_TRUE(mentions(refused({"/", "--loads", "0"}), "from 1 to"));
  EXPECT_TRUE(mentions(refused({"/", "--shards=-1"}), "from 1 to"));
  EXPECT_TRUE(mentions(refused({"/", "--http", "65536"}), "from 0 to 65535"));
  EXPECT_EQ(refused({"/", "--loads", "0"}).status, 2);
}

TEST(SearchServiceOptionsTest, WhatIsNoNumberIsRefused) {
  for (const char* value : {"four", "4x", "", "1.5", "99999999999999999999"}) {
    const farewell said = refused({"/", "--loads", value});
    EXPECT_EQ(said.status, 2) << value;
    EXPECT_TRUE(mentions(said, "--loads")) << said.text;
  }
}

TEST(SearchServiceOptionsTest, TimesAreReadAndOffByDefault) {
  auto parsed = parse({"/"});
  ASSERT_TRUE(std::holds_alternative<options>(parsed));
  EXPECT_EQ(std::get<options>(parsed).watch, std::nullopt);
  EXPECT_TRUE(std::get<options>(parsed).snapshot.empty());

  scratch_directory files;
  const std::string file = (files.path() / "snap").string();
  parsed = parse(
      {"/", "--watch", "500ms", "--snapshot", file, "--snapshot-every=1m"});
  ASSERT_TRUE(std::holds_alternative<options>(parsed));
  const auto& chosen = std::get<options>(parsed);
  EXPECT_EQ(chosen.watch, std::chrono::milliseconds{500});
  EXPECT_EQ(chosen.snapshot, file);
  EXPECT_EQ(chosen.snapshot_every, std::chrono::minutes{1});
  EXPECT_TRUE(std::filesystem::is_empty(files.path()));
}

TEST(SearchServiceOptionsTest, TimesThatMakeNoSenseAreSaidInASentence) {
  for (const char* value : {"2", "soon", "-1s", "0s", "9ms", "25h"}) {
    const farewell said = refused({"/", std::string{"--watch="} + value});
    EXPECT_EQ(said.status, 2) << value;
    EXPECT_TRUE(mentions(said, "--watch takes a time from 10ms to 24h, such "
                               "as 500ms, 2s or 1m, not '" +
                                   std::string{value} + "'."))
        << said.text;
  }
}

TEST(SearchServiceOptionsTest, SnapshotThatCanNotBeWrittenIsSaidInASentence) {
  EXPECT_TRUE(mentions(
      refused({"/", "--snapshot", "/no/such/place/snap"}),
      "the snapshot /no/such/place/snap can't be written: No such file"));
  EXPECT_TRUE(mentions(refused({"/", "--snapshot", "/proc/snap"}),
                       "the snapshot /proc/snap can't be written: "));
  EXPECT_TRUE(
      mentions(refused({"/", "--snapshot", "/usr"}), "/usr is a directory."));
}

TEST(SearchServiceOptionsTest, SnapshotEveryNeedsASnapshotAndAWatch) {
  EXPECT_TRUE(mentions(refused({"/", "--snapshot-every", "1m"}),
                       "it takes --snapshot and --watch."));
  EXPECT_TRUE(mentions(refused({"/", "--watch=1s", "--snapshot-every", "1m"}),
                       "it takes --snapshot and --watch."));
}

TEST(SearchServiceOptionsTest, UnknownOptionIsRefused) {
  EXPECT_EQ(refused({"/", "--bogus"}).status, 2);
}

} // namespace
} // namespace search_service

#include "search_service/snapshot_file.hpp"

#include "search_service_support.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include <sys/resource.h>

namespace search_service {
namespace {

namespace fs = std::filesystem;
using test::scratch_directory;
using sections = std::vector<std::string>;

void write(const fs::path& file, const sections& all) {
  snapshot_writer to{file};
  for (const std::string& each : all) {
    to.add(each);
  }
  to.commit();
}

sections read(const fs::path& file) {
  sections all;
  snapshot_reader from{file};
  while (auto section = from.next()) {
    all.push_back(*std::move(section));
  }
  return all;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

// The sentence with which a file is refused; nothing if it is not.
std::string refusal(const fs::path& file) {
  try {
    read(file);
    return {};
  } catch (const snapshot_refused& refused) {
    return refused.what();
  }
}

TEST(SearchServiceSnapshotFileTest, ReadsBackWhatWasWritten) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  const sections all{"one", "", std::string(1 << 20, '\0')};
  write(file, all);
  EXPECT_EQ(read(file), all);
  EXPECT_FALSE(fs::exists(beside_snapshot(file)));
  write(file, {});
  EXPECT_EQ(read(file), sections{});
}

TEST(SearchServiceSnapshotFileTest, OldOneCountsUntilTheNewOneIsCommitted) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  write(file, {"old"});
  {
    snapshot_writer to{file};
    to.add("new");
    EXPECT_EQ(read(file), sections{"old"});
    EXPECT_TRUE(fs::exists(beside_snapshot(file)));
  }
  EXPECT_EQ(read(file), sections{"old"});
  EXPECT_FALSE(fs::exists(beside_snapshot(file)));
}

TEST(SearchServiceSnapshotFileTest, LeftoversOfAnEarlierRunAreReplaced) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  const fs::path other = files.write("other", "somebody's");
  fs::create_symlink(other, beside_snapshot(file));
  write(file, {"new"});
  EXPECT_EQ(read(file), sections{"new"});
  EXPECT_EQ(bytes_of(other), "somebody's");
}

TEST(SearchServiceSnapshotFileTest, EveryCutIsRefused) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  write(file, {"one", "two"});
  const std::string whole = bytes_of(file);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    files.write("cut", whole.substr(0, size));
    EXPECT_NE(refusal(files.path() / "cut"), "") << size;
  }
  files.write("longer", whole + "x");
  EXPECT_NE(refusal(files.path() / "longer"), "");
}

TEST(SearchServiceSnapshotFileTest, EveryByteThatIsWrongIsFound) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  write(file, {"one", "two"});
  const std::string whole = bytes_of(file);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string broken = whole;
    broken[at] = static_cast<char>(broken[at] ^ 0x10);
    files.write("broken", broken);
    EXPECT_NE(refusal(files.path() / "broken"), "") << at;
  }
}

TEST(SearchServiceSnapshotFileTest, SaysWhatIsWrong) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  write(file, {"one"});
  const std::string whole = bytes_of(file);
  const std::string name = "the snapshot " + file.string();
  files.write("snap", whole.substr(0, 5));
  EXPECT_EQ(refusal(file), name + " is cut short");
  files.write("snap", whole.substr(0, whole.size() - 3));
  EXPECT_EQ(refusal(file), name + " is damaged or cut short");
  std::string other_version = whole;
  ++other_version[22];
  files.write("snap", other_version);
  EXPECT_EQ(refusal(file), name + " is of another version of this program");
}

TEST(SearchServiceSnapshotFileTest, ForeignFileIsToldFromADamagedOne) {
  scratch_directory files;
  const fs::path file = files.write("snap", "my only copy of a novel");
  try {
    read(file);
    FAIL();
  } catch (const snapshot_refused& refused) {
    EXPECT_TRUE(refused.foreign);
    EXPECT_EQ(refused.what(), "the snapshot " + file.string() +
                                  " is no snapshot of this program");
  }
  files.write("snap", ""); // whoever made it had us in mind
  try {
    read(file);
    FAIL();
  } catch (const snapshot_refused& refused) {
    EXPECT_FALSE(refused.foreign);
  }
}

TEST(SearchServiceSnapshotFileTest, PlaceThatCanNotBeWrittenIsSaid) {
  try {
    snapshot_writer to{"/no/such/place/snap"};
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_STREQ(error.what(), "the snapshot /no/such/place/snap can't be "
                               "written: No such file or directory");
  }
}

// Files that may not grow stand in for a disk that is full.
TEST(SearchServiceSnapshotFileTest, FullDiskLeavesTheOldOneAndNoRubbish) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  write(file, {"old"});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto on_excess = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(write(file, {std::string(1 << 20, 'x')}), std::system_error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, on_excess);
  EXPECT_EQ(read(file), sections{"old"});
  EXPECT_FALSE(fs::exists(beside_snapshot(file)));
}

} // namespace
} // namespace search_service

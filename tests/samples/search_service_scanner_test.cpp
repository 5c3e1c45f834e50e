#include "search_service/scanner.hpp"

#include "search_service_support.hpp"
#include "search_service_wharf_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace search_service {
namespace {

using test::scratch_directory;
using test::world;

using names = std::vector<std::string>;

// When nobody can have written anything a moment ago.
constexpr std::int64_t far_future = std::numeric_limits<std::int64_t>::max();

// A scanner in front of a loader's and a status component's ports, which only
// the test reads.
struct scanner_world : world {
  explicit scanner_world(std::size_t slice_size = 256,
                         std::size_t slices_max = 16)
      : scanner{create_scanner(queue, {.loader = loader,
                                       .status = status,
                                       .slice_size = slice_size,
                                       .slices_max = slices_max,
                                       .now = [] { return far_future; }})} {}

  void walk(std::vector<std::filesystem::path> roots) {
    scanner.post(
        scan{std::move(roots), test::reply_to(wharf::port<round_ended>{})});
    pool.drain();
  }

  // Takes the files that were posted so far; their claims settle by that.
  names take_files() {
    names found;
    for (const load_file& file : loader.get<load_file>().try_take_all()) {
      found.push_back(file.path.filename().string());
    }
    std::ranges::sort(found);
    return found;
  }

  // Takes the files that were said to have gone, likewise.
  names take_gone() {
    names said;
    for (const forget_file& file : loader.get<forget_file>().try_take_all()) {
      said.push_back(file.path.filename().string());
    }
    std::ranges::sort(said);
    return said;
  }

  // A whole round: what it hands over. Files are settled at once.
  names round(const std::filesystem::path& root) {
    wharf::port<round_ended> ended;
    scanner.post(scan{{root}, test::reply_to(ended)});
    names found;
    while (ended.empty()) {
      pool.drain();
      std::ranges::move(take_files(), std::back_inserter(found));
      std::ranges::move(take_gone(), std::back_inserter(gone));
      pool.drain();
    }
    std::ranges::sort(found);
    return found;
  }

  // The counts so far, added up.
  files_found take_counts() {
    files_found sum;
    for (const files_found& each : status.get<files_found>().try_take_all()) {
      sum.found += each.found;
      sum.by_name += each.by_name;
      sum.special += each.special;
      sum.links += each.links;
      sum.failed_directories += each.failed_directories;
      sum.notes.insert(sum.notes.end(), each.notes.begin(), each.notes.end());
    }
    return sum;
  }

  bool ended() { return status.get<scan_ended>().size() == 1; }

  names gone; // in all rounds
  loader_port loader;
  status_port status;
  scanner_port scanner;
};

TEST(SearchServiceScannerTest, FindsTheFilesOfAllDirectoriesBelow) {
  scratch_directory tree;
  tree.write("a.txt", "");
  tree.write("one/b.md", "");
  tree.write("one/two/c.html", "");
  tree.write("one/two/README", "");
  scanner_world w;
  w.walk({tree.path()});
  EXPECT_EQ(w.take_files(), (names{"README", "a.txt", "b.md", "c.html"}));
  EXPECT_EQ(w.take_counts().found, 4);
  EXPECT_TRUE(w.ended());
}

TEST(SearchServiceScannerTest, FilesSkippedByNameAreCountedAndNotPosted) {
  scratch_directory tree;
  tree.write("a.txt", "");
  tree.write("b.gz", "");
  tree.write("c.png", "");
  scanner_world w;
  w.walk({tree.path()});
  EXPECT_EQ(w.take_files(), (names{"a.txt"}));
  const files_found counts = w.take_counts();
  EXPECT_EQ(counts.found, 3);
  EXPECT_EQ(counts.by_name, 2);
}

TEST(SearchServiceScannerTest, LinksAreCountedAndNotFollowed) {
  scratch_directory tree;
  tree.write("dir/a.txt", "");
  std::filesystem::create_directory_symlink(tree.path(),
                                            tree.path() / "dir/loop");
  std::filesystem::create_symlink("a.txt", tree.path() / "dir/b.txt");
  std::filesystem::create_symlink("nowhere", tree.path() / "dir/dangling");
  scanner_world w;
  w.walk({tree.path()});
  EXPECT_EQ(w.take_files(), (names{"a.txt"}));
  EXPECT_EQ(w.take_counts().links, 3);
}

TEST(SearchServiceScannerTest, RootThatIsALinkIsFollowed) {
  scratch_directory tree;
  tree.write("dir/a.txt", "");
  std::filesystem::create_directory_symlink("dir", tree.path() / "link");
  scanner_world w;
  w.walk({tree.path() / "link"});
  EXPECT_EQ(w.take_files(), (names{"a.txt"}));
}

TEST(SearchServiceScannerTest, OverlappingRootsAreWalkedOnce) {
  scratch_directory tree;
  tree.write("dir/a.txt", "");
  scanner_world w;
  w.walk({tree.path(), tree.path() / "dir", tree.path() / "dir/../dir"});
  EXPECT_EQ(w.take_files(), (names{"a.txt"}));
}

TEST(SearchServiceScannerTest, SpecialFilesAreCountedAndNotPosted) {
  scratch_directory tree;
  const auto pipe = tree.path() / "pipe.txt";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  scanner_world w;
  w.walk({tree.path()});
  EXPECT_TRUE(w.take_files().empty());
  EXPECT_EQ(w.take_counts().special, 1);
}

TEST(SearchServiceScannerTest, VersionControlIsLeftOut) {
  scratch_directory tree;
  tree.write(".git/config", "");
  tree.write(".ci/run", "");
  scanner_world w;
  w.walk({tree.path()});
  EXPECT_EQ(w.take_files(), (names{"run"}));
}

TEST(SearchServiceScannerTest, DirectoryThatFailsCostsItselfOnly) {
  scratch_directory tree;
  tree.write("dir/a.txt", "");
  scanner_world w;
  w.walk({tree.path() / "missing", tree.path() / "dir"});
  EXPECT_EQ(w.take_files(), (names{"a.txt"}));
  const files_found counts = w.take_counts();
  EXPECT_EQ(counts.failed_directories, 1);
  ASSERT_EQ(counts.notes.size(), 1u);
  EXPECT_NE(counts.notes[0].find("missing can't be looked into"),
            std::string::npos);
  EXPECT_TRUE(w.ended());
}

TEST(SearchServiceScannerTest, SmallSlicesFindAllTheSame) {
  scratch_directory tree;
  for (int i = 0; i < 20; ++i) {
    tree.write(std::to_string(i % 3) + "/" + std::to_string(i) + ".gz", "");
  }
  scanner_world w{1, 1};
  w.walk({tree.path()});
  EXPECT_EQ(w.take_counts().by_name, 20);
  EXPECT_TRUE(w.ended());
}

TEST(SearchServiceScannerTest, WaitsForTheFilesThatAreUnderWay) {
  scratch_directory tree;
  for (int i = 0; i < 50; ++i) {
    tree.write(std::to_string(i) + ".txt", "");
  }
  scanner_world w{5, 2};
  w.walk({tree.path()});
  std::size_t found = 0;
  while (!w.ended()) {
    const std::size_t under_way = w.take_files().size();
    EXPECT_LE(under_way, 10u);
    found += under_way;
    w.pool.drain();
  }
  EXPECT_EQ(found + w.take_files().size(), 50u);
}

TEST(SearchServiceScannerTest, LaterRoundsBringWhatIsNewOrHasChanged) {
  scratch_directory tree;
  tree.write("same.txt", "one");
  tree.write("dir/changed.txt", "one");
  scanner_world w;
  EXPECT_EQ(w.round(tree.path()), (names{"changed.txt", "same.txt"}));
  EXPECT_EQ(w.round(tree.path()), names{});
  tree.write("dir/changed.txt", "three");
  tree.write("dir/new.txt", "one");
  EXPECT_EQ(w.round(tree.path()), (names{"changed.txt", "new.txt"}));
  EXPECT_EQ(w.round(tree.path()), names{});
  EXPECT_EQ(w.gone, names{});
  EXPECT_EQ(w.take_counts().found, 4);
}

TEST(SearchServiceScannerTest, LaterRoundsTellWhatHasGoneOnce) {
  scratch_directory tree;
  tree.write("stays.txt", "");
  tree.write("goes.txt", "");
  tree.write("dir/goes_too.txt", "");
  scanner_world w;
  w.round(tree.path());
  std::filesystem::remove(tree.path() / "goes.txt");
  std::filesystem::remove_all(tree.path() / "dir");
  EXPECT_EQ(w.round(tree.path()), names{});
  EXPECT_EQ(w.gone, (names{"goes.txt", "goes_too.txt"}));
  w.round(tree.path());
  EXPECT_EQ(w.gone.size(), 2u);
  const files_found counts = w.take_counts();
  EXPECT_EQ(counts.failed_directories, 0);
  EXPECT_EQ(counts.found, 5);
}

TEST(SearchServiceScannerTest, RootThatVanishesTakesItsFilesAndMayComeBack) {
  scratch_directory tree;
  tree.write("root/a.txt", "");
  scanner_world w;
  w.round(tree.path() / "root");
  std::filesystem::remove_all(tree.path() / "root");
  w.round(tree.path() / "root");
  w.round(tree.path() / "root");
  EXPECT_EQ(w.gone, names{"a.txt"});
  files_found counts = w.take_counts();
  EXPECT_EQ(counts.failed_directories, 1); // not once a round
  EXPECT_EQ(counts.notes.size(), 1u);
  tree.write("root/a.txt", "");
  EXPECT_EQ(w.round(tree.path() / "root"), names{"a.txt"});
  EXPECT_EQ(w.take_counts().failed_directories, -1);
}

// Nothing is known of what it holds, so nothing of it has gone. Root reads any
// directory, so the test has one that is broken for everybody: a name that has
// become a loop of links.
TEST(SearchServiceScannerTest, FilesOfADirectoryThatFailsAreKept) {
  scratch_directory tree;
  const auto root = tree.path() / "root";
  tree.write("root/a.txt", "");
  scanner_world w;
  w.round(root);
  std::filesystem::rename(root, tree.path() / "aside");
  std::filesystem::create_symlink("root", root);
  w.round(root);
  EXPECT_EQ(w.gone, names{});
  EXPECT_EQ(w.take_counts().failed_directories, 1);
  std::filesystem::remove(root);
  std::filesystem::rename(tree.path() / "aside", root);
  EXPECT_EQ(w.round(root), names{});
  EXPECT_EQ(w.gone, names{});
}

TEST(SearchServiceScannerTest, SkippedFilesAreCountedAsTheyAreNow) {
  scratch_directory tree;
  tree.write("a.gz", "");
  tree.write("b.gz", "");
  scanner_world w;
  w.round(tree.path());
  w.round(tree.path());
  std::filesystem::remove(tree.path() / "a.gz");
  w.round(tree.path());
  const files_found counts = w.take_counts();
  EXPECT_EQ(counts.by_name, 1);
  EXPECT_EQ(counts.found, 1);
}

TEST(SearchServiceScannerTest, KnownFilesAreReadOnlyIfTheyHaveChanged) {
  scratch_directory tree;
  const auto same = tree.write("same.txt", "one");
  const auto changed = tree.write("changed.txt", "one");
  struct stat status{};
  ASSERT_EQ(::stat(same.c_str(), &status), 0);
  const file_stamp stamp = stamp_of(status, far_future);
  scanner_world w;
  w.scanner.post(known_files{{{same.string(), stamp},
                              {changed.string(), file_stamp{7, 7, 7}},
                              {(tree.path() / "gone.txt").string(), stamp}}});
  EXPECT_EQ(w.round(tree.path()), names{"changed.txt"});
  EXPECT_EQ(w.gone, names{"gone.txt"});
}

TEST(SearchServiceScannerTest, RoundHasEndedWhenAllItsFilesAreSettled) {
  scratch_directory tree;
  tree.write("a.txt", "");
  scanner_world w;
  wharf::port<round_ended> ended;
  w.scanner.post(scan{{tree.path()}, test::reply_to(ended)});
  w.pool.drain();
  EXPECT_TRUE(ended.empty());
  w.take_files();
  w.take(ended);
}

TEST(SearchServiceScannerTest, StopEndsTheWalkBetweenTwoSlices) {
  scratch_directory tree;
  for (int i = 0; i < 50; ++i) {
    tree.write(std::to_string(i) + ".txt", "");
  }
  scanner_world w{5, 2};
  w.walk({tree.path()});
  EXPECT_FALSE(w.ended());
  w.stop(w.scanner);
  EXPECT_TRUE(w.ended());
  w.take_files();
  w.pool.drain();
  EXPECT_TRUE(w.take_files().empty());
}

} // namespace
} // namespace search_service

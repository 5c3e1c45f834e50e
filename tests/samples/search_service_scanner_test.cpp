#include "search_service/scanner.hpp"

#include "search_service_support.hpp"
#include "search_service_wharf_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace search_service {
namespace {

using test::scratch_directory;
using test::world;

using names = std::vector<std::string>;

// A scanner in front of a loader's and a status component's ports, which only
// the test reads.
struct scanner_world : world {
  explicit scanner_world(std::size_t slice_size = 256,
                         std::size_t slices_max = 16)
      : scanner{create_scanner(queue, {.loader = loader,
                                       .status = status,
                                       .slice_size = slice_size,
                                       .slices_max = slices_max})} {}

  void walk(std::vector<std::filesystem::path> roots) {
    scanner.post(scan{std::move(roots)});
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
  EXPECT_EQ(w.take_counts().found, 4u);
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
  EXPECT_EQ(counts.found, 3u);
  EXPECT_EQ(counts.by_name, 2u);
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
  EXPECT_EQ(w.take_counts().links, 3u);
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
  EXPECT_EQ(w.take_counts().special, 1u);
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
  EXPECT_EQ(counts.failed_directories, 1u);
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
  EXPECT_EQ(w.take_counts().by_name, 20u);
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

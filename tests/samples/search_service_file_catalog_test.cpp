#include "search_service/file_catalog.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace search_service {
namespace {

using finding = file_catalog::finding;

constexpr file_stamp one{1, 1, 1};
constexpr file_stamp two{2, 2, 2};

std::vector<std::string> sweep(file_catalog& files, std::size_t steps = 100) {
  std::vector<std::string> gone;
  files.begin_sweep();
  while (files.sweep(steps, [&](const std::string& path) {
    gone.push_back(path);
    return true;
  })) {
  }
  return gone;
}

TEST(SearchServiceFileCatalogTest, TellsNewChangedAndSame) {
  file_catalog files;
  files.begin_round();
  EXPECT_EQ(files.see("a", one), finding::added);
  EXPECT_EQ(files.see("a", one), finding::same);
  EXPECT_EQ(files.see("a", two), finding::changed);
  EXPECT_EQ(files.see("a", two), finding::same);
  EXPECT_EQ(files.size(), 1u);
}

TEST(SearchServiceFileCatalogTest, WhatARoundHasNotSeenIsGoneOnce) {
  file_catalog files;
  files.begin_round();
  files.see("stays", one);
  files.see("goes", one);
  EXPECT_TRUE(sweep(files).empty());
  files.begin_round();
  files.see("stays", one);
  EXPECT_EQ(sweep(files), std::vector<std::string>{"goes"});
  EXPECT_TRUE(sweep(files).empty());
  EXPECT_EQ(files.see("goes", one), finding::added);
}

TEST(SearchServiceFileCatalogTest, WhatIsKeptIsAskedAboutAgain) {
  file_catalog files;
  files.begin_round();
  files.see("a", one);
  files.begin_round();
  for (int i = 0; i < 2; ++i) {
    int asked = 0;
    files.begin_sweep();
    files.sweep(100, [&](const std::string&) { return ++asked == 0; });
    EXPECT_EQ(asked, 1);
  }
  EXPECT_EQ(files.see("a", one), finding::same);
}

TEST(SearchServiceFileCatalogTest, SweepsInStepsAsAtOnce) {
  file_catalog files;
  files.begin_round();
  for (int i = 0; i < 1000; ++i) {
    files.see(std::to_string(i), one);
  }
  files.begin_round();
  EXPECT_EQ(sweep(files, 7).size(), 1000u);
  EXPECT_EQ(files.size(), 0u);
}

TEST(SearchServiceFileCatalogTest, RememberedFileIsSameOrChanged) {
  file_catalog files;
  files.remember("a", one);
  files.remember("b", one);
  files.remember("c", one);
  files.begin_round();
  EXPECT_EQ(files.see("a", one), finding::same);
  EXPECT_EQ(files.see("b", two), finding::changed);
  EXPECT_EQ(sweep(files), std::vector<std::string>{"c"});
}

} // namespace
} // namespace search_service

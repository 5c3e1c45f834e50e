#include "search_service/snippet.hpp"
#include "search_service/utf8.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace search_service {
namespace {

using words = std::vector<std::string>;

std::string html_of(std::string_view text, const words& query,
                    std::size_t size_max = 240) {
  return to_html(make_snippet(text, query, size_max));
}

TEST(SearchServiceSnippetTest, MarksEachOccurrenceWhateverItsCase) {
  EXPECT_EQ(html_of("A Port is a port.", {"port"}),
            "A <mark>Port</mark> is a <mark>port</mark>.");
}

TEST(SearchServiceSnippetTest, MarksWholeWordsOnly) {
  EXPECT_EQ(html_of("ports report a port_set", {"port"}),
            "ports report a port_set");
}

TEST(SearchServiceSnippetTest, SqueezesWhiteSpace) {
  EXPECT_EQ(html_of("\n  one\t\r\n two  ", {"two"}), "one <mark>two</mark>");
}

TEST(SearchServiceSnippetTest, DocumentIsEscaped) {
  EXPECT_EQ(html_of("<script>alert('port')</script>", {"port"}),
            "&lt;script&gt;alert(&#39;<mark>port</mark>&#39;)&lt;/script&gt;");
}

TEST(SearchServiceSnippetTest, ShowsThePlaceWithMostOfTheWords) {
  std::string text = "join alone at first. ";
  for (int i = 0; i < 100; ++i) {
    text += "filler ";
  }
  text += "a join of one port and another ";
  for (int i = 0; i < 100; ++i) {
    text += "filler ";
  }
  const snippet shown = make_snippet(text, words{"join", "port"}, 80);
  EXPECT_NE(shown.text.find("a join of one port"), std::string::npos);
  EXPECT_EQ(shown.marks.size(), 2u);
  EXPECT_TRUE(shown.text.starts_with("\u2026 "));
  EXPECT_TRUE(shown.text.ends_with(" \u2026"));
  EXPECT_LE(shown.text.size(), 80 + 2 * std::string{"\u2026 "}.size());
}

TEST(SearchServiceSnippetTest, WithoutTheWordsItShowsTheBeginning) {
  const snippet shown = make_snippet("one two three", words{"gone"}, 8);
  EXPECT_EQ(shown.text, "one two \u2026");
  EXPECT_TRUE(shown.marks.empty());
}

TEST(SearchServiceSnippetTest, EmptyTextHasAnEmptySnippet) {
  EXPECT_EQ(html_of("", {"port"}), "");
}

TEST(SearchServiceSnippetTest, NeverCutsACodePoint) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "\u20AC";
  }
  for (std::size_t size = 1; size < 40; ++size) {
    const snippet shown =
        make_snippet(text + "port" + text, words{"port"}, size);
    EXPECT_EQ(repair_utf8(shown.text), shown.text);
    EXPECT_EQ(shown.text.find("\uFFFD"), std::string::npos);
  }
}

TEST(SearchServiceSnippetTest, WordLongerThanTheSnippetIsMarkedToItsEnd) {
  const snippet shown =
      make_snippet(std::string(500, 'a'), words{std::string(64, 'a')}, 40);
  ASSERT_EQ(shown.marks.size(), 1u);
  EXPECT_LE(shown.marks[0].end, shown.text.size());
}

} // namespace
} // namespace search_service

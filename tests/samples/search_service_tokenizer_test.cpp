#include "search_service/tokenizer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace search_service {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  word_reader reader{text};
  while (const auto word = reader.next()) {
    words.emplace_back(word->folded);
  }
  return words;
}

using words = std::vector<std::string>;

TEST(SearchServiceTokenizerTest, FoldsAsciiAndSplitsAtPunctuation) {
  EXPECT_EQ(words_of("Hello, World! (again)"),
            (words{"hello", "world", "again"}));
}

TEST(SearchServiceTokenizerTest, UnderscoresAndDigitsBelongToWords) {
  EXPECT_EQ(words_of("std::size_t x86_64 = 42;"),
            (words{"std", "size_t", "x86_64", "42"}));
}

TEST(SearchServiceTokenizerTest, LettersOfOtherScriptsStayWhole) {
  EXPECT_EQ(words_of("Gr\u00FC\u00DFe \u041F\u0440\u0438\u0432\u0435\u0442"),
            (words{"gr\u00FC\u00DFe", "\u041F\u0440\u0438\u0432\u0435\u0442"}));
}

TEST(SearchServiceTokenizerTest, PunctuationBeyondAsciiSeparates) {
  EXPECT_EQ(words_of("\u201Cone\u201D\u2014\u00ABtwo\u00BB\u00A0three\u3002"),
            (words{"one", "two", "three"}));
}

TEST(SearchServiceTokenizerTest, IdeographsAreWordsOfTheirOwn) {
  EXPECT_EQ(words_of("v2\u6F22\u5B57x"),
            (words{"v2", "\u6F22", "\u5B57", "x"}));
}

TEST(SearchServiceTokenizerTest, MalformedBytesAndReplacementsSeparate) {
  EXPECT_EQ(words_of("caf\xE9 na\uFFFDve"), (words{"caf", "na", "ve"}));
}

TEST(SearchServiceTokenizerTest, LongWordCountsByItsBeginning) {
  const std::string longest(word_size_max, 'a');
  EXPECT_EQ(words_of(longest + "bcd e"), (words{longest, "e"}));
}

TEST(SearchServiceTokenizerTest, LongWordIsCutBetweenCodePoints) {
  const std::string start(word_size_max - 1, 'a');
  EXPECT_EQ(words_of(start + "\u00E9"
                             "b"),
            (words{start}));
}

TEST(SearchServiceTokenizerTest, WordsKnowTheirPlace) {
  const std::string text = "  One two";
  word_reader reader{text};
  const auto first = reader.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(text.substr(first->begin, first->end - first->begin), "One");
  const auto second = reader.next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->begin, 6u);
  EXPECT_EQ(second->end, 9u);
  EXPECT_FALSE(reader.next());
}

TEST(SearchServiceTokenizerTest, QueryKeepsEachWordOnce) {
  EXPECT_EQ(query_words("port PORT join port"), (words{"port", "join"}));
  EXPECT_EQ(query_words("?!"), words{});
}

TEST(SearchServiceTokenizerTest, QueryBeyondItsLimitIsLeftOut) {
  EXPECT_EQ(query_words("a b c d", 2), (words{"a", "b"}));
}

} // namespace
} // namespace search_service

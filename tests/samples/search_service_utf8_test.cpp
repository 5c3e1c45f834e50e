#include "search_service/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace search_service {
namespace {

const std::string fffd = "\uFFFD";

TEST(SearchServiceUtf8Test, ValidTextStaysAsItIs) {
  const std::string text = "plain, gr\u00FC\u00DFe, \u6F22\u5B57, \U0001F600";
  EXPECT_EQ(repair_utf8(text), text);
}

TEST(SearchServiceUtf8Test, StrayByteBecomesOneReplacement) {
  EXPECT_EQ(repair_utf8("caf\xE9 au lait"), "caf" + fffd + " au lait");
  EXPECT_EQ(repair_utf8("\x80"), fffd);
}

TEST(SearchServiceUtf8Test, TruncatedSequenceBecomesOneReplacement) {
  EXPECT_EQ(repair_utf8("a\xE6\xBC"), "a" + fffd);
  EXPECT_EQ(repair_utf8("\xF0\x9F\x98!"), fffd + "!");
}

// An overlong slash has been used to smuggle paths past checks.
TEST(SearchServiceUtf8Test, OverlongFormIsMalformed) {
  EXPECT_EQ(repair_utf8("\xC0\xAF"), fffd + fffd);
  EXPECT_EQ(repair_utf8("\xE0\x80\xAF"), fffd + fffd + fffd);
}

TEST(SearchServiceUtf8Test, SurrogatesAndCodesAboveUnicodeAreMalformed) {
  EXPECT_EQ(repair_utf8("\xED\xA0\x80"), fffd + fffd + fffd);
  EXPECT_EQ(repair_utf8("\xF4\x90\x80\x80"), fffd + fffd + fffd + fffd);
}

TEST(SearchServiceUtf8Test, WritesWhatItReads) {
  for (const char32_t code : {U'A', U'\u00E9', U'\u20AC', U'\U0001F600'}) {
    std::string text;
    append_utf8(text, code);
    const utf8_step step = decode_utf8(text, 0);
    EXPECT_TRUE(step.valid);
    EXPECT_EQ(step.code, code);
    EXPECT_EQ(step.size, text.size());
  }
}

TEST(SearchServiceUtf8Test, CodeWithoutFormIsWrittenAsReplacement) {
  std::string text;
  append_utf8(text, 0xD800);
  append_utf8(text, 0x110000);
  EXPECT_EQ(text, fffd + fffd);
}

TEST(SearchServiceUtf8Test, CutsBetweenCodePoints) {
  EXPECT_EQ(cut_utf8("ab\u20ACcd", 4), "ab");
  EXPECT_EQ(cut_utf8("ab\u20ACcd", 5), "ab\u20AC");
  EXPECT_EQ(cut_utf8("ab", 5), "ab");
}

} // namespace
} // namespace search_service

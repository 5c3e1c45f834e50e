#include "search_service/document_kind.hpp"

#include <gtest/gtest.h>

#include <string>

namespace search_service {
namespace {

using answer = name_verdict::answer;

// The kind of a file by its name and its content, as a loader sees it.
std::optional<document_kind> kind_of(std::string_view name,
                                     std::string_view head) {
  return judge_content(judge_name(name), head);
}

TEST(SearchServiceDocumentKindTest, ExtensionsSayTheKind) {
  EXPECT_EQ(kind_of("notes.txt", "words"), document_kind::text);
  EXPECT_EQ(kind_of("README.md", "words"), document_kind::markdown);
  EXPECT_EQ(kind_of("index.rst", "words"), document_kind::restructured_text);
  EXPECT_EQ(kind_of("index.html", "words"), document_kind::html);
  EXPECT_EQ(kind_of("main.cpp", "words"), document_kind::source);
}

TEST(SearchServiceDocumentKindTest, ExtensionsIgnoreCase) {
  EXPECT_EQ(kind_of("INDEX.HTM", "words"), document_kind::html);
  EXPECT_EQ(judge_name("photo.JPG").what, answer::skipped);
}

TEST(SearchServiceDocumentKindTest, CompressedFilesAreSkippedByName) {
  EXPECT_EQ(judge_name("changelog.gz").what, answer::skipped);
  EXPECT_EQ(judge_name("page.html.xz").what, answer::skipped);
}

TEST(SearchServiceDocumentKindTest, NameWithoutKnownExtensionIsUnknown) {
  EXPECT_EQ(judge_name("README").what, answer::unknown);
  EXPECT_EQ(judge_name("changelog.Debian").what, answer::unknown);
  EXPECT_EQ(judge_name(".gz").what, answer::unknown);
}

TEST(SearchServiceDocumentKindTest, ContentDecidesWhereTheNameDoesNot) {
  EXPECT_EQ(kind_of("README", "Read me first.\n"), document_kind::text);
  EXPECT_EQ(kind_of("configure", "#!/bin/sh\n"), document_kind::source);
  EXPECT_EQ(kind_of("page", "\n <!DOCTYPE html>\n"), document_kind::html);
  EXPECT_EQ(kind_of("page", "\xEF\xBB\xBF<HTML>"), document_kind::html);
}

TEST(SearchServiceDocumentKindTest, BinaryNamedTxtIsSkipped) {
  EXPECT_EQ(kind_of("fake.txt", std::string("\x7F"
                                            "ELF\x02\x01\x01\0\0",
                                            9)),
            std::nullopt);
}

TEST(SearchServiceDocumentKindTest, OneNulMakesABinary) {
  EXPECT_TRUE(is_binary(std::string("words, words and a NUL\0", 23)));
}

TEST(SearchServiceDocumentKindTest, CompressedBytesWithoutNulAreBinary) {
  std::string noise;
  for (unsigned i = 0; i < 4096; ++i) {
    noise.push_back(static_cast<char>(1 + i * 7919 % 255));
  }
  EXPECT_TRUE(is_binary(noise));
}

TEST(SearchServiceDocumentKindTest, EightBitTextIsNoBinary) {
  EXPECT_FALSE(is_binary("Gr\xFC\xDF"
                         "e aus K\xF6ln, sch\xF6n ist es hier"));
}

TEST(SearchServiceDocumentKindTest, HeadThatEndsInsideACodePointIsNoBinary) {
  EXPECT_FALSE(is_binary("a\xE6\xBC"));
}

TEST(SearchServiceDocumentKindTest, EmptyFileIsText) {
  EXPECT_EQ(kind_of("NEWS", ""), document_kind::text);
}

} // namespace
} // namespace search_service

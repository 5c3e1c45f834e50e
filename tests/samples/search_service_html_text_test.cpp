#include "search_service/html_entities.hpp"
#include "search_service/html_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace search_service {
namespace {

TEST(SearchServiceHtmlTextTest, BlockTagsBreakLinesAndInlineTagsVanish) {
  EXPECT_EQ(html_to_text("<p>one</p><p>t<b>w</b>o</p>"), "\none\n\ntwo\n");
}

TEST(SearchServiceHtmlTextTest, ScriptsStylesAndCommentsAreDropped) {
  EXPECT_EQ(html_to_text("a<script>if (x < y) { z(\"</p>\"); }</SCRIPT >b"),
            "a\nb");
  EXPECT_EQ(html_to_text("a<style type='x'>p > q {}</style>b"), "a\nb");
  EXPECT_EQ(html_to_text("a<!-- <p>no</p> -->b"), "ab");
  EXPECT_EQ(html_to_text("<!DOCTYPE html>a<?php no ?>b"), "ab");
}

TEST(SearchServiceHtmlTextTest, AttributesAreNoText) {
  EXPECT_EQ(html_to_text("<a title=\"x > y\" href='/?a=>'>link</a>"), "link");
}

TEST(SearchServiceHtmlTextTest, CharacterReferencesAreDecoded) {
  EXPECT_EQ(html_to_text("R&amp;D &lt;b&gt; &eacute;&#233;&#xE9; &mdash;"),
            "R&D <b> \u00E9\u00E9\u00E9 \u2014");
}

TEST(SearchServiceHtmlTextTest, WhatIsNoReferenceIsAnAmpersand) {
  EXPECT_EQ(html_to_text("a & b &nosuch; &#; AT&T"), "a & b &nosuch; &#; AT&T");
}

TEST(SearchServiceHtmlTextTest, ReferenceToNoCharacterIsReplaced) {
  EXPECT_EQ(html_to_text("&#0;&#xD800;&#1114112;"), "\uFFFD\uFFFD\uFFFD");
  // 2^32 + 65, an A to whoever does not look at the carry.
  EXPECT_EQ(html_to_text("&#4294967361;"), "\uFFFD");
}

TEST(SearchServiceHtmlTextTest, WhatIsNoTagIsText) {
  EXPECT_EQ(html_to_text("1 < 2, a <= b, x<"), "1 < 2, a <= b, x<");
  EXPECT_EQ(html_to_text("<unfinished"), "<unfinished");
}

TEST(SearchServiceHtmlTextTest, UnclosedQuoteEndsWithItsTag) {
  EXPECT_EQ(html_to_text("<a href=\"x>text</a> more"), "text more");
}

TEST(SearchServiceHtmlTextTest, UnclosedScriptAndCommentTakeTheRest) {
  EXPECT_EQ(html_to_text("a<script>b"), "a\n");
  EXPECT_EQ(html_to_text("a<!-- b"), "a");
}

// Each of these made a naive extractor read the rest again for each '<'; with
// four million of them that is for ever, and ctest's limit ends it.
TEST(SearchServiceHtmlTextTest, BrokenMarkupTakesLinearTime) {
  for (const std::string piece : {"<a", "<a \"", "<a '\">", "<!", "</", "&#"}) {
    std::string html;
    while (html.size() < (8u << 20)) {
      html += piece;
    }
    EXPECT_LE(html_to_text(html).size(), html.size() + 1);
  }
}

TEST(SearchServiceHtmlTextTest, EscapedTextIsNothingButText) {
  EXPECT_EQ(escape_html("<a href=\"x\" onclick='y'>&"),
            "&lt;a href=&quot;x&quot; onclick=&#39;y&#39;&gt;&amp;");
  EXPECT_EQ(escape_html(std::string("a\0b\x1B", 4)), "a\uFFFD"
                                                     "b\uFFFD");
}

} // namespace
} // namespace search_service

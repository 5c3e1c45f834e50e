#include "search_service/search_parameters.hpp"

#include <gtest/gtest.h>

#include <string>

namespace search_service {
namespace {

search_parameters accepted(std::string_view query_string) {
  auto parsed = parse_search(query_string);
  const auto* refused = std::get_if<refusal>(&parsed);
  EXPECT_EQ(refused, nullptr) << (refused ? refused->sentence : "");
  return refused ? search_parameters{} : std::get<search_parameters>(parsed);
}

// The sentence of the refusal; empty, and a failure, if there is none.
std::string refused(std::string_view query_string) {
  auto parsed = parse_search(query_string);
  const auto* said = std::get_if<refusal>(&parsed);
  EXPECT_NE(said, nullptr) << query_string.substr(0, 100);
  return said ? said->sentence : "";
}

bool mentions(const std::string& sentence, std::string_view words) {
  return sentence.find(words) != std::string::npos;
}

TEST(SearchServiceSearchParametersTest, TargetIsCutAtTheFirstQuestionMark) {
  EXPECT_EQ(split_target("/search?q=a?b").path, "/search");
  EXPECT_EQ(split_target("/search?q=a?b").query, "q=a?b");
  EXPECT_EQ(split_target("/status").path, "/status");
  EXPECT_EQ(split_target("/status").query, "");
}

TEST(SearchServiceSearchParametersTest, ReadsTextAndLimit) {
  const search_parameters parameters = accepted("q=wharf&limit=25");
  EXPECT_EQ(parameters.text, "wharf");
  EXPECT_EQ(parameters.limit, 25u);
}

TEST(SearchServiceSearchParametersTest, LimitIsTenIfNotGiven) {
  EXPECT_EQ(accepted("q=wharf").limit, 10u);
}

TEST(SearchServiceSearchParametersTest, LimitMayBeOneToAHundred) {
  EXPECT_EQ(accepted("limit=1&q=a").limit, 1u);
  EXPECT_EQ(accepted("limit=100&q=a").limit, 100u);
}

TEST(SearchServiceSearchParametersTest, PercentEscapesAndPlusAreDecoded) {
  EXPECT_EQ(accepted("q=a+b%20c%2bd%C3%A9").text, "a b c+d\u00E9");
}

TEST(SearchServiceSearchParametersTest, InvalidUtf8IsRepaired) {
  EXPECT_EQ(accepted("q=caf%E9").text, "caf\uFFFD");
}

TEST(SearchServiceSearchParametersTest, OtherParametersAreIgnored) {
  EXPECT_EQ(accepted("utm=1&q=a&&x&y=").text, "a");
}

TEST(SearchServiceSearchParametersTest, MissingTextIsRefused) {
  EXPECT_TRUE(mentions(refused(""), "q is missing"));
  EXPECT_TRUE(mentions(refused("limit=5"), "q is missing"));
}

TEST(SearchServiceSearchParametersTest, EmptyTextIsRefused) {
  EXPECT_TRUE(mentions(refused("q="), "q is empty"));
  EXPECT_TRUE(mentions(refused("q=+%20%09"), "q is empty"));
}

TEST(SearchServiceSearchParametersTest, BadLimitIsRefusedInASentence) {
  for (const char* limit : {"0", "101", "-1", "+5", "ten", "", "5.0", "1e1",
                            " 5", "5 ", "99999999999999999999999"}) {
    const std::string sentence = refused(std::string{"q=a&limit="} + limit);
    EXPECT_TRUE(mentions(sentence, "from 1 to 100")) << limit;
    EXPECT_TRUE(sentence.ends_with("."));
  }
}

TEST(SearchServiceSearchParametersTest, RefusalQuotesLittleOfALongValue) {
  const std::string sentence = refused("q=a&limit=" + std::string(5000, 'x'));
  EXPECT_LT(sentence.size(), 200u);
}

TEST(SearchServiceSearchParametersTest, BrokenEscapeIsRefused) {
  for (const char* text : {"%", "%4", "%zz", "a%", "%-1", "% 1"}) {
    EXPECT_TRUE(mentions(refused(std::string{"q="} + text), "percent"));
  }
}

TEST(SearchServiceSearchParametersTest, TextAboveTheLimitIsRefused) {
  EXPECT_EQ(accepted("q=" + std::string(1000, 'a')).text.size(), 1000u);
  EXPECT_TRUE(mentions(refused("q=" + std::string(1001, 'a')), "too long"));
  EXPECT_TRUE(mentions(refused("q=" + std::string(10 << 20, '%')), "too long"));
}

TEST(SearchServiceSearchParametersTest, ParameterGivenTwiceIsRefused) {
  EXPECT_TRUE(mentions(refused("q=a&q=b"), "twice"));
  EXPECT_TRUE(mentions(refused("q=a&limit=1&limit=2"), "twice"));
}

TEST(SearchServiceSearchParametersTest, EncodedTextDecodesToItself) {
  const std::string text = "a b&c=d%e+f\u00E9'\"<>";
  EXPECT_EQ(percent_decode(percent_encode(text)), text);
}

} // namespace
} // namespace search_service

// What clients see: the JSON and the search page.

#include "search_service/answers.hpp"
#include "search_service/json.hpp"
#include "search_service/page.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace search_service {
namespace {

namespace json = boost::json;

search_answer some_answer() {
  return {.query = "port",
          .took_ms = 1.5,
          .partial = true,
          .total = 7,
          .results = {{"/doc/a.txt", 2.25, "a <mark>port</mark>"}}};
}

std::vector<std::string> keys_of(const json::object& object) {
  std::vector<std::string> keys;
  for (const auto& member : object) {
    keys.emplace_back(member.key());
  }
  return keys;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SearchServiceJsonTest, AnswerHasExactlyThePromisedMembers) {
  const json::object answer = json::parse(to_json(some_answer())).as_object();
  EXPECT_EQ(keys_of(answer),
            (std::vector<std::string>{"query", "took_ms", "partial", "total",
                                      "results"}));
  EXPECT_EQ(answer.at("query").as_string(), "port");
  EXPECT_EQ(answer.at("took_ms").as_double(), 1.5);
  EXPECT_EQ(answer.at("partial").as_bool(), true);
  EXPECT_EQ(answer.at("total").to_number<int>(), 7);
  const json::object result = answer.at("results").at(0).as_object();
  EXPECT_EQ(keys_of(result),
            (std::vector<std::string>{"path", "score", "snippet"}));
  EXPECT_EQ(result.at("path").as_string(), "/doc/a.txt");
  EXPECT_EQ(result.at("score").as_double(), 2.25);
  EXPECT_EQ(result.at("snippet").as_string(), "a <mark>port</mark>");
}

TEST(SearchServiceJsonTest, AnswerWithoutResultsHasAnEmptyList) {
  const json::value answer = json::parse(to_json(search_answer{}));
  EXPECT_TRUE(answer.at("results").as_array().empty());
}

TEST(SearchServiceJsonTest, QuotesAndControlCharactersAreEscaped) {
  search_answer answer = some_answer();
  answer.query = std::string("\"\\\n\0</script>", 13);
  EXPECT_EQ(json::parse(to_json(answer)).at("query").as_string(), answer.query);
}

TEST(SearchServiceJsonTest, PathThatIsNoUtf8IsShownAllTheSame) {
  search_answer answer = some_answer();
  answer.results[0].path = "/caf\xE9.txt";
  const json::value shown = json::parse(to_json(answer));
  EXPECT_EQ(shown.at("results").at(0).at("path").as_string(), "/caf\uFFFD.txt");
}

TEST(SearchServiceJsonTest, StatusAccountsForEveryFile) {
  status_report report;
  report.found = 20;
  report.indexed = 5;
  report.documents = 5;
  report.skipped = {
      .by_name = 1, .binary = 2, .too_large = 1, .special = 1, .links = 1};
  report.failed = 3;
  report.failed_directories = 1;
  report.words = 1234;
  report.running_loads = 2;
  report.loads_max = 4;
  report.waiting = {.files = 4, .snippets = 1, .merges = 2, .searches = 3};

  const json::value status = json::parse(to_json(report));

  const auto number = [&status](const char* key) {
    return status.at(key).to_number<int>();
  };
  EXPECT_EQ(number("files"), 5);
  EXPECT_EQ(number("words"), 1234);
  EXPECT_EQ(number("skipped"), 6);
  EXPECT_EQ(number("failures"), 4);
  EXPECT_EQ(number("waiting"), 20 - 5 - 6 - 3);
  EXPECT_EQ(number("running_loads"), 2);
  EXPECT_EQ(status.at("queue_depths").at("files").to_number<int>(), 4);
  EXPECT_EQ(status.at("queue_depths").at("searches").to_number<int>(), 3);
  EXPECT_EQ(status.at("skipped_because").at("binary").to_number<int>(), 2);
}

TEST(SearchServiceJsonTest, ErrorIsASentence) {
  EXPECT_EQ(error_json("No \"q\"."), R"({"error":"No \"q\"."})");
}

TEST(SearchServicePageTest, ShowsResultsWithTheirWordsMarked) {
  page_content content;
  content.query = "port";
  content.limit = 10;
  content.answer = some_answer();
  const std::string page = to_html(content);
  EXPECT_TRUE(contains(page, "a <mark>port</mark>"));
  EXPECT_TRUE(contains(page, "/doc/<b>a.txt</b>"));
  EXPECT_TRUE(contains(page, "value=\"port\""));
  EXPECT_TRUE(contains(page, "7 documents"));
}

TEST(SearchServicePageTest, NothingThatIsShownCanBecomeMarkup) {
  const std::string evil = "\"><script>alert(1)</script>'&";
  page_content content;
  content.query = evil;
  content.limit = 10;
  content.refusal = evil;
  content.answer = search_answer{.query = evil,
                                 .total = 200,
                                 .results = {{"/" + evil + "/" + evil, 1, ""}}};
  const std::string page = to_html(content);
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "\"\">"));
  EXPECT_TRUE(contains(page, "&lt;script&gt;"));
}

TEST(SearchServicePageTest, PartialAnswerSaysSo) {
  page_content content;
  content.query = "port";
  content.answer = some_answer();
  EXPECT_TRUE(contains(to_html(content), "partial"));
  content.answer->partial = false;
  EXPECT_FALSE(contains(to_html(content), "partial"));
}

TEST(SearchServicePageTest, SaysWhetherIndexingGoesOn) {
  page_content content;
  content.status.found = 1500;
  content.status.indexed = 200;
  EXPECT_TRUE(contains(to_html(content), "Indexing goes on: 1,300 files"));
  content.status.indexing = false;
  EXPECT_FALSE(contains(to_html(content), "Indexing goes on"));
}

TEST(SearchServicePageTest, OffersMoreOnlyWhereThereIsMore) {
  page_content content;
  content.query = "a b";
  content.limit = 10;
  content.answer = some_answer();
  EXPECT_TRUE(contains(to_html(content), "/?q=a%20b&amp;limit=100"));
  content.answer->total = 1;
  EXPECT_FALSE(contains(to_html(content), "limit=100"));
}

TEST(SearchServicePageTest, WorksWithoutScriptsAndForeignFiles) {
  const std::string page = to_html(page_content{});
  EXPECT_FALSE(contains(page, "<script"));
  EXPECT_FALSE(contains(page, "<link"));
  EXPECT_FALSE(contains(page, "http://"));
  EXPECT_TRUE(contains(page, "prefers-color-scheme: dark"));
  EXPECT_TRUE(contains(page, "<form action=\"/\""));
}

TEST(SearchServicePageTest, NumbersAreReadable) {
  EXPECT_EQ(readable(0), "0");
  EXPECT_EQ(readable(999), "999");
  EXPECT_EQ(readable(1000), "1,000");
  EXPECT_EQ(readable(1234567), "1,234,567");
}

} // namespace
} // namespace search_service

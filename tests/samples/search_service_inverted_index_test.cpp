#include "search_service/inverted_index.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace search_service {
namespace {

using words = std::vector<std::string>;

document text_document(std::string path, std::string_view text) {
  return count_words(std::move(path), text);
}

ranking search(const inverted_index& index, const words& query,
               std::size_t limit = 10) {
  return index.rank(query, index.statistics(query), limit);
}

words paths_of(const ranking& found) {
  words paths;
  for (const hit& h : found.best) {
    paths.push_back(h.path);
  }
  return paths;
}

TEST(SearchServiceDocumentTest, CountsItsWords) {
  const document counted = text_document("a", "to be or not to be");
  EXPECT_EQ(counted.length, 6u);
  ASSERT_EQ(counted.terms.size(), 4u);
  EXPECT_EQ(counted.word(counted.terms[0]), "to");
  EXPECT_EQ(counted.terms[0].occurrences, 2u);
  EXPECT_EQ(counted.word(counted.terms[2]), "or");
  EXPECT_EQ(counted.terms[2].occurrences, 1u);
}

TEST(SearchServiceDocumentTest, HtmlIsReadAsItsText) {
  EXPECT_EQ(readable_text(document_kind::html, "<b>a</b>\xFF"), "a\uFFFD");
  EXPECT_EQ(readable_text(document_kind::text, "<b>a</b>"), "<b>a</b>");
}

// By hand: three documents of 4, 2 and 6 words, so 4 on average. "port" is in
// two of three: ln(1 + (3 - 2 + 0.5) / (2 + 0.5)) = ln 1.6 = 0.470004.
//   a: once in 4 words:  0.470004 * 2.2 / (1 + 1.2)         = 0.470004
//   c: twice in 6 words: 0.470004 * 4.4 / (2 + 1.2 * 1.375) = 0.566580
// since 1 - 0.75 + 0.75 * 6 / 4 = 1.375.
TEST(SearchServiceInvertedIndexTest, ScoresAreBm25ToTheLastDigit) {
  inverted_index index;
  index.put(text_document("a", "a port of call"));
  index.put(text_document("b", "no ship"));
  index.put(text_document("c", "port to port by the sea"));

  const ranking found = search(index, {"port"});

  EXPECT_EQ(found.total, 2u);
  ASSERT_EQ(paths_of(found), (words{"c", "a"}));
  EXPECT_NEAR(found.best[0].score, 0.566580, 0.000001);
  EXPECT_NEAR(found.best[1].score, 0.470004, 0.000001);
}

TEST(SearchServiceInvertedIndexTest, WordsOfAQueryAddUp) {
  inverted_index index;
  index.put(text_document("both", "join port"));
  index.put(text_document("join", "join other"));
  index.put(text_document("port", "port other"));

  const double join = search(index, {"join"}).best[0].score;
  const double port = search(index, {"port"}).best[0].score;
  const ranking found = search(index, {"join", "port"});

  EXPECT_EQ(found.total, 3u);
  EXPECT_EQ(found.best[0].path, "both");
  EXPECT_NEAR(found.best[0].score, join + port, 1e-12);
}

TEST(SearchServiceInvertedIndexTest, RareWordsWeighMore) {
  inverted_index index;
  index.put(text_document("rare", "the sextant"));
  index.put(text_document("common", "the the"));
  index.put(text_document("other", "the ship"));
  EXPECT_EQ(search(index, {"the", "sextant"}).best[0].path, "rare");
}

TEST(SearchServiceInvertedIndexTest, WordInEveryDocumentStillCounts) {
  inverted_index index;
  index.put(text_document("a", "the"));
  EXPECT_GT(search(index, {"the"}).best[0].score, 0);
}

TEST(SearchServiceInvertedIndexTest, UnknownWordsAndEmptyIndexFindNothing) {
  inverted_index index;
  EXPECT_EQ(search(index, {"port"}).total, 0u);
  index.put(text_document("a", "ship"));
  EXPECT_EQ(search(index, {"port"}).total, 0u);
  EXPECT_EQ(search(index, {}).total, 0u);
}

TEST(SearchServiceInvertedIndexTest, LimitKeepsTheBestAndCountsAll) {
  inverted_index index;
  index.put(text_document("once", "port a b c"));
  index.put(text_document("thrice", "port port port c"));
  index.put(text_document("twice", "port port b c"));
  const ranking found = search(index, {"port"}, 2);
  EXPECT_EQ(found.total, 3u);
  EXPECT_EQ(paths_of(found), (words{"thrice", "twice"}));
}

TEST(SearchServiceInvertedIndexTest, EqualScoresAreOrderedByPath) {
  inverted_index index;
  index.put(text_document("b", "port"));
  index.put(text_document("a", "port"));
  EXPECT_EQ(paths_of(search(index, {"port"})), (words{"a", "b"}));
}

// A document must not win because its shard knows few others with the word.
TEST(SearchServiceInvertedIndexTest, ShardsTogetherRankAsOneIndexDoes) {
  inverted_index whole;
  std::array<inverted_index, 3> shards;
  const words vocabulary = {"port",  "ship", "sea",    "wharf", "join",
                            "token", "load", "gather", "crane", "crew"};
  for (std::size_t d = 0; d < 200; ++d) {
    std::string text;
    for (std::size_t w = 0; w < 5 + d % 37; ++w) {
      text += vocabulary[(d * d + w * (d % 7 + 1)) % vocabulary.size()] + " ";
    }
    const document added = text_document("doc" + std::to_string(d), text);
    whole.put(added);
    shards[d < 150 ? 0 : 1 + d % 2].put(added); // lopsided on purpose
  }
  const words query = {"wharf", "crew", "unknown"};

  collection_statistics statistics;
  for (const inverted_index& shard : shards) {
    statistics.add(shard.statistics(query));
  }
  ranking merged;
  for (const inverted_index& shard : shards) {
    merged.add(shard.rank(query, statistics, 20), 20);
  }
  const ranking expected = search(whole, query, 20);

  EXPECT_EQ(merged.total, expected.total);
  EXPECT_EQ(paths_of(merged), paths_of(expected));
}

TEST(SearchServiceInvertedIndexTest, DocumentNewerThanTheStatisticsIsFound) {
  inverted_index index;
  const words query = {"port"};
  const collection_statistics before = index.statistics(query);
  index.put(text_document("a", "port"));
  EXPECT_EQ(index.rank(query, before, 10).total, 1u);
}

TEST(SearchServiceInvertedIndexTest, ReplacedDocumentIsFoundByItsNewWordsOnly) {
  inverted_index index;
  index.put(text_document("a", "port of call"));
  index.put(text_document("b", "another port"));
  index.put(text_document("a", "ship"));
  EXPECT_EQ(index.documents(), 2u);
  EXPECT_EQ(index.words(), 3u);
  EXPECT_EQ(paths_of(search(index, {"port"})), (words{"b"}));
  EXPECT_EQ(paths_of(search(index, {"ship"})), (words{"a"}));
}

TEST(SearchServiceInvertedIndexTest, RemovedDocumentIsFoundByNothing) {
  inverted_index index;
  index.put(text_document("a", "port"));
  EXPECT_TRUE(index.remove("a"));
  EXPECT_FALSE(index.remove("a"));
  EXPECT_FALSE(index.remove("b"));
  EXPECT_EQ(index.documents(), 0u);
  EXPECT_EQ(index.words(), 0u);
  EXPECT_EQ(search(index, {"port"}).total, 0u);
  index.put(text_document("a", "port"));
  EXPECT_EQ(search(index, {"port"}).total, 1u);
}

// Goal: an index that has been through many changes answers like one that was
// made of what is left, to the last digit.
// Method: documents come, change and go; now and then both are compared.
TEST(SearchServiceInvertedIndexTest, ChangesLeaveNothingBehind) {
  const words vocabulary = {"port", "ship",  "sea",   "wharf",
                            "join", "token", "crane", "crew"};
  inverted_index index;
  std::map<std::string, std::string> there;
  std::mt19937 random{7};
  for (int step = 1; step <= 4000; ++step) {
    const std::string path = "doc" + std::to_string(random() % 150);
    if (random() % 3 == 0) {
      EXPECT_EQ(index.remove(path), there.erase(path) == 1);
    } else {
      std::string text;
      for (std::size_t i = 0; i < 1 + random() % 20; ++i) {
        text += vocabulary[random() % vocabulary.size()] + " ";
      }
      index.put(text_document(path, text));
      there[path] = text;
    }
    if (step % 500 != 0) {
      continue;
    }
    inverted_index fresh;
    for (const auto& [name, text] : there) {
      fresh.put(text_document(name, text));
    }
    EXPECT_EQ(index.documents(), fresh.documents());
    EXPECT_EQ(index.words(), fresh.words());
    const words query = {"wharf", "crew", "port"};
    EXPECT_EQ(index.statistics(query).containing,
              fresh.statistics(query).containing);
    const ranking found = search(index, query, 200);
    const ranking expected = search(fresh, query, 200);
    ASSERT_EQ(paths_of(found), paths_of(expected));
    for (std::size_t i = 0; i < found.best.size(); ++i) {
      ASSERT_DOUBLE_EQ(found.best[i].score, expected.best[i].score);
    }
  }
}

// Words that nobody uses any more, numbers and postings all go in the end.
TEST(SearchServiceInvertedIndexTest, MemoryFollowsWhatItHolds) {
  inverted_index index;
  const auto change_all = [&index](int round) {
    for (int d = 0; d < 100; ++d) {
      std::string text;
      for (int w = 0; w < 100; ++w) {
        text += "w" + std::to_string(round * 1000 + d * 7 + w) + " ";
      }
      index.put(text_document("doc" + std::to_string(d), text));
    }
  };
  std::size_t early = 0;
  for (int round = 0; round < 300; ++round) {
    change_all(round);
    if (round == 30) {
      early = index.memory();
    }
  }
  EXPECT_LE(index.memory(), 2 * early);
}

// Long enough lists to cross slices and blocks, with gaps and counts that take
// one to five bytes.
TEST(SearchServicePostingStoreTest, ReadsBackWhatWasAppended) {
  posting_store store;
  std::array<posting_store::list, 3> lists;
  std::array<std::vector<posting>, 3> expected;
  std::uint32_t document = 0;
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    document += 1 + (i % 1000 == 0 ? 20'000 : i % 3);
    const std::uint32_t occurrences =
        i % 5000 == 0 ? 4'000'000'000 : 1 + i % 200;
    const std::size_t which = i % 100 == 0 ? 0 : i % 7 == 0 ? 1 : 2;
    store.append(lists[which], {document, occurrences});
    expected[which].push_back({document, occurrences});
  }
  for (std::size_t which = 0; which < lists.size(); ++which) {
    posting_store::reader reader{store, lists[which]};
    for (const posting& wanted : expected[which]) {
      const auto next = reader.next();
      ASSERT_TRUE(next);
      ASSERT_EQ(next->document, wanted.document);
      ASSERT_EQ(next->occurrences, wanted.occurrences);
    }
    EXPECT_FALSE(reader.next());
  }
}

TEST(SearchServicePostingStoreTest, RareWordsCostFewBytes) {
  posting_store store;
  std::vector<posting_store::list> lists(100'000);
  for (std::uint32_t i = 0; i < lists.size(); ++i) {
    store.append(lists[i], {i, 1});
  }
  EXPECT_LE(store.memory() / lists.size(), 16u);
}

TEST(SearchServiceVocabularyTest, NumbersWordsInOrderOfArrival) {
  vocabulary known;
  EXPECT_EQ(known.find("w0"), std::nullopt);
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    ASSERT_EQ(known.add("w" + std::to_string(i)), i);
  }
  EXPECT_EQ(known.add("w17"), 17u);
  EXPECT_EQ(known.size(), 50'000u);
  EXPECT_EQ(known.find("w49999"), 49'999u);
  EXPECT_EQ(known.find("w50000"), std::nullopt);
}

} // namespace
} // namespace search_service

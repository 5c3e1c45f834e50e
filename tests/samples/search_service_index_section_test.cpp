#include "search_service/index_section.hpp"

#include "search_service/byte_codec.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace search_service {
namespace {

using words = std::vector<std::string>;

document stamped(const std::string& path, std::string_view text) {
  document added = count_words(path, text);
  added.stamp = {text.size(), -5, std::numeric_limits<std::int64_t>::max()};
  return added;
}

inverted_index small_index() {
  inverted_index index;
  index.put(stamped("gone", "port port"));
  index.put(stamped("a", "a port of call"));
  index.put(stamped("b", "ship to port, port to ship"));
  index.put(stamped("c", ""));
  index.remove("gone");
  return index;
}

ranking ask(std::span<const inverted_index> shards, const words& query) {
  collection_statistics statistics;
  for (const inverted_index& shard : shards) {
    statistics.add(shard.statistics(query));
  }
  ranking all;
  for (const inverted_index& shard : shards) {
    all.add(shard.rank(query, statistics, 100), 100);
  }
  return all;
}

TEST(SearchServiceByteCodecTest, ReadsBackWhatWasWritten) {
  std::string bytes;
  byte_writer to{bytes};
  const std::array<std::uint64_t, 6> numbers{
      0, 127, 128, 300, 1u << 31, std::numeric_limits<std::uint64_t>::max()};
  for (const std::uint64_t number : numbers) {
    to.number(number);
    to.text(std::string(number % 1000, 'x'));
  }
  byte_reader from{bytes};
  for (const std::uint64_t number : numbers) {
    EXPECT_EQ(from.number(), number);
    EXPECT_EQ(from.text().size(), number % 1000);
  }
  EXPECT_TRUE(from.at_end());
  EXPECT_THROW(from.number(), malformed_bytes);
}

TEST(SearchServiceIndexSectionTest, AnyNumberOfShardsAnswersTheSame) {
  const inverted_index whole = small_index();
  const std::string section = to_section(whole);
  for (const std::size_t count : {1u, 2u, 5u}) {
    std::vector<inverted_index> shards(count);
    from_section(section, shards);
    std::size_t documents = 0;
    for (const inverted_index& shard : shards) {
      documents += shard.documents();
      shard.for_each_document([](std::uint32_t, std::string_view path,
                                 const file_stamp& stamp, std::uint32_t) {
        EXPECT_EQ(stamp.modified_ns, -5);
        EXPECT_EQ(stamp.changed_ns, std::numeric_limits<std::int64_t>::max());
        EXPECT_EQ(stamp.size == 0, path == "c");
      });
    }
    EXPECT_EQ(documents, 3u);
    for (const words& query : {words{"port"}, words{"ship", "call"}}) {
      const ranking expected = ask({&whole, 1}, query);
      const ranking found = ask(shards, query);
      ASSERT_EQ(found.best.size(), expected.best.size());
      for (std::size_t i = 0; i < found.best.size(); ++i) {
        EXPECT_EQ(found.best[i].path, expected.best[i].path);
        EXPECT_DOUBLE_EQ(found.best[i].score, expected.best[i].score);
      }
    }
  }
}

TEST(SearchServiceIndexSectionTest, RestoredIndexTakesChanges) {
  std::vector<inverted_index> shards(1);
  from_section(to_section(small_index()), shards);
  shards[0].put(stamped("a", "ship"));
  EXPECT_TRUE(shards[0].remove("b"));
  EXPECT_EQ(ask(shards, {"ship"}).total, 1u);
  EXPECT_EQ(ask(shards, {"port"}).total, 0u);
}

TEST(SearchServiceIndexSectionTest, SectionsAddUp) {
  inverted_index other;
  other.put(stamped("d", "port"));
  std::vector<inverted_index> shards(2);
  from_section(to_section(small_index()), shards);
  from_section(to_section(other), shards);
  EXPECT_EQ(ask(shards, {"port"}).total, 3u);
}

// Nothing is read but the bytes, and nothing but an exception comes of it.
TEST(SearchServiceIndexSectionTest, NonsenseIsRefusedWhateverItIs) {
  const std::string section = to_section(small_index());
  for (std::size_t size = 1; size < section.size(); ++size) {
    std::vector<inverted_index> shards(2);
    try {
      from_section(section.substr(0, size), shards);
    } catch (const std::runtime_error&) {
    }
  }
  for (std::size_t at = 0; at < section.size(); ++at) {
    for (const char flip : {'\x01', '\x40', '\x7F', '\xFF'}) {
      std::string broken = section;
      broken[at] = static_cast<char>(broken[at] ^ flip);
      std::vector<inverted_index> shards(2);
      try {
        from_section(broken, shards);
      } catch (const std::exception&) {
      }
    }
  }
  std::vector<inverted_index> shards(1);
  EXPECT_THROW(from_section("", shards), malformed_bytes);
  from_section(section, shards);
  EXPECT_THROW(from_section(section, shards), std::invalid_argument);
}

} // namespace
} // namespace search_service

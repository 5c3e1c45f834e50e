#include "index_section.hpp"

#include "byte_codec.hpp"
#include "shard_of.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace search_service {

namespace {

// Where a document of the section has gone.
struct home {
  inverted_index* shard;
  std::uint32_t number;
};

home read_document(byte_reader& from, std::span<inverted_index> shards) {
  const std::string_view path = from.text();
  file_stamp stamp;
  stamp.size = from.number();
  stamp.modified_ns = static_cast<std::int64_t>(from.number());
  stamp.changed_ns = static_cast<std::int64_t>(from.number());
  const std::uint32_t length =
      from.number_up_to(std::numeric_limits<std::uint32_t>::max());
  inverted_index& shard = shards[shard_of(path, shards.size())];
  return {&shard, shard.add_document(path, stamp, length)};
}

void read_word(byte_reader& from, const std::vector<home>& documents) {
  const std::string_view word = from.text();
  if (word.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw malformed_bytes{};
  }
  std::uint64_t next = 0; // the least number that the next document may have
  for (std::uint64_t left = from.number(); left > 0; --left) {
    next += from.number_up_to(std::numeric_limits<std::uint32_t>::max());
    if (next >= documents.size()) {
      throw malformed_bytes{};
    }
    const home& place = documents[next];
    const std::uint32_t times =
        from.number_up_to(std::numeric_limits<std::uint32_t>::max());
    place.shard->add_occurrence(word, {place.number, times});
    ++next;
  }
}

} // namespace

std::string to_section(const inverted_index& index) {
  std::string bytes;
  byte_writer to{bytes};
  // Documents are numbered anew, without gaps.
  std::vector<std::uint32_t> numbers;
  std::uint32_t count = 0;
  to.number(index.documents());
  index.for_each_document([&](std::uint32_t number, std::string_view path,
                              const file_stamp& stamp, std::uint32_t length) {
    numbers.resize(number + 1);
    numbers[number] = count++;
    to.text(path);
    to.number(stamp.size);
    to.number(static_cast<std::uint64_t>(stamp.modified_ns));
    to.number(static_cast<std::uint64_t>(stamp.changed_ns));
    to.number(length);
  });
  // Of each word first how many documents hold it, so it is collected first.
  std::string_view word;
  std::string occurrences;
  std::uint32_t holders = 0;
  std::uint32_t next = 0;
  const auto finish_word = [&] {
    if (holders > 0) {
      to.text(word);
      to.number(holders);
      bytes += occurrences;
    }
    occurrences.clear();
    holders = 0;
    next = 0;
  };
  index.for_each_word(
      [&](std::string_view letters) {
        finish_word();
        word = letters;
      },
      [&](std::uint32_t document, std::uint32_t times) {
        byte_writer more{occurrences};
        more.number(numbers[document] - next);
        more.number(times);
        next = numbers[document] + 1;
        ++holders;
      });
  finish_word();
  return bytes;
}

void from_section(std::string_view section, std::span<inverted_index> shards) {
  byte_reader from{section};
  std::vector<home> documents;
  for (std::uint64_t left = from.number(); left > 0; --left) {
    documents.push_back(read_document(from, shards));
  }
  while (!from.at_end()) {
    read_word(from, documents);
  }
}

} // namespace search_service

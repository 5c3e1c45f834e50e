#pragma once

// Owns the words of an index: each distinct word once, with a number.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace search_service {

/// A hash table from words to the numbers 0, 1, 2, ... in order of arrival. It
/// keeps the letters in large blocks, since a node and a string for each of a
/// million words would cost several times what the words do.
///
/// Thread safety: none; its owner's interleave sees to that.
class vocabulary {
public:
  /// The number of `word`, if it is known.
  std::optional<std::uint32_t> find(std::string_view word) const;

  /// The number of `word`, a new one if need be.
  ///
  /// Requires: word.size() <= 65535.
  std::uint32_t add(std::string_view word);

  /// The word with this number. Valid as long as the vocabulary is.
  ///
  /// Requires: number < size().
  std::string_view word(std::uint32_t number) const {
    return {entries_[number].letters, entries_[number].size};
  }

  std::size_t size() const { return entries_.size(); }

  /// Bytes taken from the system.
  std::size_t memory() const;

private:
  struct entry {
    const char* letters;
    std::uint32_t hash;
    std::uint16_t size;
  };

  static constexpr std::size_t block_size = 1 << 16;

  std::size_t slot_of(std::string_view word, std::uint32_t hash) const;
  const char* keep(std::string_view word);
  void grow();

  std::vector<entry> entries_;
  std::vector<std::uint32_t> slots_; // a number plus one; 0 is free
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = block_size; // of the last block
};

} // namespace search_service

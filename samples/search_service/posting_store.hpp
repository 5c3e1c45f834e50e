#pragma once

// Owns the memory of posting lists: many lists, most of them tiny, some huge,
// all growing at their ends, in a few large blocks and without a pointer each.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace search_service {

/// That a word occurs in a document, and how often.
struct posting {
  std::uint32_t document;
  std::uint32_t occurrences;
};

/// Posting lists as chains of slices of bytes. A list's first slice holds two
/// or three postings, each further one twice as much, up to a limit; numbers
/// take as few bytes as they need. So a word that occurs once costs about
/// twelve bytes here, and a frequent one little more than two a document.
///
/// Thread safety: none; its owner's interleave sees to that.
class posting_store {
public:
  /// A list's place. An empty one is default constructed.
  struct list {
    std::uint32_t first = 0;         ///< its first slice
    std::uint32_t end = 0;           ///< where the next byte goes
    std::uint32_t last_document = 0; ///< numbers are stored as differences
    std::uint32_t size = 0;          ///< postings
    std::uint16_t room = 0;          ///< bytes left in the last slice
    std::uint16_t slice_size = 0;    ///< of the last slice
  };

  /// Appends to `to`. Throws std::length_error when the store holds 4 GiB.
  ///
  /// Requires: `added.document` is above all in the list.
  void append(list& to, posting added);

  /// Reads a list from its beginning.
  ///
  /// Lifetime: valid until the next append to its store.
  class reader {
  public:
    reader(const posting_store& store, const list& from);

    /// The next posting; nothing at the end.
    std::optional<posting> next();

  private:
    std::uint32_t number();

    const posting_store& store_;
    std::uint32_t at_;
    std::uint32_t slice_size_;
    std::uint32_t left_in_slice_;
    std::uint32_t left_;
    std::uint32_t document_ = 0;
  };

  /// Bytes taken from the system.
  std::size_t memory() const { return blocks_.size() * block_size; }

private:
  using byte = std::uint8_t;

  static constexpr std::uint32_t block_size = 1 << 18;

  std::uint32_t allocate(std::uint32_t size);
  void put(list& to, std::uint32_t number);
  void put_byte(list& to, byte value);
  byte& at(std::uint32_t offset);
  byte at(std::uint32_t offset) const;

  std::vector<std::unique_ptr<byte[]>> blocks_;
  std::uint32_t used_ = block_size; // of the last block
};

} // namespace search_service

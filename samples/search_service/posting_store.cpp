// A slice is its bytes, and behind them the offset of the next slice, written
// when there is one. Slices never cross a block's end. How large each slice of
// a chain is follows from its place in the chain, so nobody stores it.

#include "posting_store.hpp"

#include <algorithm>
#include <stdexcept>

namespace search_service {

namespace {

constexpr std::uint32_t link_size = 4;
constexpr std::uint32_t slice_size_min = 8;
constexpr std::uint32_t slice_size_max = 512;

std::uint32_t next_slice_size(std::uint32_t size) {
  return size == 0 ? slice_size_min : std::min(size * 2, slice_size_max);
}

} // namespace

void posting_store::append(list& to, posting added) {
  // In a copy: a posting that finds no room leaves no half of itself behind.
  list grown = to;
  put(grown, added.document - to.last_document);
  put(grown, added.occurrences);
  grown.last_document = added.document;
  ++grown.size;
  to = grown;
}

std::uint32_t posting_store::allocate(std::uint32_t size) {
  if (block_size - used_ < size) {
    constexpr std::size_t blocks_max = (std::size_t{1} << 32) / block_size;
    if (blocks_.size() == blocks_max) {
      throw std::length_error{"a shard's posting lists are full (4 GiB); run "
                              "the service with more shards"};
    }
    blocks_.push_back(std::make_unique<byte[]>(block_size));
    used_ = 0;
  }
  const auto block = static_cast<std::uint32_t>(blocks_.size() - 1);
  const std::uint32_t offset = block * block_size + used_;
  used_ += size;
  return offset;
}

// Seven bits a byte, the lowest first; the eighth says that more follow.
void posting_store::put(list& to, std::uint32_t number) {
  while (number >= 0x80) {
    put_byte(to, static_cast<byte>(number | 0x80));
    number >>= 7;
  }
  put_byte(to, static_cast<byte>(number));
}

void posting_store::put_byte(list& to, byte value) {
  if (to.room == 0) {
    const std::uint32_t size = next_slice_size(to.slice_size);
    const std::uint32_t slice = allocate(size + link_size);
    if (to.slice_size == 0) {
      to.first = slice;
    } else {
      for (std::uint32_t i = 0; i < link_size; ++i) {
        at(to.end + i) = static_cast<byte>(slice >> (8 * i));
      }
    }
    to.end = slice;
    to.room = static_cast<std::uint16_t>(size);
    to.slice_size = to.room;
  }
  at(to.end) = value;
  ++to.end;
  --to.room;
}

posting_store::byte& posting_store::at(std::uint32_t offset) {
  return blocks_[offset / block_size][offset % block_size];
}

posting_store::byte posting_store::at(std::uint32_t offset) const {
  return blocks_[offset / block_size][offset % block_size];
}

posting_store::reader::reader(const posting_store& store, const list& from)
    : store_{store}, at_{from.first}, slice_size_{slice_size_min},
      left_in_slice_{slice_size_min}, left_{from.size} {
}

std::optional<posting> posting_store::reader::next() {
  if (left_ == 0) {
    return std::nullopt;
  }
  --left_;
  document_ += number();
  return posting{document_, number()};
}

std::uint32_t posting_store::reader::number() {
  std::uint32_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    if (left_in_slice_ == 0) {
      std::uint32_t slice = 0;
      for (std::uint32_t i = 0; i < link_size; ++i) {
        slice |= std::uint32_t{store_.at(at_ + i)} << (8 * i);
      }
      at_ = slice;
      slice_size_ = next_slice_size(slice_size_);
      left_in_slice_ = slice_size_;
    }
    const byte next = store_.at(at_);
    ++at_;
    --left_in_slice_;
    value |= (next & 0x7Fu) << shift;
    if ((next & 0x80) == 0) {
      return value;
    }
  }
}

} // namespace search_service

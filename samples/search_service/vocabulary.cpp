#include "vocabulary.hpp"

#include <algorithm>
#include <functional>

namespace search_service {

namespace {

std::uint32_t hash_of(std::string_view word) {
  const std::uint64_t hash = std::hash<std::string_view>{}(word);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

} // namespace

std::optional<std::uint32_t> vocabulary::find(std::string_view word) const {
  if (slots_.empty()) {
    return std::nullopt;
  }
  const std::uint32_t found = slots_[slot_of(word, hash_of(word))];
  return found == 0 ? std::nullopt : std::optional{found - 1};
}

std::uint32_t vocabulary::add(std::string_view word) {
  // At most three quarters full: a look-up then ends after a few steps.
  if ((entries_.size() + 1) * 4 > slots_.size() * 3) {
    grow();
  }
  const std::uint32_t hash = hash_of(word);
  const std::size_t slot = slot_of(word, hash);
  if (slots_[slot] == 0) {
    entries_.push_back(
        {keep(word), hash, static_cast<std::uint16_t>(word.size())});
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  }
  return slots_[slot] - 1;
}

std::size_t vocabulary::memory() const {
  return entries_.capacity() * sizeof(entry) +
         slots_.capacity() * sizeof(std::uint32_t) +
         blocks_.size() * block_size;
}

// The slot that holds the word, or the free one where it belongs. There is a
// free one: the table is never full.
std::size_t vocabulary::slot_of(std::string_view word,
                                std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const entry& there = entries_[slots_[slot] - 1];
    if (there.hash == hash &&
        std::string_view{there.letters, there.size} == word) {
      break;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

const char* vocabulary::keep(std::string_view word) {
  if (block_size - used_ < word.size()) {
    blocks_.push_back(std::make_unique<char[]>(block_size));
    used_ = 0;
  }
  char* const letters = blocks_.back().get() + used_;
  std::ranges::copy(word, letters);
  used_ += word.size();
  return letters;
}

void vocabulary::grow() {
  std::vector<std::uint32_t> slots(
      std::max<std::size_t>(slots_.size() * 2, 1024));
  const std::size_t mask = slots.size() - 1;
  for (std::size_t number = 0; number < entries_.size(); ++number) {
    std::size_t slot = entries_[number].hash & mask;
    while (slots[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    slots[slot] = static_cast<std::uint32_t>(number + 1);
  }
  slots_ = std::move(slots);
}

} // namespace search_service

#include "tokenizer.hpp"

#include "ascii.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <iterator>

namespace search_service {

namespace {

enum class letter { none, joined, alone };

struct code_range {
  char32_t first;
  char32_t last;
};

// What separates words beyond ASCII: Latin-1's signs without its letters,
// general punctuation up to the technical, drawing and symbol blocks,
// ideographic and small punctuation, full-width signs, the replacement
// character, emoji and tags.
constexpr code_range separators[] = {
    {0x80, 0xA9},     {0xAB, 0xB4},       {0xB6, 0xB9},
    {0xBB, 0xBF},     {0xD7, 0xD7},       {0xF7, 0xF7},
    {0x2000, 0x206F}, {0x20A0, 0x20CF},   {0x2190, 0x2BFF},
    {0x2E00, 0x2E7F}, {0x3000, 0x3004},   {0x3008, 0x3020},
    {0x3030, 0x3030}, {0xE000, 0xF8FF},   {0xFE10, 0xFE1F},
    {0xFE30, 0xFE6F}, {0xFEFF, 0xFEFF},   {0xFF01, 0xFF0F},
    {0xFF1A, 0xFF20}, {0xFF3B, 0xFF40},   {0xFF5B, 0xFF65},
    {0xFFE0, 0xFFFF}, {0x1F000, 0x1FAFF}, {0xE0000, 0x10FFFF}};

// Ideographs, kana and their extensions.
constexpr code_range ideographs[] = {
    {0x3005, 0x3007}, {0x3021, 0x302F}, {0x3031, 0x30FF}, {0x31F0, 0x31FF},
    {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x323AF}};

template <class Ranges>
bool contains(const Ranges& sorted, char32_t code) {
  const auto after =
      std::ranges::upper_bound(sorted, code, {}, &code_range::first);
  return after != std::begin(sorted) && code <= std::prev(after)->last;
}

letter classify(const utf8_step& step) {
  if (!step.valid) {
    return letter::none;
  }
  if (step.code < 0x80) {
    const char c = static_cast<char>(step.code);
    const bool joined = is_ascii_letter(c) || is_ascii_digit(c) || c == '_';
    return joined ? letter::joined : letter::none;
  }
  if (contains(ideographs, step.code)) {
    return letter::alone;
  }
  return contains(separators, step.code) ? letter::none : letter::joined;
}

} // namespace

std::optional<word_reader::word> word_reader::next() {
  folded_.clear();
  std::size_t begin = at_;
  bool full = false;
  while (at_ < text_.size()) {
    const utf8_step step = decode_utf8(text_, at_);
    const letter kind = classify(step);
    const bool inside = !folded_.empty();
    if (kind == letter::none || (kind == letter::alone && inside)) {
      if (inside) {
        break;
      }
      at_ += step.size;
      begin = at_;
      continue;
    }
    full = full || folded_.size() + step.size > word_size_max;
    if (!full) {
      for (std::size_t i = 0; i < step.size; ++i) {
        folded_.push_back(ascii_lower(text_[at_ + i]));
      }
    }
    at_ += step.size;
    if (kind == letter::alone) {
      break;
    }
  }
  if (folded_.empty()) {
    return std::nullopt;
  }
  return word{begin, at_, folded_};
}

std::vector<std::string> query_words(std::string_view query,
                                     std::size_t words_max) {
  std::vector<std::string> words;
  word_reader reader{query};
  while (const auto word = reader.next()) {
    if (words.size() == words_max) {
      break;
    }
    if (std::ranges::find(words, word->folded) == words.end()) {
      words.emplace_back(word->folded);
    }
  }
  return words;
}

} // namespace search_service

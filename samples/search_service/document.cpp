#include "document.hpp"

#include "html_text.hpp"
#include "tokenizer.hpp"
#include "utf8.hpp"

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>

namespace search_service {

namespace {

struct word_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view word) const {
    return std::hash<std::string_view>{}(word);
  }
};

// Word to its index in document::terms.
using term_numbers =
    std::unordered_map<std::string, std::size_t, word_hash, std::equal_to<>>;

} // namespace

std::string readable_text(document_kind kind, std::string bytes) {
  if (kind == document_kind::html) {
    bytes = html_to_text(bytes);
  }
  return repair_utf8(std::move(bytes));
}

document count_words(std::string path, std::string_view text) {
  document counted;
  counted.path = std::move(path);
  term_numbers numbers;
  word_reader reader{text};
  while (const auto word = reader.next()) {
    ++counted.length;
    const auto known = numbers.find(word->folded);
    if (known != numbers.end()) {
      ++counted.terms[known->second].occurrences;
      continue;
    }
    numbers.emplace(word->folded, counted.terms.size());
    counted.terms.push_back({static_cast<std::uint32_t>(counted.letters.size()),
                             static_cast<std::uint32_t>(word->folded.size()),
                             1});
    counted.letters += word->folded;
  }
  return counted;
}

} // namespace search_service

#pragma once

// Owns the rule what a word is. Documents, queries and snippets all go through
// it, so a word is found exactly as it was indexed.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace search_service {

/// Longer words count by their first bytes, cut between code points: a line of
/// base64 costs no more than this in the index, and is still found.
inline constexpr std::size_t word_size_max = 64;

/// Reads text word by word.
///
/// A word is a run of ASCII letters, digits, underscores and letters of other
/// scripts. ASCII is lower-cased; other letters stay as they are, since folding
/// them depends on a language that nobody told us. Ideographs and kana, written
/// without spaces, are words of one character each. Everything else, malformed
/// UTF-8 included, separates words.
///
/// Lifetime: the text must outlive the reader.
class word_reader {
public:
  /// One word: where it stands in the text, and its folded form, which is valid
  /// until the next call of next().
  struct word {
    std::size_t begin;
    std::size_t end;
    std::string_view folded;
  };

  explicit word_reader(std::string_view text, std::size_t from = 0)
      : text_{text}, at_{from} {}

  /// The next word; nothing at the end of the text.
  std::optional<word> next();

private:
  std::string_view text_;
  std::size_t at_;
  std::string folded_;
};

/// The distinct words of a query in the order in which they first occur. Words
/// beyond the first `words_max` are left out.
std::vector<std::string> query_words(std::string_view query,
                                     std::size_t words_max = 16);

} // namespace search_service

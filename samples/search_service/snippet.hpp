#pragma once

// Owns the choice of the lines that show why a document answers a query.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace search_service {

/// An excerpt and where the query's words stand in it.
struct snippet {
  struct mark {
    std::size_t begin;
    std::size_t end;
  };

  std::string text;
  std::vector<mark> marks; ///< in order, apart from each other
};

/// The excerpt of `text` of about `size_max` bytes that holds most of `words`;
/// the beginning of the text if it holds none. White space is squeezed, and an
/// ellipsis says where text was left out.
///
/// Requires: text is valid UTF-8, words are folded as query_words() does.
snippet make_snippet(std::string_view text, std::span<const std::string> words,
                     std::size_t size_max = 240);

/// The excerpt as HTML: text escaped, each mark in <mark>. Safe to put into a
/// page whatever the document holds.
std::string to_html(const snippet& shown);

} // namespace search_service

#pragma once

// Owns what a file has become once it is read: its words, counted and ready to
// be merged into an index. The text itself is not kept.

#include "document_kind.hpp"
#include "file_stamp.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace search_service {

/// A document's words. Loaders make it, a shard merges it and throws it away.
struct document {
  /// One distinct word and how often it occurs.
  struct term {
    std::uint32_t begin; ///< in `letters`
    std::uint32_t size;
    std::uint32_t occurrences;
  };

  std::string path;
  file_stamp stamp;         ///< of its file, from before it was read
  std::uint32_t length = 0; ///< words, repetitions included
  std::uint64_t bytes = 0;  ///< of its file
  bool unsteady = false;    ///< its file changed while it was read
  std::vector<term> terms;  ///< distinct
  std::string letters;      ///< the distinct words, one after another

  std::string_view word(const term& t) const {
    return std::string_view{letters}.substr(t.begin, t.size);
  }
};

/// The text in a file's `bytes`: extracted if it is HTML, and valid UTF-8 in
/// any case.
std::string readable_text(document_kind kind, std::string bytes);

/// Counts the words of `text`.
document count_words(std::string path, std::string_view text);

} // namespace search_service

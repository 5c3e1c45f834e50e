#pragma once

// Owns the index of one shard: which words occur in which documents.

#include "bm25.hpp"
#include "document.hpp"
#include "posting_store.hpp"
#include "vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace search_service {

/// A document that answers a query.
struct hit {
  std::string path;
  double score = 0;
};

/// True if `a` stands before `b` in an answer: by score, then by path, so that
/// the order doesn't depend on who answered first.
bool ranks_before(const hit& a, const hit& b);

/// What an index, or several together, found for a query.
struct ranking {
  std::uint64_t total = 0; ///< documents with at least one of the words
  std::vector<hit> best;   ///< the first of them, best first

  /// Adds what another part of the collection found; `limit` hits stay.
  void add(ranking part, std::size_t limit);
};

/// An inverted index of documents that come, change and go.
///
/// To rank a query, ask all parts of the collection for statistics(), add them
/// up, and have every part rank() with the sum: then scores mean the same in
/// all parts, and the best of all parts are the best of the collection.
///
/// A document that goes leaves its postings behind, which questions pass over.
/// Once more documents have gone than are there, the index is made anew without
/// them; so its memory follows what it holds, and the cost of that is spread
/// over as many documents as it copies.
///
/// Thread safety: const members may run together, the others run alone. The
/// shard's interleave sees to that.
class inverted_index {
public:
  inverted_index() = default;
  inverted_index(inverted_index&&) = default;
  inverted_index& operator=(inverted_index&&) = default;

  /// Adds a document, in the place of the one with the same path if there is
  /// one. Throws std::length_error if the index is full and std::bad_alloc; the
  /// document is then found by some of its words, or by none.
  void put(const document& added);

  /// Removes a document; false if it is unknown. Throws std::bad_alloc; it is
  /// removed then, too.
  bool remove(std::string_view path);

  /// What this index knows about `words`.
  collection_statistics statistics(std::span<const std::string> words) const;

  /// The documents that hold at least one of `words`, scored with the
  /// collection's `statistics` for the same words. Throws
  /// std::invalid_argument if those are for another number of words.
  ranking rank(std::span<const std::string> words,
               const collection_statistics& statistics,
               std::size_t limit) const;

  std::size_t documents() const { return numbers_.size(); }

  /// Words in all documents, repetitions included.
  std::uint64_t words() const { return words_; }

  /// Bytes taken from the system, nearly.
  std::size_t memory() const;

  // Copying an index, document by document and word by word.

  /// Calls `each(number, path, stamp, length)` for every document, in ascending
  /// order of the numbers, which have gaps.
  template <class F>
  void for_each_document(F each) const {
    for (std::uint32_t n = 0; n < documents_.size(); ++n) {
      const entry& known = documents_[n];
      if (known.path != nullptr) {
        each(n, std::string_view{*known.path}, known.stamp, known.length);
      }
    }
  }

  /// Calls `word(letters)` for every word, and after each
  /// `occurrence(document, times)` for every document that holds it, in
  /// ascending order; there may be none.
  template <class Word, class Occurrence>
  void for_each_word(Word word, Occurrence occurrence) const {
    for (std::uint32_t n = 0; n < lists_.size(); ++n) {
      word(vocabulary_.word(n));
      posting_store::reader reader{postings_, lists_[n]};
      while (const auto next = reader.next()) {
        if (documents_[next->document].path != nullptr) {
          occurrence(next->document, next->occurrences);
        }
      }
    }
  }

  /// Adds a document without its words; returns its number here, which is above
  /// all others. Throws std::invalid_argument if the path is known.
  std::uint32_t add_document(std::string_view path, const file_stamp& stamp,
                             std::uint32_t length);

  /// Adds that the word occurs in a document.
  ///
  /// Requires: `document` was added, and is above all that were given for this
  /// word.
  void add_occurrence(std::string_view word, posting added);

private:
  struct path_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view path) const {
      return std::hash<std::string_view>{}(path);
    }
  };
  using document_numbers = std::unordered_map<std::string, std::uint32_t,
                                              path_hash, std::equal_to<>>;

  struct entry {
    const std::string* path; // the key in numbers_; null: it has gone
    file_stamp stamp;
    std::uint32_t length;
  };

  const posting_store::list* find(const std::string& word) const;
  std::uint64_t containing(const posting_store::list& list) const;
  void compact();

  std::vector<entry> documents_;
  document_numbers numbers_; // of the documents that are there
  std::uint64_t words_ = 0;
  vocabulary vocabulary_;
  std::vector<posting_store::list> lists_; // by the word's number
  posting_store postings_;
};

} // namespace search_service

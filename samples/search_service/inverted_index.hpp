#pragma once

// Owns the index of one shard: which words occur in which documents.

#include "bm25.hpp"
#include "document.hpp"
#include "posting_store.hpp"
#include "vocabulary.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
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

/// An inverted index that only grows.
///
/// To rank a query, ask all parts of the collection for statistics(), add them
/// up, and have every part rank() with the sum: then scores mean the same in
/// all parts, and the best of all parts are the best of the collection.
///
/// Thread safety: const members may run together, add() runs alone. The
/// shard's interleave sees to that.
class inverted_index {
public:
  /// Adds a document. Throws std::length_error if the index is full and
  /// std::bad_alloc; the document is then found by some of its words.
  void add(const document& added);

  /// What this index knows about `words`.
  collection_statistics statistics(std::span<const std::string> words) const;

  /// The documents that hold at least one of `words`, scored with the
  /// collection's `statistics` for the same words. Throws
  /// std::invalid_argument if those are for another number of words.
  ranking rank(std::span<const std::string> words,
               const collection_statistics& statistics,
               std::size_t limit) const;

  std::size_t documents() const { return documents_.size(); }

  /// Bytes taken from the system, nearly.
  std::size_t memory() const;

private:
  struct entry {
    std::string path;
    std::uint32_t length;
  };

  const posting_store::list* find(const std::string& word) const;

  std::vector<entry> documents_;
  std::uint64_t words_ = 0;
  vocabulary vocabulary_;
  std::vector<posting_store::list> lists_; // by the word's number
  posting_store postings_;
};

} // namespace search_service

#pragma once

// Owns the formula by which documents are ranked, and the statistics that it
// needs.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace search_service {

/// What a collection says about the words of one query.
struct collection_statistics {
  std::uint64_t documents = 0;
  std::uint64_t words = 0; ///< in all documents
  std::vector<std::uint64_t>
      containing; ///< documents with the query's i-th word

  /// Adds another part of the same collection, asked for the same words.
  void add(const collection_statistics& part);
};

/// Okapi BM25 with the usual k1 = 1.2 and b = 0.75, and with 1 added inside the
/// logarithm, so that a word that most documents hold counts little rather than
/// against them.
///
/// The score of a document is the sum, over the query's words, of
///
///     weight(word) * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average))
///     weight(word) = ln(1 + (N - n + 0.5) / (n + 0.5))
///
/// where f counts the word in the document, n the documents that hold it and N
/// all documents.
class bm25 {
public:
  static constexpr double k1 = 1.2;
  static constexpr double b = 0.75;

  explicit bm25(const collection_statistics& statistics);

  /// What the query's i-th word, `occurrences` times in a document of `length`
  /// words, adds to the document's score.
  double score(std::size_t i, std::uint32_t occurrences,
               std::uint32_t length) const;

private:
  std::vector<double> weights_;
  double average_length_;
};

} // namespace search_service

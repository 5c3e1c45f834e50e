#include "bm25.hpp"

#include <algorithm>
#include <cmath>

namespace search_service {

void collection_statistics::add(const collection_statistics& part) {
  documents += part.documents;
  words += part.words;
  containing.resize(std::max(containing.size(), part.containing.size()));
  for (std::size_t i = 0; i < part.containing.size(); ++i) {
    containing[i] += part.containing[i];
  }
}

bm25::bm25(const collection_statistics& statistics) {
  // At least one, since a document may arrive after the statistics were made.
  const double all =
      static_cast<double>(std::max<std::uint64_t>(statistics.documents, 1));
  const double words =
      static_cast<double>(std::max<std::uint64_t>(statistics.words, 1));
  average_length_ = words / all;
  weights_.reserve(statistics.containing.size());
  for (const std::uint64_t containing : statistics.containing) {
    const double n = std::min(static_cast<double>(containing), all);
    weights_.push_back(std::log(1 + (all - n + 0.5) / (n + 0.5)));
  }
}

double bm25::score(std::size_t i, std::uint32_t occurrences,
                   std::uint32_t length) const {
  const double f = occurrences;
  const double relative_length = length / average_length_;
  return weights_[i] * f * (k1 + 1) / (f + k1 * (1 - b + b * relative_length));
}

} // namespace search_service

#include "inverted_index.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace search_service {

bool ranks_before(const hit& a, const hit& b) {
  return a.score != b.score ? a.score > b.score : a.path < b.path;
}

void ranking::add(ranking part, std::size_t limit) {
  total += part.total;
  const auto middle = static_cast<std::ptrdiff_t>(best.size());
  std::ranges::move(part.best, std::back_inserter(best));
  std::ranges::inplace_merge(best, best.begin() + middle, ranks_before);
  best.resize(std::min(best.size(), limit));
}

void inverted_index::add(const document& added) {
  const auto number = static_cast<std::uint32_t>(documents_.size());
  documents_.push_back({added.path, added.length});
  words_ += added.length;
  for (const document::term& term : added.terms) {
    const std::uint32_t word = vocabulary_.add(added.word(term));
    if (word >= lists_.size()) {
      lists_.resize(word + 1);
    }
    postings_.append(lists_[word], {number, term.occurrences});
  }
}

collection_statistics
inverted_index::statistics(std::span<const std::string> words) const {
  collection_statistics known;
  known.documents = documents_.size();
  known.words = words_;
  known.containing.reserve(words.size());
  for (const std::string& word : words) {
    const posting_store::list* list = find(word);
    known.containing.push_back(list == nullptr ? 0 : list->size);
  }
  return known;
}

ranking inverted_index::rank(std::span<const std::string> words,
                             const collection_statistics& statistics,
                             std::size_t limit) const {
  if (statistics.containing.size() != words.size()) {
    throw std::invalid_argument{"the statistics are not about these words"};
  }
  const bm25 formula{statistics};
  // One number a document is cheaper than a table of those that match: it is
  // filled and read in order.
  std::vector<double> scores(documents_.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    const posting_store::list* list = find(words[i]);
    if (list == nullptr) {
      continue;
    }
    posting_store::reader reader{postings_, *list};
    while (const auto next = reader.next()) {
      scores[next->document] += formula.score(
          i, next->occurrences, documents_[next->document].length);
    }
  }
  std::vector<std::uint32_t> matching;
  for (std::uint32_t number = 0; number < scores.size(); ++number) {
    if (scores[number] > 0) {
      matching.push_back(number);
    }
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b]
                                  : documents_[a].path < documents_[b].path;
  };
  const std::size_t size = std::min(limit, matching.size());
  std::ranges::partial_sort(
      matching, matching.begin() + static_cast<std::ptrdiff_t>(size), before);
  ranking found{matching.size(), {}};
  found.best.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t number = matching[i];
    found.best.push_back({documents_[number].path, scores[number]});
  }
  return found;
}

std::size_t inverted_index::memory() const {
  return documents_.capacity() * sizeof(entry) + vocabulary_.memory() +
         lists_.capacity() * sizeof(posting_store::list) + postings_.memory();
}

const posting_store::list* inverted_index::find(const std::string& word) const {
  const auto number = vocabulary_.find(word);
  // A word whose document could not be added has a number and no list.
  const bool known = number && *number < lists_.size();
  return known ? &lists_[*number] : nullptr;
}

} // namespace search_service

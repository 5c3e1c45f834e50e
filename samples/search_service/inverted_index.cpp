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

void inverted_index::put(const document& added) {
  remove(added.path);
  const std::uint32_t number =
      add_document(added.path, added.stamp, added.length);
  for (const document::term& term : added.terms) {
    add_occurrence(added.word(term), {number, term.occurrences});
  }
}

bool inverted_index::remove(std::string_view path) {
  const auto known = numbers_.find(path);
  if (known == numbers_.end()) {
    return false;
  }
  entry& gone = documents_[known->second];
  gone.path = nullptr;
  words_ -= gone.length;
  numbers_.erase(known);
  // A small index is not worth the work.
  constexpr std::size_t gone_min = 64;
  const std::size_t gone_count = documents_.size() - numbers_.size();
  if (gone_count > gone_min && gone_count > numbers_.size()) {
    compact();
  }
  return true;
}

std::uint32_t inverted_index::add_document(std::string_view path,
                                           const file_stamp& stamp,
                                           std::uint32_t length) {
  const auto number = static_cast<std::uint32_t>(documents_.size());
  const auto [place, is_new] = numbers_.emplace(path, number);
  if (!is_new) {
    throw std::invalid_argument{"the document " + place->first +
                                " is in the index already"};
  }
  try {
    documents_.push_back({&place->first, stamp, length});
  } catch (...) {
    numbers_.erase(place);
    throw;
  }
  words_ += length;
  return number;
}

void inverted_index::add_occurrence(std::string_view word, posting added) {
  const std::uint32_t number = vocabulary_.add(word);
  if (number >= lists_.size()) {
    lists_.resize(number + 1);
  }
  postings_.append(lists_[number], added);
}

void inverted_index::compact() {
  inverted_index fresh;
  fresh.documents_.reserve(numbers_.size());
  fresh.numbers_.reserve(numbers_.size());
  std::vector<std::uint32_t> renumbered(documents_.size());
  for_each_document([&](std::uint32_t number, std::string_view path,
                        const file_stamp& stamp, std::uint32_t length) {
    renumbered[number] = fresh.add_document(path, stamp, length);
  });
  std::string_view at;
  for_each_word([&at](std::string_view word) { at = word; },
                [&](std::uint32_t number, std::uint32_t occurrences) {
                  fresh.add_occurrence(at, {renumbered[number], occurrences});
                });
  *this = std::move(fresh);
}

collection_statistics
inverted_index::statistics(std::span<const std::string> words) const {
  collection_statistics known;
  known.documents = numbers_.size();
  known.words = words_;
  known.containing.reserve(words.size());
  for (const std::string& word : words) {
    const posting_store::list* list = find(word);
    known.containing.push_back(list == nullptr ? 0 : containing(*list));
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
      const entry& holder = documents_[next->document];
      if (holder.path != nullptr) {
        scores[next->document] +=
            formula.score(i, next->occurrences, holder.length);
      }
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
                                  : *documents_[a].path < *documents_[b].path;
  };
  const std::size_t size = std::min(limit, matching.size());
  std::ranges::partial_sort(
      matching, matching.begin() + static_cast<std::ptrdiff_t>(size), before);
  ranking found{matching.size(), {}};
  found.best.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t number = matching[i];
    found.best.push_back({*documents_[number].path, scores[number]});
  }
  return found;
}

std::size_t inverted_index::memory() const {
  // A node of the map has its key, its number, its hash and a link.
  constexpr std::size_t node_size =
      sizeof(document_numbers::value_type) + 2 * sizeof(void*);
  return documents_.capacity() * sizeof(entry) + numbers_.size() * node_size +
         numbers_.bucket_count() * sizeof(void*) + vocabulary_.memory() +
         lists_.capacity() * sizeof(posting_store::list) + postings_.memory();
}

// Those that are gone are counted only while there are some.
std::uint64_t
inverted_index::containing(const posting_store::list& list) const {
  if (documents_.size() == numbers_.size()) {
    return list.size;
  }
  std::uint64_t count = 0;
  posting_store::reader reader{postings_, list};
  while (const auto next = reader.next()) {
    count += documents_[next->document].path != nullptr ? 1 : 0;
  }
  return count;
}

const posting_store::list* inverted_index::find(const std::string& word) const {
  const auto number = vocabulary_.find(word);
  // A word whose document could not be added has a number and no list.
  const bool known = number && *number < lists_.size();
  return known ? &lists_[*number] : nullptr;
}

} // namespace search_service

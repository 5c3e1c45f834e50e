#pragma once

// Owns the search page: HTML made on the server, readable without scripts.

#include "answers.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace search_service {

/// What the page shows.
struct page_content {
  std::string query;     ///< stays in the search field
  std::size_t limit = 0; ///< that the search was made with
  std::optional<search_answer> answer;
  std::string refusal; ///< a sentence, instead of an answer
  status_report status;
};

/// The page. Whatever query, paths and snippets hold, they show as text;
/// snippets have their words marked.
std::string to_html(const page_content& content);

} // namespace search_service

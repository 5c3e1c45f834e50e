#pragma once

// Owns the shape of the service's JSON, and Boost.JSON.

#include "answers.hpp"

#include <string>
#include <string_view>

namespace search_service {

/// {"query","took_ms","partial","total","results":[{"path","score","snippet"}]}
/// Paths that are not UTF-8 are shown with U+FFFD.
std::string to_json(const search_answer& answer);

/// {"indexing","files","words","found","waiting","skipped","failures", ...}
std::string to_json(const status_report& report);

/// {"error": sentence}
std::string error_json(std::string_view sentence);

} // namespace search_service

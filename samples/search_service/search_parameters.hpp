#pragma once

// Owns what a search's address may say: percent decoding, the parameters and
// their limits, and the sentence that a client reads when they are not kept.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace search_service {

/// What a client asked for.
struct search_parameters {
  std::string text; ///< valid UTF-8, not empty
  std::size_t limit = 10;
};

inline constexpr std::size_t result_limit_max = 100;
inline constexpr std::size_t query_size_max = 1000; ///< bytes, once decoded

/// Why a request can't be served, for whoever wrote it.
struct refusal {
  std::string sentence;
  bool nothing_asked = false; ///< there are no words to search for
};

/// A request target cut in two at the first '?'.
struct target_parts {
  std::string_view path;
  std::string_view query; ///< without the '?'
};
target_parts split_target(std::string_view target);

/// `text` with %41 decoded and '+' made a space; nothing if an escape is
/// broken. The bytes that come out may be anything.
std::optional<std::string> percent_decode(std::string_view text);

/// `text` so that it survives as a parameter's value.
std::string percent_encode(std::string_view text);

/// Reads "q=...&limit=...". Other parameters are none of our business. Given
/// twice, a parameter would have two meanings, and is refused.
std::variant<search_parameters, refusal>
parse_search(std::string_view query_string);

} // namespace search_service

#pragma once

// Owns HTML's character references, both ways: decoding what documents hold
// and escaping what goes onto a page.

#include <cstddef>
#include <string>
#include <string_view>

namespace search_service {

/// Appends the character that the reference at the start of `html` stands for
/// and returns how long the reference is. What is no known reference is an
/// ampersand of its own: "&" is appended and 1 returned.
///
/// Requires: html begins with '&'.
std::size_t append_character_reference(std::string& text,
                                       std::string_view html);

/// `text` so that it is nothing but text, in an element and in a quoted
/// attribute alike. Control characters but tab and newline become U+FFFD, which
/// HTML would make of a NUL anyway.
std::string escape_html(std::string_view text);

} // namespace search_service

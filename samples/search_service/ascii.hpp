#pragma once

// Owns what the program believes about ASCII, whatever the locale is.

#include <string>
#include <string_view>

namespace search_service {

constexpr bool is_ascii_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// `text` with A to Z in lower case; other bytes stay as they are.
inline std::string ascii_lower(std::string_view text) {
  std::string lower{text};
  for (char& c : lower) {
    c = ascii_lower(c);
  }
  return lower;
}

} // namespace search_service

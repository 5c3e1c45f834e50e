#pragma once

// Owns the rules of UTF-8: decoding one code point, writing one, and making
// valid text of whatever a file or a client sent.

#include <cstddef>
#include <string>
#include <string_view>

namespace search_service {

/// What stands for a byte sequence that is not UTF-8.
inline constexpr char32_t replacement_character = U'\uFFFD';

/// One step of decoding: a code point, or a malformed sequence of `size` bytes.
struct utf8_step {
  char32_t code = replacement_character;
  std::size_t size = 1;
  bool valid = false;
};

/// The step at `at`. A malformed sequence is as long as Unicode's "maximal
/// subpart": the bytes that a valid sequence could have begun with, one at
/// least. Overlong forms, surrogates and codes above U+10FFFF are malformed.
///
/// Requires: at < text.size().
utf8_step decode_utf8(std::string_view text, std::size_t at);

/// Appends `code`; a code that has no UTF-8 form becomes U+FFFD.
void append_utf8(std::string& to, char32_t code);

/// `text` with one U+FFFD for each malformed sequence. Valid text is returned
/// as it came, without a copy.
std::string repair_utf8(std::string text);

/// The longest beginning of `text` of at most `size_max` bytes that cuts no
/// code point in two.
std::string_view cut_utf8(std::string_view text, std::size_t size_max);

} // namespace search_service

#include "utf8.hpp"

#include <utility>

namespace search_service {

namespace {

// What the lead byte says: how many bytes follow, its own bits, and the range
// of the second byte, which is where overlong forms and surrogates show.
struct lead {
  unsigned following;
  char32_t bits;
  unsigned char second_min;
  unsigned char second_max;
};

constexpr lead malformed{0, 0, 0, 0};

lead read_lead(unsigned char byte) {
  if (byte < 0xC2) {
    return malformed;
  }
  if (byte < 0xE0) {
    return {1, byte & 0x1Fu, 0x80, 0xBF};
  }
  if (byte < 0xF0) {
    const unsigned char min = byte == 0xE0 ? 0xA0 : 0x80;
    const unsigned char max = byte == 0xED ? 0x9F : 0xBF;
    return {2, byte & 0x0Fu, min, max};
  }
  if (byte < 0xF5) {
    const unsigned char min = byte == 0xF0 ? 0x90 : 0x80;
    const unsigned char max = byte == 0xF4 ? 0x8F : 0xBF;
    return {3, byte & 0x07u, min, max};
  }
  return malformed;
}

} // namespace

utf8_step decode_utf8(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    return {first, 1, true};
  }
  const lead start = read_lead(first);
  char32_t code = start.bits;
  std::size_t size = 1;
  for (unsigned i = 0; i < start.following; ++i, ++size) {
    if (at + size == text.size()) {
      return {replacement_character, size, false};
    }
    const auto byte = static_cast<unsigned char>(text[at + size]);
    const unsigned char min = i == 0 ? start.second_min : 0x80;
    const unsigned char max = i == 0 ? start.second_max : 0xBF;
    if (byte < min || byte > max) {
      return {replacement_character, size, false};
    }
    code = (code << 6) | (byte & 0x3Fu);
  }
  return start.following == 0 ? utf8_step{} : utf8_step{code, size, true};
}

void append_utf8(std::string& to, char32_t code) {
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (surrogate || code > 0x10FFFF) {
    code = replacement_character;
  }
  const auto put = [&to](char32_t byte) {
    to.push_back(static_cast<char>(byte));
  };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

std::string repair_utf8(std::string text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const utf8_step step = decode_utf8(text, at);
    if (!step.valid) {
      break;
    }
    at += step.size;
  }
  if (at == text.size()) {
    return text;
  }
  std::string repaired = text.substr(0, at);
  repaired.reserve(text.size() + 16);
  while (at < text.size()) {
    const utf8_step step = decode_utf8(text, at);
    if (step.valid) {
      repaired.append(text, at, step.size);
    } else {
      append_utf8(repaired, replacement_character);
    }
    at += step.size;
  }
  return repaired;
}

std::string_view cut_utf8(std::string_view text, std::size_t size_max) {
  if (text.size() <= size_max) {
    return text;
  }
  const auto continues = [&text](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  // A code point has at most three continuation bytes; looking back further
  // would only be misled by malformed text.
  std::size_t size = size_max;
  for (int back = 0; back < 3 && size > 0 && continues(size); ++back) {
    --size;
  }
  return text.substr(0, continues(size) ? size_max : size);
}

} // namespace search_service

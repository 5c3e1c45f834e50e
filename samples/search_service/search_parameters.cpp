#include "search_parameters.hpp"

#include "ascii.hpp"
#include "utf8.hpp"

#include <charconv>
#include <utility>

namespace search_service {

namespace {

constexpr std::size_t nowhere = std::string_view::npos;

std::optional<unsigned char> hex_byte(std::string_view two_digits) {
  unsigned char byte = 0;
  const char* const end = two_digits.data() + two_digits.size();
  const auto result = std::from_chars(two_digits.data(), end, byte, 16);
  if (two_digits.size() != 2 || result.ec != std::errc{} || result.ptr != end) {
    return std::nullopt;
  }
  return byte;
}

// A client's own words inside a sentence: short and printable.
std::string quoted(std::string_view value) {
  constexpr std::size_t size_max = 40;
  std::string shown = repair_utf8(std::string{value});
  if (shown.size() > size_max) {
    shown = std::string{cut_utf8(shown, size_max)} + "\u2026";
  }
  return "'" + shown + "'";
}

std::optional<std::size_t> whole_number(std::string_view digits) {
  std::size_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) {
    return std::nullopt;
  }
  return number;
}

// The parameters as they stand in the address.
struct raw_parameters {
  std::optional<std::string_view> q;
  std::optional<std::string_view> limit;
};

std::variant<raw_parameters, refusal> collect(std::string_view query_string) {
  raw_parameters raw;
  while (!query_string.empty()) {
    const std::size_t end = query_string.find('&');
    const std::string_view pair = query_string.substr(0, end);
    query_string.remove_prefix(end == nowhere ? query_string.size() : end + 1);
    const std::size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    const std::string_view value =
        equals == nowhere ? std::string_view{} : pair.substr(equals + 1);
    std::optional<std::string_view>* const known = name == "q" ? &raw.q
                                                   : name == "limit"
                                                       ? &raw.limit
                                                       : nullptr;
    if (known == nullptr) {
      continue;
    }
    if (*known) {
      return refusal{"The parameter " + std::string{name} +
                         " is given twice; give it once.",
                     false};
    }
    *known = value;
  }
  return raw;
}

std::variant<std::string, refusal>
parse_text(std::optional<std::string_view> raw) {
  if (!raw) {
    return refusal{"The parameter q is missing: say what to search for, as in "
                   "/search?q=words.",
                   true};
  }
  // Encoded, a byte takes three at most: what is longer need not be decoded.
  const bool hopeless = raw->size() > 3 * query_size_max;
  std::optional<std::string> text;
  if (!hopeless) {
    text = percent_decode(*raw);
    if (!text) {
      return refusal{"The parameter q has a broken percent escape; a percent "
                     "sign itself is written %25.",
                     false};
    }
  }
  if (hopeless || text->size() > query_size_max) {
    return refusal{"The parameter q is too long; at most " +
                       std::to_string(query_size_max) +
                       " bytes are searched for.",
                   false};
  }
  if (text->find_first_not_of(" \t\r\n") == nowhere) {
    return refusal{"The parameter q is empty: say what to search for, as in "
                   "/search?q=words.",
                   true};
  }
  return repair_utf8(*std::move(text));
}

} // namespace

target_parts split_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  if (mark == nowhere) {
    return {target, {}};
  }
  return {target.substr(0, mark), target.substr(mark + 1)};
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '%') {
      const auto byte = hex_byte(text.substr(at + 1, 2));
      if (!byte) {
        return std::nullopt;
      }
      decoded.push_back(static_cast<char>(*byte));
      at += 2;
    } else {
      decoded.push_back(text[at] == '+' ? ' ' : text[at]);
    }
  }
  return decoded;
}

std::string percent_encode(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_ascii_letter(c) || is_ascii_digit(c) || c == '-' || c == '_' ||
        c == '.' || c == '~') {
      encoded.push_back(c);
    } else {
      encoded.push_back('%');
      encoded.push_back(digits[byte >> 4]);
      encoded.push_back(digits[byte & 15]);
    }
  }
  return encoded;
}

std::variant<search_parameters, refusal>
parse_search(std::string_view query_string) {
  auto collected = collect(query_string);
  if (auto* refused = std::get_if<refusal>(&collected)) {
    return std::move(*refused);
  }
  const auto& raw = std::get<raw_parameters>(collected);
  search_parameters parameters;
  auto text = parse_text(raw.q);
  if (auto* refused = std::get_if<refusal>(&text)) {
    return std::move(*refused);
  }
  parameters.text = std::get<std::string>(std::move(text));
  if (raw.limit) {
    const auto limit = whole_number(*raw.limit);
    if (!limit || *limit < 1 || *limit > result_limit_max) {
      return refusal{"The parameter limit is a whole number from 1 to " +
                         std::to_string(result_limit_max) + ", not " +
                         quoted(*raw.limit) + ".",
                     false};
    }
    parameters.limit = *limit;
  }
  return parameters;
}

} // namespace search_service

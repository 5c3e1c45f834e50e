#include "html_entities.hpp"

#include "ascii.hpp"
#include "utf8.hpp"

#include <algorithm>

namespace search_service {

namespace {

struct entity {
  std::string_view name;
  char32_t code;
};

// The references that documentation uses; the standard lists two thousand.
constexpr entity entities[] = {
    {"AElig", 0xC6},    {"Aacute", 0xC1},   {"Acirc", 0xC2},
    {"Agrave", 0xC0},   {"Aring", 0xC5},    {"Atilde", 0xC3},
    {"Auml", 0xC4},     {"Ccedil", 0xC7},   {"ETH", 0xD0},
    {"Eacute", 0xC9},   {"Ecirc", 0xCA},    {"Egrave", 0xC8},
    {"Euml", 0xCB},     {"Iacute", 0xCD},   {"Icirc", 0xCE},
    {"Igrave", 0xCC},   {"Iuml", 0xCF},     {"Ntilde", 0xD1},
    {"Oacute", 0xD3},   {"Ocirc", 0xD4},    {"Ograve", 0xD2},
    {"Oslash", 0xD8},   {"Otilde", 0xD5},   {"Ouml", 0xD6},
    {"THORN", 0xDE},    {"Uacute", 0xDA},   {"Ucirc", 0xDB},
    {"Ugrave", 0xD9},   {"Uuml", 0xDC},     {"Yacute", 0xDD},
    {"aacute", 0xE1},   {"acirc", 0xE2},    {"acute", 0xB4},
    {"aelig", 0xE6},    {"agrave", 0xE0},   {"alpha", 0x3B1},
    {"amp", '&'},       {"apos", '\''},     {"aring", 0xE5},
    {"atilde", 0xE3},   {"auml", 0xE4},     {"beta", 0x3B2},
    {"brvbar", 0xA6},   {"bull", 0x2022},   {"ccedil", 0xE7},
    {"cedil", 0xB8},    {"cent", 0xA2},     {"copy", 0xA9},
    {"curren", 0xA4},   {"dagger", 0x2020}, {"deg", 0xB0},
    {"delta", 0x3B4},   {"divide", 0xF7},   {"eacute", 0xE9},
    {"ecirc", 0xEA},    {"egrave", 0xE8},   {"emsp", 0x2003},
    {"ensp", 0x2002},   {"epsilon", 0x3B5}, {"eth", 0xF0},
    {"euml", 0xEB},     {"euro", 0x20AC},   {"frac12", 0xBD},
    {"frac14", 0xBC},   {"frac34", 0xBE},   {"gamma", 0x3B3},
    {"ge", 0x2265},     {"gt", '>'},        {"harr", 0x2194},
    {"hellip", 0x2026}, {"iacute", 0xED},   {"icirc", 0xEE},
    {"iexcl", 0xA1},    {"igrave", 0xEC},   {"infin", 0x221E},
    {"iquest", 0xBF},   {"iuml", 0xEF},     {"lambda", 0x3BB},
    {"laquo", 0xAB},    {"larr", 0x2190},   {"ldquo", 0x201C},
    {"le", 0x2264},     {"lsaquo", 0x2039}, {"lsquo", 0x2018},
    {"lt", '<'},        {"macr", 0xAF},     {"mdash", 0x2014},
    {"micro", 0xB5},    {"middot", 0xB7},   {"minus", 0x2212},
    {"mu", 0x3BC},      {"nbsp", 0xA0},     {"ndash", 0x2013},
    {"ne", 0x2260},     {"not", 0xAC},      {"ntilde", 0xF1},
    {"oacute", 0xF3},   {"ocirc", 0xF4},    {"oelig", 0x153},
    {"ograve", 0xF2},   {"omega", 0x3C9},   {"ordf", 0xAA},
    {"ordm", 0xBA},     {"oslash", 0xF8},   {"otilde", 0xF5},
    {"ouml", 0xF6},     {"para", 0xB6},     {"permil", 0x2030},
    {"pi", 0x3C0},      {"plusmn", 0xB1},   {"pound", 0xA3},
    {"quot", '"'},      {"raquo", 0xBB},    {"rarr", 0x2192},
    {"rdquo", 0x201D},  {"reg", 0xAE},      {"rsaquo", 0x203A},
    {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"sect", 0xA7},
    {"shy", 0xAD},      {"sigma", 0x3C3},   {"sup1", 0xB9},
    {"sup2", 0xB2},     {"sup3", 0xB3},     {"szlig", 0xDF},
    {"thinsp", 0x2009}, {"thorn", 0xFE},    {"times", 0xD7},
    {"trade", 0x2122},  {"uacute", 0xFA},   {"uarr", 0x2191},
    {"ucirc", 0xFB},    {"ugrave", 0xF9},   {"uml", 0xA8},
    {"uuml", 0xFC},     {"yacute", 0xFD},   {"yen", 0xA5},
    {"yuml", 0xFF}};
static_assert(std::ranges::is_sorted(entities, {}, &entity::name));

int digit_value(char c) {
  if (is_ascii_digit(c)) {
    return c - '0';
  }
  const char lower = ascii_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 16;
}

// "&#233;" or "&#xE9;": its length, or 0 if it is none.
std::size_t append_numeric(std::string& text, std::string_view html) {
  const bool hex = html.size() > 2 && ascii_lower(html[2]) == 'x';
  const int base = hex ? 16 : 10;
  const std::size_t begin = hex ? 3 : 2;
  std::size_t at = begin;
  char32_t code = 0;
  while (at < html.size() && digit_value(html[at]) < base) {
    // Stays above Unicode once it is there, so that it can't wrap around.
    if (code <= 0x10FFFF) {
      code = code * static_cast<char32_t>(base) +
             static_cast<char32_t>(digit_value(html[at]));
    }
    ++at;
  }
  if (at == begin) {
    return 0;
  }
  append_utf8(text, code == 0 ? replacement_character : code);
  return at < html.size() && html[at] == ';' ? at + 1 : at;
}

std::size_t append_named(std::string& text, std::string_view html) {
  constexpr std::size_t name_size_max = 8;
  const std::size_t end = html.substr(0, name_size_max + 2).find(';');
  if (end == std::string_view::npos) {
    return 0;
  }
  const std::string_view name = html.substr(1, end - 1);
  const auto found =
      std::ranges::lower_bound(entities, name, {}, &entity::name);
  if (found == std::end(entities) || found->name != name) {
    return 0;
  }
  append_utf8(text, found->code);
  return end + 1;
}

} // namespace

std::size_t append_character_reference(std::string& text,
                                       std::string_view html) {
  const bool numeric = html.size() > 1 && html[1] == '#';
  const std::size_t size =
      numeric ? append_numeric(text, html) : append_named(text, html);
  if (size == 0) {
    text.push_back('&');
    return 1;
  }
  return size;
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      if ((c >= 0 && c < ' ' && c != '\t' && c != '\n') || c == '\x7F') {
        append_utf8(escaped, replacement_character);
      } else {
        escaped.push_back(c);
      }
    }
  }
  return escaped;
}

} // namespace search_service

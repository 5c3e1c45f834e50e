#include "html_text.hpp"

#include "ascii.hpp"
#include "html_entities.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace search_service {

namespace {

constexpr std::size_t nowhere = std::string_view::npos;

// Tags that don't interrupt a word; every other tag breaks the line.
bool is_inline(std::string_view tag) {
  constexpr std::string_view inline_tags[] = {
      "a",      "abbr", "acronym", "b",    "bdi",  "bdo",   "big",  "cite",
      "code",   "data", "del",     "dfn",  "em",   "font",  "i",    "ins",
      "kbd",    "mark", "q",       "s",    "samp", "small", "span", "strike",
      "strong", "sub",  "sup",     "time", "tt",   "u",     "var",  "wbr"};
  static_assert(std::ranges::is_sorted(inline_tags));
  return std::ranges::binary_search(inline_tags, tag);
}

// Position of the first `wanted` (lower case) at or after `from`, whatever its
// case in `text`.
std::size_t find_folded(std::string_view text, std::string_view wanted,
                        std::size_t from) {
  const auto same = [](char a, char b) { return ascii_lower(a) == b; };
  const auto begin = text.begin() + static_cast<std::ptrdiff_t>(from);
  const auto found =
      std::search(begin, text.end(), wanted.begin(), wanted.end(), same);
  return found == text.end() ? nowhere
                             : static_cast<std::size_t>(found - text.begin());
}

class extraction {
public:
  explicit extraction(std::string_view html) : html_{html} {
    text_.reserve(html.size() / 2);
  }

  std::string run() {
    while (at_ < html_.size()) {
      const std::size_t special = html_.find_first_of("<&", at_);
      text_.append(html_.substr(at_, special - at_));
      if (special == nowhere) {
        break;
      }
      at_ = special;
      if (html_[at_] == '&') {
        at_ += append_character_reference(text_, html_.substr(at_));
      } else {
        markup();
      }
    }
    return std::move(text_);
  }

private:
  // At a '<': a comment, a declaration, a tag or a mere character.
  void markup() {
    const std::string_view rest = html_.substr(at_);
    if (rest.starts_with("<!--")) {
      const std::size_t end = html_.find("-->", at_ + 4);
      at_ = end == nowhere ? html_.size() : end + 3;
      return;
    }
    const char next = rest.size() > 1 ? rest[1] : ' ';
    if (next == '!' || next == '?') {
      skip_to(html_.find('>', at_));
      return;
    }
    const std::size_t name_at = next == '/' ? 2 : 1;
    if (rest.size() <= name_at || !is_ascii_letter(rest[name_at])) {
      literal();
      return;
    }
    tag(name_at);
  }

  void tag(std::size_t name_at) {
    const std::size_t begin = at_ + name_at;
    const std::size_t end =
        std::min(html_.find_first_of(" \t\r\n\f/<>", begin), html_.size());
    const std::string name = ascii_lower(html_.substr(begin, end - begin));
    const std::size_t close = find_tag_end(end);
    if (close == nowhere) {
      literal();
      return;
    }
    at_ = close + 1;
    if (name_at == 1 && (name == "script" || name == "style")) {
      skip_to_end_tag(name);
    }
    if (!is_inline(name)) {
      text_.push_back('\n');
    }
  }

  // The '>' that ends the tag, which is not one inside quotes, unless a quote
  // is never closed: then the first '>' of all has to do.
  std::size_t find_tag_end(std::size_t from) {
    if (from < no_end_before_) {
      return nowhere;
    }
    // Far more than any sane tag; it bounds what a stray quote can cost.
    constexpr std::size_t tag_size_max = 1 << 20;
    const std::size_t limit = std::min(html_.size(), from + tag_size_max);
    std::size_t first = nowhere;
    char quote = 0;
    for (std::size_t i = from; i < limit; ++i) {
      const char c = html_[i];
      if (c == '>') {
        if (quote == 0) {
          return i;
        }
        first = std::min(first, i);
      } else if (quote == 0 && (c == '"' || c == '\'')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      }
    }
    if (first == nowhere) {
      no_end_before_ = limit;
    }
    return first;
  }

  void skip_to_end_tag(const std::string& name) {
    const std::size_t end = find_folded(html_, "</" + name, at_);
    skip_to(end == nowhere ? nowhere : html_.find('>', end));
  }

  // Goes on after `last`; if there is no such place, nothing is left to read.
  void skip_to(std::size_t last) {
    at_ = last == nowhere ? html_.size() : last + 1;
  }

  void literal() {
    text_.push_back('<');
    ++at_;
  }

  std::string_view html_;
  std::size_t at_ = 0;
  std::size_t no_end_before_ = 0; // no '>' from where it was set up to here
  std::string text_;
};

} // namespace

std::string html_to_text(std::string_view html) {
  return extraction{html}.run();
}

} // namespace search_service

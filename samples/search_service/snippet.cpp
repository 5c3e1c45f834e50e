#include "snippet.hpp"

#include "html_entities.hpp"
#include "tokenizer.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <utility>

namespace search_service {

namespace {

struct place {
  std::size_t begin;
  std::size_t end;
  std::size_t word; // its index in the query
};

struct excerpt {
  std::size_t begin;
  std::size_t end;
};

constexpr std::string_view ellipsis = "\u2026";
constexpr std::string_view white = " \t\r\n\f\v";

// Where the query's words stand. A document that repeats them thousands of
// times is judged by the first thousands.
std::vector<place> find_places(std::string_view text,
                               std::span<const std::string> words) {
  constexpr std::size_t places_max = 4096;
  std::vector<place> places;
  word_reader reader{text};
  while (places.size() < places_max) {
    const auto next = reader.next();
    if (!next) {
      break;
    }
    const auto known = std::ranges::find(words, next->folded);
    if (known != words.end()) {
      const auto word = static_cast<std::size_t>(known - words.begin());
      places.push_back({next->begin, next->end, word});
    }
  }
  return places;
}

// The first of the places from which `size` bytes show the most different
// words, and among those the most places.
std::size_t best_start(const std::vector<place>& places, std::size_t words,
                       std::size_t size) {
  std::vector<std::size_t> seen(words);
  std::size_t different = 0;
  std::size_t best = 0;
  std::size_t best_different = 0;
  std::size_t best_count = 0;
  std::size_t end = 0;
  for (std::size_t start = 0; start < places.size(); ++start) {
    while (end < places.size() &&
           (end == start || places[end].end - places[start].begin <= size)) {
      different += seen[places[end].word]++ == 0 ? 1 : 0;
      ++end;
    }
    const std::size_t count = end - start;
    if (different > best_different ||
        (different == best_different && count > best_count)) {
      best = start;
      best_different = different;
      best_count = count;
    }
    different -= --seen[places[start].word] == 0 ? 1 : 0;
  }
  return best;
}

// About `size_max` bytes round `focus`, from white space to white space where
// there is some, never cutting a code point.
excerpt round_focus(std::string_view text, excerpt focus,
                    std::size_t size_max) {
  const std::size_t lead = size_max / 4;
  std::size_t begin = focus.begin > lead ? focus.begin - lead : 0;
  if (begin > 0) {
    const std::size_t space = text.find_first_of(white, begin);
    begin = space < focus.begin ? space + 1 : focus.begin;
  }
  const std::string_view rest = text.substr(begin);
  std::size_t end = begin + cut_utf8(rest, size_max).size();
  if (end < text.size()) {
    const std::size_t space = text.find_last_of(white, end);
    if (space != std::string_view::npos && space > focus.end) {
      end = space;
    }
  }
  return {begin, end};
}

class writer {
public:
  writer(std::string_view text, excerpt part) : text_{text}, part_{part} {
    if (part.begin > 0) {
      shown_.text += ellipsis;
      space_ = true;
    }
  }

  void copy_to(std::size_t end) {
    for (; at_ < end; ++at_) {
      const char c = text_[part_.begin + at_];
      if ((c >= 0 && c <= ' ') || c == '\x7F') {
        space_ = true;
        continue;
      }
      write_space();
      shown_.text.push_back(c);
    }
  }

  // Copies up to the place, and the place with its mark.
  void mark(const place& next) {
    copy_to(next.begin - part_.begin);
    write_space();
    const std::size_t begin = shown_.text.size();
    copy_to(std::min(next.end, part_.end) - part_.begin);
    shown_.marks.push_back({begin, shown_.text.size()});
  }

  snippet finish() {
    copy_to(part_.end - part_.begin);
    if (part_.end < text_.size()) {
      space_ = true;
      write_space();
      shown_.text += ellipsis;
    }
    return std::move(shown_);
  }

private:
  void write_space() {
    if (space_ && !shown_.text.empty()) {
      shown_.text.push_back(' ');
    }
    space_ = false;
  }

  std::string_view text_;
  excerpt part_;
  std::size_t at_ = 0; // in the part
  bool space_ = false; // white space that is yet to be written, squeezed
  snippet shown_;
};

} // namespace

snippet make_snippet(std::string_view text, std::span<const std::string> words,
                     std::size_t size_max) {
  const std::vector<place> places = find_places(text, words);
  excerpt focus{0, 0};
  if (!places.empty()) {
    const std::size_t start =
        best_start(places, words.size(), size_max - size_max / 4);
    focus = {places[start].begin, places[start].end};
  }
  const excerpt part = round_focus(text, focus, size_max);
  writer out{text, part};
  for (const place& next : places) {
    if (next.begin >= part.begin && next.begin < part.end) {
      out.mark(next);
    }
  }
  return out.finish();
}

std::string to_html(const snippet& shown) {
  const std::string_view text = shown.text;
  std::string html;
  std::size_t at = 0;
  for (const snippet::mark& mark : shown.marks) {
    html += escape_html(text.substr(at, mark.begin - at));
    html += "<mark>";
    html += escape_html(text.substr(mark.begin, mark.end - mark.begin));
    html += "</mark>";
    at = mark.end;
  }
  html += escape_html(text.substr(at));
  return html;
}

} // namespace search_service

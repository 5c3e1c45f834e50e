#include "page.hpp"

#include "html_entities.hpp"
#include "search_parameters.hpp"
#include "utf8.hpp"

#include <cstdio>
#include <string_view>

namespace search_service {

namespace {

constexpr std::string_view style = R"(
:root {
  color-scheme: light dark;
  --text: #1d2433; --dim: #5d6779; --line: #d9dee7; --back: #fbfcfe;
  --field: #ffffff; --accent: #1f5fae; --mark: #ffe9a3; --note: #fff3d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e3e7ee; --dim: #98a2b3; --line: #323a48; --back: #151922;
    --field: #1d222d; --accent: #7fb2f0; --mark: #5c4a10; --note: #3a3115;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 2rem 1.2rem; max-width: 46rem;
  background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif;
}
h1 { margin: 0 0 1rem; font-size: 1.4rem; }
h1 a { color: inherit; text-decoration: none; }
form { display: flex; gap: .5rem; }
input[type=search], button {
  font: inherit; padding: .55rem .8rem; border-radius: .5rem;
  border: 1px solid var(--line);
}
input[type=search] {
  flex: 1; min-width: 0; background: var(--field); color: var(--text);
}
button {
  background: var(--accent); border-color: var(--accent); color: var(--back);
  font-weight: 600; cursor: pointer;
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.sum, footer, .score { color: var(--dim); font-size: .9rem; }
.note { background: var(--note); padding: .5rem .8rem; border-radius: .5rem; }
ol { list-style: none; margin: 0; padding: 0; }
li { padding: .9rem 0; border-top: 1px solid var(--line); }
li p { margin: .2rem 0 0; overflow-wrap: anywhere; }
.path { color: var(--dim); font-size: .9rem; overflow-wrap: anywhere; }
.path b { color: var(--accent); font-size: 1.05rem; }
mark { background: var(--mark); color: inherit; border-radius: .2rem; }
footer { margin-top: 2rem; padding-top: .8rem; border-top: 1px solid
  var(--line); }
)";

std::string decimal(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  return readable(number) + " " + std::string{noun} + (number == 1 ? "" : "s");
}

std::string form(const page_content& content) {
  return "<form action=\"/\" role=\"search\">"
         "<input type=\"search\" name=\"q\" value=\"" +
         escape_html(content.query) +
         "\" aria-label=\"Search for\" placeholder=\"Words to find\" "
         "maxlength=\"" +
         std::to_string(query_size_max) +
         "\" autofocus><button>Search</button></form>\n";
}

std::string item(const search_result& result) {
  const std::string path = repair_utf8(result.path);
  const std::size_t name = path.rfind('/') + 1; // 0 if there is no slash
  return "<li><div class=\"path\">" + escape_html(path.substr(0, name)) +
         "<b>" + escape_html(path.substr(name)) +
         "</b> <span class=\"score\" title=\"BM25 score\">" +
         decimal(result.score, 2) + "</span></div><p>" + result.snippet +
         "</p></li>\n";
}

std::string summary(const search_answer& answer) {
  if (answer.total == 0) {
    return "Nothing found in " + decimal(answer.took_ms, 1) + " ms.";
  }
  const std::uint64_t shown = answer.results.size();
  std::string text = counted(answer.total, "document");
  if (shown < answer.total) {
    text += ", the best " + readable(shown) + " of them shown";
  }
  return text + "; " + decimal(answer.took_ms, 1) + " ms.";
}

std::string results(const page_content& content) {
  const search_answer& answer = *content.answer;
  std::string html = "<p class=\"sum\">" + summary(answer) + "</p>\n";
  if (answer.partial) {
    html += "<p class=\"note\" role=\"status\">This answer is partial: a part "
            "of the index did not answer in time. Search again in a "
            "moment.</p>\n";
  }
  html += "<ol>\n";
  for (const search_result& result : answer.results) {
    html += item(result);
  }
  html += "</ol>\n";
  if (answer.results.size() < answer.total &&
      content.limit < result_limit_max) {
    const std::string limit = std::to_string(result_limit_max);
    html += "<p><a href=\"/?q=" + percent_encode(content.query) +
            "&amp;limit=" + limit + "\">Show up to " + limit + "</a></p>\n";
  }
  return html;
}

std::string footer(const status_report& status) {
  std::string text = counted(status.documents, "file") + " with " +
                     counted(status.words, "word") + " indexed, " +
                     readable(status.skipped.total()) + " skipped, " +
                     readable(status.failures()) + " failed. ";
  if (status.indexing) {
    text += "Indexing goes on: " +
            counted(status.found - status.settled(), "file") +
            " found so far still to be read. ";
  }
  return "<footer>" + text + "<a href=\"/status\">Status</a></footer>\n";
}

} // namespace

std::string to_html(const page_content& content) {
  const std::string title = content.query.empty()
                                ? "Search"
                                : escape_html(content.query) + " \u2013 Search";
  std::string html = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                     "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                     "content=\"width=device-width, initial-scale=1\">\n"
                     "<title>" +
                     title + "</title>\n<style>" + std::string{style} +
                     "</style>\n</head>\n<body>\n"
                     "<h1><a href=\"/\">Search</a></h1>\n";
  html += form(content);
  if (!content.refusal.empty()) {
    html += "<p class=\"note\" role=\"alert\">" + escape_html(content.refusal) +
            "</p>\n";
  }
  if (content.answer) {
    html += results(content);
  }
  html += footer(content.status);
  html += "</body>\n</html>\n";
  return html;
}

} // namespace search_service

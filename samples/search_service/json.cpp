#include "json.hpp"

#include "utf8.hpp"

// Once in the program: makes Boost.JSON header-only.
#include <boost/json/src.hpp>

namespace search_service {

namespace json = boost::json;

std::string to_json(const search_answer& answer) {
  json::array results;
  results.reserve(answer.results.size());
  for (const search_result& result : answer.results) {
    results.push_back({{"path", repair_utf8(result.path)},
                       {"score", result.score},
                       {"snippet", result.snippet}});
  }
  return json::serialize(json::object{{"query", answer.query},
                                      {"took_ms", answer.took_ms},
                                      {"partial", answer.partial},
                                      {"total", answer.total},
                                      {"results", std::move(results)}});
}

std::string to_json(const status_report& report) {
  const skipped_files& skipped = report.skipped;
  const queue_depths& waiting = report.waiting;
  return json::serialize(
      json::object{{"indexing", report.indexing},
                   {"files", report.documents},
                   {"words", report.words},
                   {"found", report.found},
                   {"updated", report.updated},
                   {"removed", report.removed},
                   {"waiting", report.found - report.settled()},
                   {"skipped", skipped.total()},
                   {"skipped_because",
                    {{"name", skipped.by_name},
                     {"binary", skipped.binary},
                     {"too_large", skipped.too_large},
                     {"special", skipped.special},
                     {"link", skipped.links}}},
                   {"failures", report.failures()},
                   {"failed_files", report.failed},
                   {"failed_directories", report.failed_directories},
                   {"handler_failures", report.handler_failures},
                   {"changed_while_read", report.unsteady},
                   {"dropped", report.dropped},
                   {"running_loads", report.running_loads},
                   {"loads_at_once", report.loads_max},
                   {"queue_depths",
                    {{"files", waiting.files},
                     {"snippets", waiting.snippets},
                     {"merges", waiting.merges},
                     {"searches", waiting.searches}}}});
}

std::string error_json(std::string_view sentence) {
  return json::serialize(json::object{{"error", sentence}});
}

} // namespace search_service

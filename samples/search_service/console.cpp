#include "console.hpp"

#include <wharf/after.hpp>
#include <wharf/receive.hpp>

#include <cstdio>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

namespace search_service {

namespace {

using kind = console_line::kind;

class console {
public:
  console(std::ostream& out, bool is_terminal)
      : out_{out}, is_terminal_{is_terminal} {}

  void print(const console_line& line) {
    if (line.what == kind::progress && done_) {
      return;
    }
    done_ = done_ || line.what == kind::summary;
    if (overwritten_) {
      out_ << "\r\x1B[K";
    }
    overwritten_ = is_terminal_ && line.what == kind::progress;
    out_ << line.text;
    if (!overwritten_) {
      out_ << '\n';
    }
    out_.flush();
  }

private:
  std::ostream& out_;
  const bool is_terminal_;
  bool overwritten_ = false; // the line before is to be
  bool done_ = false;
};

std::string progress_of(const status_report& report) {
  return "indexing: " + in_words(report) + ", " +
         readable(report.found - report.settled()) + " files wait";
}

std::string summary_of(const status_report& report,
                       std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f", took.count());
  const std::string_view what =
      report.dropped == 0 ? "indexing is done: " : "indexing was stopped: ";
  return std::string{what} + in_words(report) + ", in " + seconds + " s";
}

} // namespace

std::string in_words(const status_report& report) {
  return readable(report.indexed) + " files with " + readable(report.words) +
         " words indexed, " + readable(report.skipped.total()) + " skipped, " +
         readable(report.failures()) + " failed";
}

console_port create_console(wharf::dispatcher_queue& queue, std::ostream& out,
                            bool is_terminal) {
  using namespace wharf;
  console_port lines{"console"};
  const auto writer = std::make_shared<console>(out, is_terminal);
  activate(queue, receive(persist, lines, [writer](console_line line) {
                    writer->print(line);
                  }).one_at_a_time());
  return lines;
}

// The ticking holds the port of reports, and the end of indexing cancels the
// ticking; so nothing of this is left when indexing is done.
void report_progress(wharf::dispatcher_queue& queue, status_port status,
                     console_port console, std::chrono::milliseconds interval) {
  using namespace wharf;
  const auto begin = std::chrono::steady_clock::now();
  port<status_report> reports{"progress reports"};
  port<status_report> finished{"indexing finished"};
  activate(queue,
           receive(persist, reports, [console](status_report report) mutable {
             console.post({progress_of(report), kind::progress});
           }).one_at_a_time());
  activation ticking =
      activate(queue, every(interval, [status, reports]() mutable {
                 status.post(ask_status{reports});
               }));
  activate(queue, receive(finished, [ticking, console,
                                     begin](status_report report) mutable {
             ticking.cancel();
             console.post({summary_of(report, begin), kind::summary});
           }));
  status.post(await_settled{finished});
}

} // namespace search_service

#include "console.hpp"

#include <wharf/after.hpp>
#include <wharf/receive.hpp>

#include <algorithm>
#include <cstdint>
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
  explicit console(const console_options& options) : options_{options} {}

  void print(const console_line& line) {
    if (line.what == kind::progress) {
      print_progress(line.text);
      return;
    }
    done_ = done_ || line.what == kind::summary;
    clear_bar();
    *options_.out << line.text << '\n' << std::flush;
  }

private:
  void print_progress(const std::string& text) {
    if (done_ || options_.bar == nullptr) {
      return;
    }
    clear_bar();
    *options_.bar << text << std::flush;
    bar_is_there_ = true;
  }

  void clear_bar() {
    if (std::exchange(bar_is_there_, false)) {
      *options_.bar << "\r\x1B[K" << std::flush;
    }
  }

  const console_options options_;
  bool bar_is_there_ = false;
  bool done_ = false;
};

// How fast files are read, from one report to the next.
class speed {
public:
  double since_last(std::uint64_t bytes) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - last_;
    const double more = static_cast<double>(bytes - bytes_);
    last_ = now;
    bytes_ = bytes;
    return passed.count() > 0 ? more / passed.count() : 0;
  }

private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
  std::uint64_t bytes_ = 0;
};

std::string with_one_digit(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", number);
  return text;
}

std::string summary_of(const status_report& report,
                       std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  const std::string_view what =
      report.dropped == 0 ? "indexing is done: " : "indexing was stopped: ";
  return std::string{what} + in_words(report) + ", in " +
         with_one_digit(took.count()) + " s";
}

} // namespace

std::string in_words(const status_report& report) {
  return readable(report.documents) + " files with " + readable(report.words) +
         " words indexed, " + readable(report.skipped.total()) + " skipped, " +
         readable(report.failures()) + " failed";
}

std::string progress_bar(const status_report& report, double bytes_per_second) {
  constexpr std::uint64_t width = 20;
  // While files are still being found nobody knows how many there will be.
  const std::uint64_t done =
      report.settled() * width / std::max<std::uint64_t>(report.found, 1);
  return '[' + std::string(done, '#') + std::string(width - done, '-') + "] " +
         readable(report.settled()) + " of " + readable(report.found) +
         " files, " + with_one_digit(bytes_per_second / 1e6) + " MB/s";
}

console_port create_console(wharf::dispatcher_queue& queue,
                            const console_options& options) {
  using namespace wharf;
  console_port lines{"console"};
  const auto writer = std::make_shared<console>(options);
  activate(queue, receive(persist, lines, [writer](console_line line) {
                    writer->print(line);
                  }).one_at_a_time());
  return lines;
}

// The ticking holds the port of reports, and the end of indexing cancels the
// ticking; so nothing of this is left when indexing is done.
void show_progress(wharf::dispatcher_queue& queue, status_port status,
                   console_port console, std::chrono::milliseconds interval) {
  using namespace wharf;
  port<status_report> reports{"progress reports"};
  const port<std::exception_ptr> nobody; // a report that fails is left out
  port<status_report> finished{"end of progress"};
  activate(queue,
           receive(persist, reports,
                   [console, pace = speed{}](status_report report) mutable {
                     const double bytes = pace.since_last(report.bytes);
                     console.post(
                         {progress_bar(report, bytes), kind::progress});
                   })
               .one_at_a_time());
  const auto ask = [status, reports, nobody] {
    status.post(ask_status{reply{reports, nobody}});
  };
  ask();
  activation ticking = activate(queue, every(interval, ask));
  activate(queue, receive(finished, [ticking](const status_report&) mutable {
             ticking.cancel();
           }));
  status.post(await_settled{finished});
}

void announce_end_of_indexing(wharf::dispatcher_queue& queue,
                              status_port status, console_port console) {
  using namespace wharf;
  const auto begin = std::chrono::steady_clock::now();
  port<status_report> finished{"indexing finished"};
  activate(queue,
           receive(finished, [console, begin](status_report report) mutable {
             console.post({summary_of(report, begin), kind::summary});
           }));
  status.post(await_settled{finished});
}

} // namespace search_service

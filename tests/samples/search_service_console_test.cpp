#include "search_service/console.hpp"

#include "search_service_wharf_support.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace search_service {
namespace {

using test::world;
using kind = console_line::kind;

// What a console prints, given these lines.
std::string printed(bool is_terminal, const std::vector<console_line>& lines) {
  std::ostringstream out;
  world w;
  console_port console = create_console(w.queue, out, is_terminal);
  for (const console_line& line : lines) {
    console.post(line);
  }
  w.pool.drain();
  return out.str();
}

TEST(SearchServiceConsoleTest, LinesArePlainWhereThereIsNoTerminal) {
  EXPECT_EQ(printed(false, {{"a"}, {"1 %", kind::progress}, {"b"}}),
            "a\n1 %\nb\n");
}

TEST(SearchServiceConsoleTest, TerminalOverwritesProgress) {
  EXPECT_EQ(printed(true, {{"1 %", kind::progress},
                           {"2 %", kind::progress},
                           {"done", kind::summary}}),
            "1 %\r\x1B[K2 %\r\x1B[Kdone\n");
}

TEST(SearchServiceConsoleTest, ProgressThatComesLateIsLeftOut) {
  EXPECT_EQ(printed(false, {{"done", kind::summary}, {"99 %", kind::progress}}),
            "done\n");
}

TEST(SearchServiceConsoleTest, ProgressEndsWithASummary) {
  std::ostringstream out;
  world w;
  status_port status =
      create_status(w.queue, [](status_report&) {}, wharf::port<std::string>{});
  report_progress(w.queue, status, create_console(w.queue, out, false),
                  std::chrono::hours{1});
  status.post(files_found{.found = 1});
  status.post(file_settled{.outcome = file_outcome::indexed, .words = 1234});
  status.post(scan_ended{});
  w.pool.drain();
  EXPECT_TRUE(out.str().starts_with(
      "indexing is done: 1 files with 1,234 words indexed, 0 skipped"))
      << out.str();
}

} // namespace
} // namespace search_service

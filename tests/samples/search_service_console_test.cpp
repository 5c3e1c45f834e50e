#include "search_service/console.hpp"

#include "search_service_wharf_support.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace search_service {
namespace {

using test::world;
using kind = console_line::kind;

// What a console prints, given these lines, to one terminal or to none.
std::string printed(bool on_terminal, const std::vector<console_line>& lines) {
  std::ostringstream out;
  world w;
  console_port console = create_console(
      w.queue, {.out = &out, .bar = on_terminal ? &out : nullptr});
  for (const console_line& line : lines) {
    console.post(line);
  }
  w.pool.drain();
  return out.str();
}

TEST(SearchServiceConsoleTest, NothingIsShownWhereThereIsNoTerminal) {
  EXPECT_EQ(printed(false, {{"a"}, {"1 %", kind::progress}, {"b"}}), "a\nb\n");
}

TEST(SearchServiceConsoleTest, BarIsReplacedAndClearedBeforeAnythingElse) {
  EXPECT_EQ(printed(true, {{"1 %", kind::progress},
                           {"2 %", kind::progress},
                           {"a note"},
                           {"3 %", kind::progress},
                           {"done", kind::summary},
                           {"after"}}),
            "1 %\r\x1B[K2 %\r\x1B[Ka note\n3 %\r\x1B[Kdone\nafter\n");
}

TEST(SearchServiceConsoleTest, ProgressIsNoPartOfTheOutput) {
  std::ostringstream out;
  std::ostringstream bar;
  world w;
  console_port console = create_console(w.queue, {.out = &out, .bar = &bar});
  console.post({"1 %", kind::progress});
  console.post({"done", kind::summary});
  w.pool.drain();
  EXPECT_EQ(out.str(), "done\n");
  EXPECT_EQ(bar.str(), "1 %\r\x1B[K");
}

TEST(SearchServiceConsoleTest, ProgressThatComesLateIsLeftOut) {
  EXPECT_EQ(printed(true, {{"done", kind::summary}, {"99 %", kind::progress}}),
            "done\n");
}

TEST(SearchServiceConsoleTest, BarShowsHowFarItIsAndHowFast) {
  status_report report;
  EXPECT_EQ(progress_bar(report, 0),
            "[--------------------] 0 of 0 files, 0.0 MB/s");
  report.found = 2000;
  report.indexed = 900;
  report.failed = 100;
  EXPECT_EQ(progress_bar(report, 12'340'000),
            "[##########----------] 1,000 of 2,000 files, 12.3 MB/s");
  report.indexed = 1900;
  EXPECT_EQ(progress_bar(report, 0),
            "[####################] 2,000 of 2,000 files, 0.0 MB/s");
}

// On a clock that the test moves; the speed is by the real one.
TEST(SearchServiceConsoleTest, BarComesAtEveryIntervalUntilAllIsIndexed) {
  std::ostringstream out;
  std::ostringstream bar;
  wharf::test::test_dispatcher pool;
  wharf::dispatcher_queue queue{pool, "test"};
  status_port status =
      create_status(queue, [](status_report&) {}, wharf::port<std::string>{});
  const console_port console =
      create_console(queue, {.out = &out, .bar = &bar});
  show_progress(queue, status, console, std::chrono::seconds{5});
  pool.run_all();
  EXPECT_NE(bar.str().find("] 0 of 0 files, "), std::string::npos);
  status.post(files_found{.found = 2});
  status.post(file_settled{.outcome = file_outcome::indexed, .documents = 1});
  pool.run_all();
  EXPECT_EQ(bar.str().find("] 1 of 2 files, "), std::string::npos);
  pool.advance(std::chrono::seconds{5});
  pool.run_all();
  EXPECT_NE(bar.str().find("] 1 of 2 files, "), std::string::npos);

  status.post(file_settled{.outcome = file_outcome::binary});
  status.post(scan_ended{});
  pool.run_all();
  const std::string before = bar.str();
  pool.advance(std::chrono::seconds{5});
  pool.run_all();
  EXPECT_EQ(bar.str(), before);
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(pool.pending_timers(), 0u);
}

TEST(SearchServiceConsoleTest, IndexingEndsWithASummary) {
  std::ostringstream out;
  world w;
  status_port status =
      create_status(w.queue, [](status_report&) {}, wharf::port<std::string>{});
  announce_end_of_indexing(w.queue, status,
                           create_console(w.queue, {.out = &out}));
  status.post(files_found{.found = 1});
  status.post(file_settled{
      .outcome = file_outcome::indexed, .documents = 1, .words = 1234});
  w.pool.drain();
  EXPECT_EQ(out.str(), "");
  status.post(scan_ended{});
  w.pool.drain();
  EXPECT_TRUE(out.str().starts_with(
      "indexing is done: 1 files with 1,234 words indexed, 0 skipped"))
      << out.str();
}

} // namespace
} // namespace search_service

#include "search_service/status.hpp"

#include "search_service_wharf_support.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace search_service {
namespace {

using test::world;

struct status_world : world {
  status_report ask() {
    wharf::port<status_report> reply;
    pool.drain(); // counts come first
    status.post(ask_status{test::reply_to(reply)});
    return take(reply);
  }

  wharf::port<std::string> notes{"notes"};
  status_port status{create_status(
      queue, [](status_report& report) { report.running_loads = 7; }, notes)};
};

TEST(SearchServiceStatusTest, CountsWhatBecameOfEachFile) {
  status_world w;
  w.status.post(
      files_found{.found = 9, .by_name = 1, .special = 1, .links = 1});
  for (const file_outcome outcome :
       {file_outcome::indexed, file_outcome::binary, file_outcome::too_large,
        file_outcome::special, file_outcome::failed, file_outcome::dropped}) {
    w.status.post(file_settled{
        .outcome = outcome, .words = outcome == file_outcome::indexed ? 5 : 0});
  }
  const status_report report = w.ask();
  EXPECT_EQ(report.found, 9u);
  EXPECT_EQ(report.indexed, 1u);
  EXPECT_EQ(report.words, 5u);
  EXPECT_EQ(report.skipped.total(), 6u);
  EXPECT_EQ(report.skipped.special, 2u);
  EXPECT_EQ(report.failed, 1u);
  EXPECT_EQ(report.dropped, 1u);
  EXPECT_EQ(report.settled(), report.found);
}

// A file that is indexed, changes, and goes; another that was restored.
TEST(SearchServiceStatusTest, CountsWhatTheIndexHoldsNow) {
  status_world w;
  w.status.post(index_restored{.documents = 1, .words = 10});
  w.status.post(files_found{.found = 1});
  w.status.post(file_settled{.outcome = file_outcome::indexed,
                             .documents = 1,
                             .words = 5,
                             .bytes = 30});
  w.status.post(files_found{.found = 1});
  w.status.post(
      file_settled{.outcome = file_outcome::indexed, .words = -3, .bytes = 12});
  status_report report = w.ask();
  EXPECT_EQ(report.documents, 2u);
  EXPECT_EQ(report.words, 12u);
  EXPECT_EQ(report.bytes, 42u);
  EXPECT_EQ(report.updated, 1u);
  EXPECT_EQ(report.changes, 2u);

  w.status.post(files_found{.found = 1});
  w.status.post(file_settled{
      .outcome = file_outcome::removed, .documents = -1, .words = -2});
  report = w.ask();
  EXPECT_EQ(report.documents, 1u);
  EXPECT_EQ(report.words, 10u);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(report.changes, 3u);
  EXPECT_EQ(report.settled(), report.found);
}

TEST(SearchServiceStatusTest, FewerThanTheLastTimeAreTakenAway) {
  status_world w;
  w.status.post(files_found{.found = 5, .by_name = 3, .links = 2});
  w.status.post(files_found{.found = -4, .by_name = -3, .links = -1});
  const status_report report = w.ask();
  EXPECT_EQ(report.found, 1u);
  EXPECT_EQ(report.skipped.total(), 1u);
}

TEST(SearchServiceStatusTest, ReportHasWhatTheGaugeMeasures) {
  status_world w;
  EXPECT_EQ(w.ask().running_loads, 7u);
}

TEST(SearchServiceStatusTest, IndexingLastsUntilAllFilesAreSettled) {
  status_world w;
  EXPECT_TRUE(w.ask().indexing);
  w.status.post(files_found{.found = 1});
  w.status.post(scan_ended{});
  EXPECT_TRUE(w.ask().indexing);
  w.status.post(file_settled{.outcome = file_outcome::indexed});
  EXPECT_FALSE(w.ask().indexing);
}

TEST(SearchServiceStatusTest, WhoWaitsForTheEndIsToldOnce) {
  status_world w;
  wharf::port<status_report> early;
  w.status.post(await_settled{early});
  w.status.post(files_found{.found = 1});
  w.status.post(scan_ended{});
  w.pool.drain();
  EXPECT_TRUE(early.empty());
  w.status.post(file_settled{.outcome = file_outcome::failed});
  EXPECT_EQ(w.take(early).failed, 1u);
  w.pool.drain();
  EXPECT_TRUE(early.empty());

  wharf::port<status_report> late;
  w.status.post(await_settled{late});
  EXPECT_EQ(w.take(late).failed, 1u);
}

TEST(SearchServiceStatusTest, FailuresOfHandlersAreCountedAndNoted) {
  status_world w;
  w.queue.on_failure(w.status.get<std::exception_ptr>());
  wharf::port<int> breaks;
  wharf::activate(w.queue, wharf::receive(breaks, [](int) {
                    throw std::runtime_error{"thrown on purpose"};
                  }));
  breaks.post(1);
  EXPECT_EQ(w.take(w.notes), "a handler failed: thrown on purpose");
  EXPECT_EQ(w.ask().handler_failures, 1u);
}

TEST(SearchServiceStatusTest, FloodOfNotesIsCutShort) {
  status_world w;
  for (int i = 0; i < 1000; ++i) {
    w.status.post(
        file_settled{.outcome = file_outcome::failed, .note = "can't be read"});
  }
  EXPECT_EQ(w.ask().failed, 1000u);
  const auto notes = w.notes.try_take_all();
  ASSERT_EQ(notes.size(), 21u);
  EXPECT_NE(notes.back().find("counted only"), std::string::npos);
}

} // namespace
} // namespace search_service

#include "search_service/watcher.hpp"

#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

namespace search_service {
namespace {

using namespace std::chrono_literals;

// A watcher on a clock that the test moves, in front of a scanner's ports.
struct watcher_world {
  wharf::activation start(std::optional<std::chrono::milliseconds> interval) {
    wharf::activation watching = watch(queue, scanner, {"/there"}, interval);
    pool.run_all();
    return watching;
  }

  // The round that is asked for, if one is.
  std::optional<scan> asked() { return scanner.get<scan>().try_take(); }

  void advance(std::chrono::milliseconds by) {
    pool.run_all(); // what has happened before that
    pool.advance(by);
    pool.run_all();
  }

  wharf::test::test_dispatcher pool;
  wharf::dispatcher_queue queue{pool, "watcher"};
  scanner_port scanner;
};

TEST(SearchServiceWatcherTest, WithoutAnIntervalItGoesRoundOnce) {
  watcher_world w;
  w.start(std::nullopt);
  auto first = w.asked();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->roots, std::vector<std::filesystem::path>{"/there"});
  first->reply.post(round_ended{});
  w.advance(1h);
  EXPECT_FALSE(w.asked());
  EXPECT_EQ(w.pool.pending_timers(), 0u);
}

TEST(SearchServiceWatcherTest, NextRoundComesAnIntervalAfterTheEndOfTheLast) {
  watcher_world w;
  w.start(2s);
  auto first = w.asked();
  ASSERT_TRUE(first);
  w.advance(1h); // a slow disk
  EXPECT_FALSE(w.asked());
  first->reply.post(round_ended{});
  w.advance(1999ms);
  EXPECT_FALSE(w.asked());
  w.advance(1ms);
  EXPECT_TRUE(w.asked());
}

TEST(SearchServiceWatcherTest, RoundThatIsGivenUpIsFollowedByAnother) {
  watcher_world w;
  w.start(2s);
  ASSERT_TRUE(w.asked()); // and dropped
  w.advance(2s);
  EXPECT_TRUE(w.asked());
}

TEST(SearchServiceWatcherTest, StoppedScannerEndsIt) {
  watcher_world w;
  const wharf::activation watching = w.start(2s);
  auto first = w.asked();
  ASSERT_TRUE(first);
  w.scanner.close();
  first.reset();
  w.advance(1h);
  EXPECT_EQ(w.pool.pending_timers(), 0u);
  watching.wait();
}

TEST(SearchServiceWatcherTest, CancelEndsItBetweenTwoRounds) {
  watcher_world w;
  wharf::activation watching = w.start(2s);
  w.asked()->reply.post(round_ended{});
  w.pool.run_all();
  EXPECT_EQ(w.pool.pending_timers(), 1u);
  EXPECT_TRUE(watching.cancel());
  watching.wait();
  EXPECT_EQ(w.pool.pending_timers(), 0u);
}

} // namespace
} // namespace search_service

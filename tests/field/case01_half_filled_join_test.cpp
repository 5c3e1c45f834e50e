// A join that is not complete takes, hides and reorders nothing.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::scaled;
using test::test_dispatcher;

// Scenario, first part; and that a receiver is served by what a join waits
// with, that the join stays quiet, and that it runs with the later message.
TEST(HalfFilledJoinTest, LeavesToAReceiverWhatItSaw) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  std::vector<std::pair<int, int>> joined;
  std::vector<int> received;

  const activation waiting = activate(
      queue, join(a, b, [&](int x, int y) { joined.emplace_back(x, y); }));
  a.post(1);
  EXPECT_EQ(a.size(), 1U);
  activate(queue, receive(a, [&](int x) { received.push_back(x); }));
  world.run_all();
  EXPECT_EQ(received, std::vector{1});
  EXPECT_EQ(a.size(), 0U);

  b.post(2);
  world.run_all();
  EXPECT_TRUE(joined.empty());
  EXPECT_TRUE(waiting.active());
  EXPECT_EQ(b.size(), 1U);

  a.post(3);
  world.run_all();
  EXPECT_EQ(joined, (std::vector{std::pair{3, 2}}));
  EXPECT_FALSE(waiting.active());
}

// Scenario, two joins that share a port: exactly one runs for each message
// there, and the loser's own message stays counted in its port.
TEST(HalfFilledJoinTest, OfTwoThatShareAPortOneRunsForEachMessage) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  port<int> c;
  int first = 0;
  int second = 0;
  activate(queue, join(a, b, [&](int, int) { ++first; }));
  activate(queue, join(a, c, [&](int, int) { ++second; }));
  b.post(1);
  c.post(1);
  world.run_all();
  EXPECT_EQ(first + second, 0);

  a.post(1);
  world.run_all();
  EXPECT_EQ(first + second, 1);
  EXPECT_EQ(a.size(), 0U);
  EXPECT_EQ(b.size(), first == 1 ? 0U : 1U);
  EXPECT_EQ(c.size(), second == 1 ? 0U : 1U);

  a.post(2);
  world.run_all();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_EQ(a.size() + b.size() + c.size(), 0U);
}

// Scenario, order check: attempts that fail on the other port leave the order
// of this one alone.
TEST(HalfFilledJoinTest, FailedAttemptsKeepTheOrderWithinAPort) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  port<int> c;
  activate(queue, join(a, b, [](int, int) {}));
  activate(queue, join(a, c, [](int, int) {}));
  a.post(1);
  a.post(2);
  std::vector<int> received;
  activate(queue, receive(a, [&](int x) { received.push_back(x); }));
  activate(queue, receive(a, [&](int x) { received.push_back(x); }));
  world.run_all();
  EXPECT_EQ(received, (std::vector{1, 2}));
}

// All or nothing: while it waits, a join withholds nothing from anybody.
TEST(HalfFilledJoinTest, HoldsNothingWhileItWaits) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  port<int> c;
  const std::uint64_t relinks = detail::relinks();
  const activation waiting =
      activate(queue, join(a, b, c, [](int, int, int) {}));
  a.post(1);
  b.post(2);
  EXPECT_EQ(a.try_take(), 1);
  EXPECT_EQ(b.try_take(), 2);
  c.post(3);
  world.run_all();
  EXPECT_TRUE(waiting.active());
  EXPECT_EQ(c.size(), 1U);
  EXPECT_EQ(detail::relinks(), relinks);
}

// A port named twice gives two messages or none.
TEST(HalfFilledJoinTest, TakesTwoOrNoneOfAPortThatItNamesTwice) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  std::vector<int> joined;
  activate(queue, join(a, a, [&](int x, int y) { joined = {x, y}; }));
  a.post(1);
  world.run_all();
  EXPECT_TRUE(joined.empty());
  EXPECT_EQ(a.size(), 1U);
  a.post(2);
  world.run_all();
  EXPECT_EQ(joined, (std::vector{1, 2}));
}

class HalfFilledJoinRingTest : public ::testing::TestWithParam<std::size_t> {};

// Scenario, stress: five ports in a ring with one token each, five joins on
// neighbours that post the tokens back. The ring never stops, and it ends with
// one token in each port.
TEST_P(HalfFilledJoinRingTest, NeverStopsAndKeepsOneTokenInEachPort) {
  constexpr std::size_t seats = 5;
  const int meals = scaled(100'000);
  {
    dispatcher pool{{.threads = GetParam()}};
    dispatcher_queue queue{pool};
    std::vector<port<test::counted>> ring;
    for (std::size_t i = 0; i < seats; ++i) {
      ring.emplace_back();
    }
    std::atomic<int> eaten{0};
    std::latch sated{1};
    std::vector<activation> eaters;
    for (std::size_t i = 0; i < seats; ++i) {
      // Each names its own fork first: the order that deadlocks with locks.
      eaters.push_back(
          activate(queue, join(persist, ring[i], ring[(i + 1) % seats],
                               [&, i](test::counted left, test::counted right) {
                                 if (++eaten == meals) {
                                   sated.count_down();
                                 }
                                 ring[i].post(std::move(left));
                                 ring[(i + 1) % seats].post(std::move(right));
                               })));
    }
    for (port<test::counted>& fork : ring) {
      fork.post(test::counted{1});
    }
    sated.wait();
    for (activation& eater : eaters) {
      eater.cancel();
    }
    for (const activation& eater : eaters) {
      eater.wait();
    }
    for (const port<test::counted>& fork : ring) {
      EXPECT_EQ(fork.size(), 1U);
    }
  }
  EXPECT_EQ(test::counted::live(), 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, HalfFilledJoinRingTest,
                         ::testing::Values(1, 4, 8, 16));

// The same resources asked for in opposite orders by one-time joins: taking
// one by one would deadlock.
TEST_P(HalfFilledJoinRingTest, OppositeOrdersDoNotDeadlock) {
  const int rounds = scaled(20'000);
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::atomic<int> done{0};
  std::atomic<int> inside{0};
  for (int i = 0; i < rounds; ++i) {
    const auto both = [&](int x, int y) {
      EXPECT_EQ(inside.fetch_add(1), 0);
      inside.fetch_sub(1);
      ++done;
      a.post(x);
      b.post(y);
    };
    if (i % 2 == 0) {
      activate(queue, join(a, b, both));
    } else {
      activate(queue, join(b, a, both));
    }
    if (i == 0) {
      a.post(1);
      b.post(2);
    }
  }
  pool.drain();
  EXPECT_EQ(done, rounds);
  EXPECT_EQ(a.size(), 1U);
  EXPECT_EQ(b.size(), 1U);
}

// The same for awaits: a coroutine that waits for a join holds nothing, and one
// that is cancelled leaves no trace.
TEST(HalfFilledJoinTest, AwaitedLeavesToAReceiverWhatItSaw) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  std::vector<int> joined;
  std::vector<int> received;
  const auto waits = [&]() -> task<void> {
    const auto [x, y] = co_await join(a, b);
    joined = {x, y};
  };
  const auto takes = [&]() -> task<void> {
    received.push_back(co_await receive(a));
  };
  spawn(queue, waits);
  world.run_all();
  a.post(1);
  world.run_all();
  EXPECT_EQ(a.size(), 1U);
  spawn(queue, takes);
  world.run_all();
  EXPECT_EQ(received, (std::vector{1}));
  b.post(2);
  world.run_all();
  EXPECT_TRUE(joined.empty());
  a.post(3);
  world.run_all();
  EXPECT_EQ(joined, (std::vector{3, 2}));

  activation cut = spawn(queue, waits);
  world.run_all();
  a.post(4);
  EXPECT_TRUE(cut.cancel());
  world.run_all();
  b.post(5);
  EXPECT_EQ(a.size() + b.size(), 2U);
}

} // namespace
} // namespace wharf

#include <wharf/spawn.hpp>

#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

namespace wharf {
namespace {

using test::tally;
using test::test_dispatcher;
using test::tracked;

TEST(SpawnTest, RunsAFunctionOnceAndNotInPlace) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  const activation running = spawn(queue, [&] { ++ran; });
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(running.active());
  EXPECT_EQ(pool.run_all(), 1U);
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(running.active());
}

TEST(SpawnTest, MovesFunctionAndArgumentsAndCopiesNothing) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int got = 0;
  spawn(
      queue,
      [&, own = tracked{counts}](tracked t, std::unique_ptr<int> n) {
        got = t.value + *n;
      },
      tracked{counts, 40}, std::make_unique<int>(2));
  EXPECT_EQ(counts.alive, 2);
  pool.run_all();
  EXPECT_EQ(got, 42);
  EXPECT_EQ(counts.copies, 0);
  EXPECT_EQ(counts.alive, 0);
}

TEST(SpawnTest, TakesMemberFunctions) {
  struct component {
    int total = 0;
    void add(int n) { total += n; }
  };
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  component c;
  spawn(queue, &component::add, &c, 5);
  pool.run_all();
  EXPECT_EQ(c.total, 5);
}

TEST(SpawnTest, CancelIsTrueUntilItHasStarted) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activation one = spawn(queue, [&, own = tracked{counts}] { ++ran; });
  EXPECT_TRUE(one.cancel());
  EXPECT_FALSE(one.active());
  EXPECT_EQ(counts.alive, 0); // at once
  EXPECT_FALSE(one.cancel());
  pool.run_all();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(queue.discarded(), 0U);

  activation two = spawn(queue, [&] { EXPECT_FALSE(two.cancel()); });
  pool.run_all();
  EXPECT_FALSE(two.cancel());
}

TEST(SpawnTest, ACancelledFunctionInAClosedQueueEndsOnce) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  activation one = spawn(queue, [own = tracked{counts}] {});
  one.cancel();
  queue.close();
  EXPECT_EQ(queue.discarded(), 0U);
  EXPECT_EQ(counts.alive, 0);
}

TEST(SpawnTest, AFunctionThatThrowsCostsOnlyItself) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  spawn(queue, [] { throw std::runtime_error{"broken"}; });
  spawn(queue, [&] { ++ran; });
  pool.run_all();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(pool.pool().unhandled_failures(), 1U);
}

// A function that spawns its successor must not nest.
TEST(SpawnTest, AChainOfSpawnsDoesNotGrowTheStack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int left = 100'000;
  struct step {
    dispatcher_queue& queue;
    int& left;
    void operator()() const {
      if (--left > 0) {
        spawn(queue, *this);
      }
    }
  };
  spawn(queue, step{queue, left});
  pool.run_all();
  EXPECT_EQ(left, 0);
}

} // namespace
} // namespace wharf

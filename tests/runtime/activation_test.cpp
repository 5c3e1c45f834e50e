#include <wharf/activation.hpp>

#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::tally;
using test::test_dispatcher;
using test::tracked;

TEST(ActivationTest, AnEmptyOneHasEnded) {
  activation none;
  EXPECT_FALSE(none.active());
  EXPECT_FALSE(none.cancel());
  none.wait();
}

TEST(ActivationTest, DroppingItChangesNothing) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int ran = 0;
  {
    const activation dropped =
        activate(queue, receive(numbers, [&](int) { ++ran; }));
  }
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(ActivationTest, CopiesNameTheSameArbiter) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation first = activate(queue, receive(numbers, [](int) {}));
  const activation copy = first;
  activation moved = std::move(first);
  EXPECT_FALSE(first.active()); // NOLINT: names nothing now
  EXPECT_TRUE(moved.cancel());
  EXPECT_FALSE(copy.active());
}

TEST(ActivationTest, CancelIsTrueOnceAndThenFalse) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int ran = 0;
  activation one = activate(queue, receive(numbers, [&](int) { ++ran; }));
  EXPECT_TRUE(one.active());
  EXPECT_TRUE(one.cancel());
  EXPECT_FALSE(one.active());
  EXPECT_FALSE(one.cancel());
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(numbers.size(), 1U);
}

TEST(ActivationTest, CancelIsFalseOnceTheHandlerIsDecided) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int ran = 0;
  activation one = activate(queue, receive(numbers, [&](int) { ++ran; }));
  numbers.post(1);
  EXPECT_FALSE(one.active());
  EXPECT_FALSE(one.cancel());
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(ActivationTest, CancelInItsOwnLastHandlerIsFalse) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation one;
  bool answer = true;
  one = activate(queue, receive(numbers, [&](int) { answer = one.cancel(); }));
  numbers.post(1);
  pool.run_all();
  EXPECT_FALSE(answer);
}

TEST(ActivationTest, CancelDestroysTheHandlerAtOnceIfItDoesNotRun) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation one = activate(
      queue, receive(persist, numbers, [own = tracked{counts}](int) {}));
  numbers.post(1);
  EXPECT_TRUE(one.cancel());
  EXPECT_EQ(counts.alive, 0);
}

TEST(ActivationTest, HoldsNothingOfTheUsers) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  const activation one =
      activate(queue, receive(numbers, [own = tracked{counts}](int) {}));
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(counts.alive, 0);
}

TEST(ActivationTest, WaitReturnsWhenTheHandlerIsOverAndDestroyed) {
  for (int round = 0; round < 200; ++round) {
    tally counts;
    dispatcher pool{{.threads = 1}};
    dispatcher_queue queue{pool};
    port<int> numbers;
    std::atomic<int> ran{0};
    const activation one = activate(
        queue, receive(numbers, [&, own = tracked{counts}](int) { ++ran; }));
    numbers.post(1);
    one.wait();
    ASSERT_EQ(ran, 1);
    ASSERT_EQ(counts.alive, 0);
  }
}

TEST(ActivationTest, WaitForAPersistentOneReturnsAfterItsRunningHandler) {
  tally counts;
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::latch started{1};
  std::latch cancelled{1};
  std::atomic<bool> over{false};
  activation all = activate(
      queue, receive(persist, numbers, [&, own = tracked{counts}](int) {
        started.count_down();
        cancelled.wait();
        over = true;
      }));
  numbers.post(1);
  numbers.post(2);
  started.wait();
  EXPECT_TRUE(all.cancel());
  EXPECT_EQ(counts.alive, 1); // runs
  cancelled.count_down();
  all.wait();
  EXPECT_TRUE(over);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(numbers.try_take(), 2);
}

TEST(ActivationTest, WaitOnAWorkerIsMisuse) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  const activation waiting = activate(queue, receive(numbers, [](int) {}));
  bool refused = false;
  spawn(queue, [&] {
    try {
      waiting.wait();
    } catch (const std::logic_error&) {
      refused = true;
    }
  });
  pool.drain();
  EXPECT_TRUE(refused);
}

TEST(ActivationTest, MayOutliveItsQueueAndDispatcher) {
  activation one;
  {
    test_dispatcher pool;
    dispatcher_queue queue{pool};
    const port<int> numbers;
    one = activate(queue, receive(numbers, [](int) {}));
  }
  EXPECT_FALSE(one.active());
  EXPECT_FALSE(one.cancel());
  one.wait();
}

} // namespace
} // namespace wharf

#include <wharf/dispatcher_queue.hpp>

#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/after.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::tally;
using test::test_dispatcher;
using test::tracked;

TEST(DispatcherQueueTest, HasTheNameThatItWasGiven) {
  test_dispatcher pool;
  const dispatcher_queue queue{pool, "requests"};
  EXPECT_EQ(queue.name(), "requests");
}

TEST(DispatcherQueueTest, RunsFunctionsInTheOrderOfTheirSpawns) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<int> order;
  for (int i = 0; i < 4; ++i) {
    spawn(queue, [&, i] { order.push_back(i); });
  }
  EXPECT_EQ(queue.depth(), 4U);
  EXPECT_EQ(pool.run_all(), 4U);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(queue.depth(), 0U);
}

TEST(DispatcherQueueTest, BetweenSuspendAndResumeNothingStarts) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> order;
  activate(queue,
           receive(persist, numbers, [&](int n) { order.push_back(n); }));
  numbers.post(1);
  queue.suspend();
  numbers.post(2);
  spawn(queue, [&] { order.push_back(0); });
  EXPECT_FALSE(pool.run_one());
  EXPECT_EQ(numbers.size(), 2U);
  queue.resume();
  numbers.post(3);
  pool.run_all();
  EXPECT_EQ(order.size(), 4U);
  std::erase(order, 0);
  EXPECT_EQ(order, (std::vector{1, 2, 3})); // nothing lost, order kept
}

TEST(DispatcherQueueTest, ASuspendedQueueDecidesAsAlways) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  queue.suspend();
  int ran = 0;
  const activation one = activate(queue, receive(numbers, [&](int) { ++ran; }));
  numbers.post(1);
  EXPECT_FALSE(one.active());
  EXPECT_EQ(numbers.size(), 0U);
  EXPECT_EQ(ran, 0);
  queue.resume();
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

// A worker takes many messages of one receiver at a time; none of them may
// start once its queue is suspended.
TEST(DispatcherQueueTest, AHandlerThatSuspendsItsQueueIsTheLastToStart) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::atomic<int> ran{0};
  activate(queue, receive(persist, numbers, [&](int) {
             ++ran;
             queue.suspend();
           }));
  queue.suspend();
  for (int i = 0; i < 10; ++i) {
    numbers.post(i);
  }
  queue.resume();
  pool.drain();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(numbers.size(), 9U);
  queue.close();
  EXPECT_EQ(numbers.size(), 9U);
}

TEST(DispatcherQueueTest, CloseDestroysAndCountsWorkThatHasNotStarted) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<tracked> things;
  int ran = 0;
  spawn(queue, [&, captured = tracked{counts}] { ++ran; });
  activate(queue, receive(things, [&](tracked) { ++ran; }));
  things.post(tracked{counts});
  queue.close();
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(queue.discarded(), 2U);
  EXPECT_TRUE(queue.closed());
  pool.run_all();
  EXPECT_EQ(ran, 0);
}

TEST(DispatcherQueueTest, CloseMakesArbitersLeaveAndGiveBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  dispatcher_queue other{pool};
  port<int> numbers;
  port<int> more;
  const activation one = activate(queue, receive(more, [](int) {}));
  const activation all = activate(queue, receive(persist, numbers, [](int) {}));
  const activation both = activate(queue, join(more, numbers, [](int, int) {}));
  const activation timer = activate(queue, every(1s, [] {}));
  std::vector<int> got;
  activate(other, receive(persist, numbers, [&](int n) { got.push_back(n); }));
  numbers.post(1);
  numbers.post(2);
  queue.close();
  EXPECT_FALSE(one.active() || all.active() || both.active() || timer.active());
  EXPECT_EQ(pool.pending_timers(), 0U);
  EXPECT_EQ(queue.discarded(), 0U);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{1, 2})); // given back, and offered
}

TEST(DispatcherQueueTest, AClosedQueueRefusesWithoutThrowing) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  queue.close();
  queue.close();
  port<int> numbers;
  numbers.post(1);
  const activation spawned = spawn(queue, [captured = tracked{counts}] {});
  const activation one =
      activate(queue, receive(numbers, [captured = tracked{counts}](int) {}));
  const activation all = activate(
      queue, receive(persist, numbers, [captured = tracked{counts}](int) {}));
  const activation both =
      activate(queue, join(persist, numbers, numbers,
                           [captured = tracked{counts}](int, int) {}));
  const activation ticking =
      activate(queue, every(1s, [captured = tracked{counts}] {}));
  for (const activation& each : {spawned, one, all, both, ticking}) {
    EXPECT_FALSE(each.active());
    EXPECT_FALSE(activation{each}.cancel());
    each.wait(); // has ended
  }
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(numbers.size(), 1U);
}

TEST(DispatcherQueueTest, TheDestructorIsClose) {
  tally counts;
  test_dispatcher pool;
  port<int> numbers;
  activation waiting;
  {
    dispatcher_queue queue{pool};
    waiting = activate(
        queue, receive(persist, numbers, [captured = tracked{counts}](int) {}));
    numbers.post(1);
  }
  EXPECT_FALSE(waiting.active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(numbers.try_take(), 1);
}

TEST(DispatcherQueueTest, TheDestructorWaitsForItsRunningHandlers) {
  dispatcher pool{{.threads = 2}};
  std::atomic<bool> over{false};
  {
    dispatcher_queue queue{pool};
    std::latch started{1};
    spawn(queue, [&] {
      started.count_down();
      for (int i = 0; i < 100; ++i) {
        std::this_thread::yield();
      }
      over = true;
    });
    started.wait();
  }
  EXPECT_TRUE(over);
}

TEST(DispatcherQueueTest, CanBeDestroyedInItsOwnHandler) {
  test_dispatcher pool;
  auto queue = std::make_unique<dispatcher_queue>(pool);
  port<int> numbers;
  tally counts;
  int ran = 0;
  activate(*queue,
           receive(persist, numbers, [&, captured = tracked{counts}](int) {
             ++ran;
             queue.reset();
             EXPECT_EQ(counts.alive, 1); // a running handler is kept
           }));
  numbers.post(1);
  numbers.post(2);
  pool.run_all();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(numbers.try_take(), 2);
}

TEST(DispatcherQueueTest, CanBeDestroyedInItsOwnHandlerOnAPool) {
  dispatcher pool{{.threads = 2}};
  auto queue = std::make_unique<dispatcher_queue>(pool);
  port<int> numbers;
  std::atomic<int> ran{0};
  std::promise<void> over;
  activate(*queue, receive(persist, numbers, [&](int) {
                     ++ran;
                     queue.reset();
                     over.set_value();
                   }).one_at_a_time());
  queue->suspend();
  for (int i = 0; i < 10; ++i) {
    numbers.post(i);
  }
  queue->resume();
  over.get_future().wait();
  pool.drain();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(numbers.size(), 9U);
}

TEST(DispatcherQueueTest, ClosingInAHandlerLetsItFinishAndStartsNoOther) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<int> order;
  spawn(queue, [&] {
    queue.close();
    order.push_back(1);
  });
  spawn(queue, [&] { order.push_back(2); });
  pool.run_all();
  EXPECT_EQ(order, std::vector{1});
  EXPECT_EQ(queue.discarded(), 1U);
}

TEST(DispatcherQueueTest, PortsOutliveIt) {
  test_dispatcher pool;
  port<int> numbers;
  {
    dispatcher_queue queue{pool};
    activate(queue, receive(persist, numbers, [](int) {}));
  }
  EXPECT_TRUE(numbers.post(1));
  EXPECT_EQ(numbers.size(), 1U);
}

TEST(DispatcherQueueTest, DestroyedWorkMayPostAndSpawn) {
  struct poster {
    explicit poster(port<int> p) : target{std::move(p)} {}
    poster(poster&& other) noexcept
        : target{other.target}, armed{std::exchange(other.armed, false)} {}
    ~poster() {
      if (armed) {
        target.post(1);
      }
    }
    port<int> target;
    bool armed = true;
  };
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  spawn(queue, [p = poster{numbers}] {});
  activate(queue, receive(port<int>{numbers}, [p = poster{numbers}](int) {}));
  queue.close();
  EXPECT_EQ(numbers.size(), 2U);
}

// Goal: whatever the moment of the end, each message is handled or in its port.
// Method: posts race with the destructor of the queue, many times.
TEST(DispatcherQueueStressTest, EndsAtAnyMomentWithoutLosingAMessage) {
  dispatcher pool{{.threads = 2}};
  for (int round = 0; round < 300; ++round) {
    port<int> numbers;
    std::atomic<std::size_t> handled{0};
    std::latch start{2};
    std::jthread poster;
    {
      std::optional<dispatcher_queue> queue{std::in_place, pool};
      activate(*queue, receive(persist, numbers, [&](int) { ++handled; }));
      poster = std::jthread{[&] {
        start.arrive_and_wait();
        for (int i = 0; i < 50; ++i) {
          numbers.post(i);
        }
      }};
      start.arrive_and_wait();
      for (int i = 0; i < round; ++i) {
        std::this_thread::yield();
      }
    }
    poster.join();
    ASSERT_EQ(handled + numbers.size(), 50U);
  }
}

} // namespace
} // namespace wharf

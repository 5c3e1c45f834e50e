#include <wharf/after.hpp>

#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/choice.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::tally;
using test::test_dispatcher;
using test::tracked;

TEST(AfterTest, FiresOnceAtItsTime) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  const activation one =
      activate(queue, after(10ms, [&, own = tracked{counts}] { ++ran; }));
  pool.advance(9ms);
  pool.run_all();
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(one.active());
  pool.advance(1ms);
  pool.run_all();
  pool.advance(1h);
  pool.run_all();
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(one.active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(counts.copies, 0);
}

TEST(AfterTest, ZeroAndPastFirePromptlyThroughTheQueue) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, after(0s, [&] { ++ran; }));
  activate(queue, after(-1h, [&] { ++ran; }));
  activate(queue, after(std::chrono::nanoseconds::min(), [&] { ++ran; }));
  activate(queue, after(std::chrono::hours::min(), [&] { ++ran; }));
  EXPECT_EQ(ran, 0);
  pool.run_all();
  EXPECT_EQ(ran, 4);
}

TEST(AfterTest, HugeDelaysDoNotOverflow) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  const auto count = [&] { ++ran; };
  activate(queue, after(std::chrono::nanoseconds::max(), count));
  activate(queue, after(std::chrono::hours::max(), count));
  activate(queue, after(std::chrono::duration<double>{1e300}, count));
  activate(queue, after(
                      std::chrono::duration<double>{
                          std::numeric_limits<double>::infinity()},
                      count));
  EXPECT_EQ(pool.pending_timers(), 4U);
  pool.advance(24h * 365 * 100);
  pool.run_all();
  EXPECT_EQ(ran, 0);
}

TEST(AfterTest, HugeUnsignedDelaysDoNotOverflow) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, after(std::chrono::duration<std::uint64_t, std::nano>::max(),
                        [&] { ++ran; }));
  pool.run_all();
  EXPECT_EQ(ran, 0);
}

TEST(AfterTest, UnsignedDurationsMeanWhatTheySay) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  const auto count = [&] { ++ran; };
  activate(queue,
           after(std::chrono::duration<std::uint64_t, std::milli>{5}, count));
  activate(queue,
           after(std::chrono::duration<std::uint32_t, std::milli>{5}, count));
  pool.run_all();
  EXPECT_EQ(ran, 0);
  pool.advance(5ms);
  pool.run_all();
  EXPECT_EQ(ran, 2);
}

TEST(AfterTest, SmallRepresentationsMeanWhatTheySay) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, after(std::chrono::duration<std::int16_t, std::milli>{30'000},
                        [&] { ++ran; }));
  pool.advance(30s);
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(AfterTest, FractionsOfASecondAreWelcome) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, after(std::chrono::duration<double>{0.5}, [&] { ++ran; }));
  pool.advance(499ms);
  pool.run_all();
  EXPECT_EQ(ran, 0);
  pool.advance(1ms);
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(AfterTest, ADelayThatIsNoNumberIsMisuse) {
  const std::chrono::duration<double> none{
      std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW((void)after(none, [] {}), std::invalid_argument);
}

TEST(AfterTest, FiresInTheOrderOfDueTimesAndThenOfActivation) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<int> order;
  const auto note = [&](int n) { return [&order, n] { order.push_back(n); }; };
  activate(queue, after(3ms, note(4)));
  activate(queue, after(1ms, note(1)));
  activate(queue, after(2ms, note(2)));
  activate(queue, after(2ms, note(3)));
  pool.advance(5ms);
  pool.run_all();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST(AfterTest, AfterAndEveryKeepTheOrderOfDueTimes) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::string order;
  activate(queue, after(10ms, [&] { order += 'a'; }));
  activate(queue, every(10ms, [&] { order += 'e'; }));
  activate(queue, after(10ms, [&] { order += 'b'; }));
  pool.advance(10ms);
  pool.run_all();
  EXPECT_EQ(order, "aeb");
}

TEST(AfterTest, ManyTimersFireInOrder) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<int> order;
  std::vector<int> expected;
  std::vector<activation> odd;
  for (int i = 0; i < 1'000; ++i) {
    const int due = (i * 37) % 1'000;
    const activation each =
        activate(queue, after(std::chrono::milliseconds{due},
                              [&order, due] { order.push_back(due); }));
    if (due % 2 == 1) {
      odd.push_back(each);
    }
  }
  for (activation& each : odd) {
    EXPECT_TRUE(each.cancel());
  }
  for (int i = 0; i < 1'000; i += 2) {
    expected.push_back(i);
  }
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(order, expected);
}

TEST(AfterTest, CancelDisarmsAtOnce) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  activation one = activate(queue, after(1s, [own = tracked{counts}] {}));
  activation many = activate(queue, every(1s, [own = tracked{counts}] {}));
  EXPECT_EQ(pool.pending_timers(), 2U);
  EXPECT_TRUE(one.cancel());
  EXPECT_TRUE(many.cancel());
  EXPECT_FALSE(one.cancel());
  EXPECT_FALSE(many.cancel());
  EXPECT_EQ(pool.pending_timers(), 0U);
  EXPECT_EQ(counts.alive, 0);
}

TEST(AfterTest, AnUnusedDescriptionArmsNothing) {
  test_dispatcher pool;
  {
    [[maybe_unused]] const auto unused = after(1s, [] {});
  }
  EXPECT_EQ(pool.pending_timers(), 0U);
}

// The first handler ends only when the second one has run, so a worker that
// slept must have looked after the second timer.
TEST(AfterTest, ALongHandlerHoldsUpNoOtherTimer) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  for (int round = 0; round < 20; ++round) {
    std::promise<void> second;
    const activation first =
        activate(queue, after(1ms, [&] { second.get_future().wait(); }));
    activate(queue, after(2ms, [&] { second.set_value(); }));
    first.wait();
  }
}

TEST(AfterTest, SleepUntilTakesAnyTimeOfTheClock) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  using clock = std::chrono::steady_clock;
  int ran = 0;
  const auto sleeper = [&ran](auto due) -> task<void> {
    co_await sleep_until(due);
    ++ran;
  };
  using hours = std::chrono::time_point<clock, std::chrono::hours>;
  using seconds = std::chrono::time_point<clock, std::chrono::duration<double>>;
  spawn(queue, sleeper, hours::max());
  spawn(queue, sleeper, seconds::max());
  pool.run_all();
  EXPECT_EQ(ran, 0);
  spawn(queue, sleeper, hours::min());
  spawn(queue, sleeper, seconds::min());
  pool.run_all();
  EXPECT_EQ(ran, 2);
  spawn(queue, sleeper, seconds{pool.now()} + std::chrono::duration<double>{2});
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(ran, 2);
  pool.advance(1s + 1us);
  pool.run_all();
  EXPECT_EQ(ran, 3);
  EXPECT_THROW((void)sleep_until(seconds{std::chrono::duration<double>{
                   std::numeric_limits<double>::quiet_NaN()}}),
               std::invalid_argument);
}

// Periodic.

TEST(EveryTest, TicksOnAGridFromItsActivation) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, every(10ms, [&] { ++ran; }));
  pool.run_all();
  EXPECT_EQ(ran, 0); // not at once
  for (int i = 1; i <= 5; ++i) {
    pool.advance(10ms);
    pool.run_all();
    EXPECT_EQ(ran, i);
  }
}

TEST(EveryTest, LatenessDoesNotAddUp) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<std::chrono::milliseconds> ticks;
  const auto start = pool.now();
  activate(queue, every(10ms, [&] {
             ticks.push_back(
                 std::chrono::duration_cast<std::chrono::milliseconds>(
                     pool.now() - start));
           }));
  pool.advance(13ms); // 3 late
  pool.run_all();
  pool.advance(6ms); // 19
  pool.run_all();
  pool.advance(1ms); // 20
  pool.run_all();
  EXPECT_EQ(ticks, (std::vector{13ms, 20ms}));
}

TEST(EveryTest, AStallIsMadeUpByOneTickAtMost) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, every(10ms, [&] { ++ran; }));
  pool.advance(1'005ms); // a hundred ticks
  pool.run_all();
  EXPECT_EQ(ran, 1);
  pool.advance(5ms); // 1010: back on the grid
  pool.run_all();
  EXPECT_EQ(ran, 2);
}

TEST(EveryTest, ItsHandlerNeverOverlapsItself) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::atomic<int> ran{0};
  std::promise<void> enough;
  activation ticking =
      activate(queue, every(1ms, [&] {
                 overlaps += ++inside == 1 ? 0 : 1;
                 const auto entered = std::chrono::steady_clock::now();
                 while (std::chrono::steady_clock::now() - entered < 3ms) {
                   std::this_thread::yield(); // longer than a period
                 }
                 --inside;
                 if (++ran == 4) {
                   enough.set_value();
                 }
               }));
  enough.get_future().wait();
  ticking.cancel();
  ticking.wait();
  EXPECT_EQ(overlaps, 0);
}

TEST(EveryTest, CanBeCancelledInItsOwnHandler) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activation ticking;
  ticking = activate(queue, every(10ms, [&, own = tracked{counts}] {
                       ++ran;
                       EXPECT_TRUE(ticking.cancel());
                       EXPECT_FALSE(ticking.cancel());
                       EXPECT_EQ(counts.alive, 1);
                     }));
  pool.advance(10ms);
  pool.run_all();
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST(EveryTest, ACancelledTickDoesNotStart) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activation ticking =
      activate(queue, every(10ms, [&, own = tracked{counts}] { ++ran; }));
  dispatcher_queue first{pool};
  spawn(first, [&] { EXPECT_TRUE(ticking.cancel()); });
  queue.suspend();
  pool.advance(10ms);
  pool.run_all(); // the tick is in line now
  queue.resume();
  pool.run_all();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(counts.alive, 0);
}

TEST(EveryTest, ASuspendedQueueCostsTicksButOne) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, every(10ms, [&] { ++ran; }));
  queue.suspend();
  for (int i = 0; i < 10; ++i) {
    pool.advance(10ms);
    pool.run_all();
  }
  queue.resume();
  pool.run_all();
  EXPECT_GE(ran, 1);
  EXPECT_LE(ran, 2); // the one in line, and one made up
  const int before = ran;
  pool.advance(10ms);
  pool.run_all();
  EXPECT_EQ(ran, before + 1);
}

TEST(EveryTest, AHandlerThatThrowsTicksOn) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, every(10ms, [&] {
             ++ran;
             throw std::runtime_error{"broken"};
           }));
  for (int i = 0; i < 3; ++i) {
    pool.advance(10ms);
    pool.run_all();
  }
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(pool.pool().unhandled_failures(), 3U);
}

TEST(EveryTest, ClosingItsQueueInItsHandlerEndsIt) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const activation ticking = activate(
      queue, every(10ms, [&, own = tracked{counts}] { queue.close(); }));
  pool.advance(10ms);
  pool.run_all();
  EXPECT_FALSE(ticking.active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST(EveryTest, APeriodThatIsNotPositiveIsMisuse) {
  EXPECT_THROW((void)every(0s, [] {}), std::invalid_argument);
  EXPECT_THROW((void)every(-1s, [] {}), std::invalid_argument);
  EXPECT_THROW((void)every(std::chrono::duration<double>{1e-12}, [] {}),
               std::invalid_argument);
}

TEST(EveryTest, AHugePeriodNeverTicks) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  int ran = 0;
  activate(queue, every(std::chrono::hours::max(), [&] { ++ran; }));
  pool.advance(24h * 365 * 100);
  pool.run_all();
  EXPECT_EQ(ran, 0);
}

TEST(EveryTest, TicksOnARealClock) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::promise<void> third;
  int ran = 0;
  const auto start = std::chrono::steady_clock::now();
  const activation ticking = activate(queue, every(1ms, [&] {
                                        if (++ran == 3) {
                                          third.set_value();
                                        }
                                      }));
  third.get_future().wait();
  EXPECT_GE(std::chrono::steady_clock::now() - start, 2ms);
}

} // namespace
} // namespace wharf

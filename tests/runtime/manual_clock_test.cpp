#include <wharf/manual_clock.hpp>

#include <wharf/detail/dispatcher_access.hpp>
#include <wharf/wharf.hpp>

#include "support/gate.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::gate;
using test::scaled;

using time_point = manual_clock::time_point;

TEST(ManualClockTest, StandsStillUntilItIsMoved) {
  manual_clock clock;
  const time_point start = clock.now();
  EXPECT_GT(start, time_point{});
  clock.advance(1s);
  EXPECT_EQ(clock.now(), start + 1s);
  clock.advance(0s);
  EXPECT_EQ(clock.now(), start + 1s);
  clock.set(start + 1h);
  clock.set(start + 1h);
  EXPECT_EQ(clock.now(), start + 1h);
  EXPECT_EQ(manual_clock{time_point{5s}}.now(), time_point{5s});
}

TEST(ManualClockTest, DoesNotGoBackwards) {
  manual_clock clock;
  const time_point start = clock.now();
  EXPECT_THROW(clock.advance(-1ns), std::invalid_argument);
  EXPECT_THROW(clock.set(start - 1ns), std::invalid_argument);
  EXPECT_THROW(clock.advance(std::chrono::hours::min()), std::invalid_argument);
  EXPECT_THROW(clock.advance(std::chrono::duration<double>{
                   std::numeric_limits<double>::quiet_NaN()}),
               std::invalid_argument);
  EXPECT_EQ(clock.now(), start);
}

TEST(ManualClockTest, EndsBeforeWhatIsNeverDue) {
  for (const bool by_set : {true, false}) {
    manual_clock clock;
    dispatcher pool{{.threads = 2, .clock = &clock}};
    dispatcher_queue queue{pool};
    std::atomic<int> ran{0};
    activate(queue, after(std::chrono::hours::max(), [&] { ++ran; }));
    if (by_set) {
      clock.set(time_point::max());
    } else {
      clock.advance(std::chrono::hours::max());
      clock.advance(std::chrono::hours::max());
    }
    pool.drain();
    EXPECT_EQ(ran, 0);
  }
}

TEST(ManualClockTest, IsTheTimeOfItsDispatchers) {
  manual_clock clock;
  dispatcher one{{.threads = 1, .clock = &clock}};
  dispatcher other{{.threads = 2, .clock = &clock}};
  dispatcher real{{.threads = 1}};
  EXPECT_EQ(one.now(), clock.now());
  clock.advance(1s);
  EXPECT_EQ(one.now(), clock.now());
  EXPECT_EQ(other.now(), clock.now());
  const auto before = std::chrono::steady_clock::now();
  const auto now = real.now();
  EXPECT_GE(now, before);
  EXPECT_LE(now, std::chrono::steady_clock::now());
}

class ManualClockPoolTest : public ::testing::TestWithParam<std::size_t> {
protected:
  manual_clock clock;
  dispatcher pool{{.threads = GetParam(), .clock = &clock}};
  dispatcher_queue queue{pool};
};

TEST_P(ManualClockPoolTest, FiresWhatIsDueAndNothingElse) {
  std::atomic<int> ran{0};
  activate(queue, after(10ms, [&] { ++ran; }));
  activate(queue, after(10ms + 1ns, [&] { ran += 100; }));
  pool.drain();
  EXPECT_EQ(ran, 0);
  clock.advance(10ms - 1ns);
  pool.drain();
  EXPECT_EQ(ran, 0);
  clock.advance(1ns);
  pool.drain();
  EXPECT_EQ(ran, 1);
  clock.advance(1h);
  pool.drain();
  EXPECT_EQ(ran, 101);
}

// Zero and past need no move of the clock.
TEST_P(ManualClockPoolTest, FiresAtOnceWhatIsDueAlready) {
  std::atomic<int> ran{0};
  for (int i = 1; i <= scaled(1'000); ++i) {
    activate(queue, after(0s, [&] { ++ran; }));
    activate(queue, after(-1s, [&] { ++ran; }));
    pool.drain();
    EXPECT_EQ(ran, 2 * i);
  }
}

// The crowd is larger than what one turn fires.
TEST_P(ManualClockPoolTest, DrainsACrowdThatIsDueAtOnce) {
  const int crowd = scaled(10'000);
  std::atomic<int> ran{0};
  for (int i = 0; i < crowd; ++i) {
    activate(queue, after(1s, [&] { ++ran; }));
  }
  clock.advance(1s);
  pool.drain();
  EXPECT_EQ(ran, crowd);
}

task<void> sleeper(manual_clock& clock, int naps) {
  for (int i = 0; i < naps; ++i) {
    clock.advance(1s); // others sleep too: it may wake them
    co_await sleep_for(0s);
  }
}

TEST_P(ManualClockPoolTest, IsMovedByHandlersToo) {
  const time_point start = clock.now();
  std::atomic<int> woken{0};
  activate(queue, after(200s, [&] { ++woken; }));
  sync_wait(queue, when_all(sleeper(clock, 100), sleeper(clock, 100)));
  pool.drain();
  EXPECT_EQ(clock.now(), start + 200s);
  EXPECT_EQ(woken, 1);
}

// Goal: no timer is missed that is armed while the clock moves.
// Method: one thread arms timers of a few ticks, another one moves the clock
// by a tick at a time; in the end all that are due have run.
TEST_P(ManualClockPoolTest, MissesNoTimerThatIsArmedWhileItMoves) {
  detail::dispatcher_access::set_sentinel(pool, false);
  const int each = scaled(20'000);
  std::vector<activation> armed;
  test::race(2, [&](std::size_t racer) {
    test::dice random{racer};
    for (int i = 0; i < each; ++i) {
      if (racer == 0) {
        armed.push_back(activate(
            queue, after(std::chrono::nanoseconds{random.roll(3)}, [] {})));
      } else {
        clock.advance(1ns);
      }
      test::linger(random.roll(1'000));
    }
  });
  clock.advance(3ns);
  for (const activation& one : armed) {
    one.wait();
  }
  EXPECT_EQ(detail::dispatcher_access::pending_timers(pool), 0U);
}

// Each move is waited for, so a worker must wake up for each.
TEST_P(ManualClockPoolTest, WakesASleepingPoolEachTime) {
  detail::dispatcher_access::set_sentinel(pool, false);
  for (int i = 0; i < scaled(2'000); ++i) {
    const activation one = activate(queue, after(1s, [] {}));
    clock.advance(1s);
    one.wait();
  }
}

// Goal: neither a worker that falls asleep nor drain() misses a move.
// Method: the clock moves a random, short time after the workers have become
// idle, when they may just be on their way to sleep.
TEST_P(ManualClockPoolTest, MissesNoMoveWhileWorkersFallAsleep) {
  detail::dispatcher_access::set_sentinel(pool, false);
  test::dice random{1};
  std::atomic<int> ran{0};
  std::atomic<int> woken{0};
  for (int i = 1; i <= scaled(2'000) && !HasFailure(); ++i) {
    activate(queue, after(1s, [&] { ++ran; }));
    spawn(queue, [&] { ++woken; });
    while (woken != i) {
      std::this_thread::yield(); // no sleep: that would outlast theirs
    }
    test::linger(random.roll(50'000));
    clock.advance(1s);
    pool.drain();
    EXPECT_EQ(ran, i);
  }
}

TEST_P(ManualClockPoolTest, MovedByManyThreadsItAddsUp) {
  const time_point start = clock.now();
  const int each = scaled(10'000);
  std::atomic<int> ticks{0};
  activate(queue, every(1ms, [&] { ++ticks; }));
  test::race(4, [&](std::size_t) {
    for (int i = 0; i < each; ++i) {
      clock.advance(1us);
    }
  });
  EXPECT_EQ(clock.now(), start + 4 * each * 1us);
  pool.drain();
  EXPECT_LE(ticks, 4 * each / 1'000);
}

INSTANTIATE_TEST_SUITE_P(Workers, ManualClockPoolTest, ::testing::Values(1, 4));

TEST(ManualClockTest, MovesTheTimersOfAllItsDispatchers) {
  manual_clock clock;
  dispatcher one{{.threads = 1, .clock = &clock}};
  dispatcher other{{.threads = 2, .clock = &clock}};
  dispatcher_queue here{one};
  dispatcher_queue there{other};
  std::atomic<int> ran{0};
  activate(here, after(1s, [&] { ++ran; }));
  activate(there, after(1s, [&] { ++ran; }));
  clock.advance(1s);
  one.drain();
  other.drain();
  EXPECT_EQ(ran, 2);
}

// Goal: several workers that fire do not mix up the order.
// Method: a crowd becomes due while all workers are awake and the queue is
// suspended; then one worker serves what they have put in line.
TEST(ManualClockTest, EqualDueTimesAreInLineInTheOrderOfArming) {
  manual_clock clock;
  dispatcher pool{{.threads = 4, .clock = &clock}};
  dispatcher_queue queue{pool};
  dispatcher_queue busy{pool};
  const int crowd = 2'000;
  for (int round = 0; round < scaled(100) && !HasFailure(); ++round) {
    std::vector<int> order;
    for (int i = 0; i < crowd; ++i) {
      activate(queue, after(1s, [&, i] { order.push_back(i); }));
    }
    queue.suspend();
    for (int i = 0; i < 1'000; ++i) {
      spawn(busy, [] { test::linger(10'000); });
    }
    clock.advance(1s);
    pool.drain();
    gate held;
    for (int i = 0; i < 3; ++i) {
      spawn(busy, [&] { held.pass(); });
    }
    held.wait_for(3);
    queue.resume();
    spawn(queue, [] {}).wait();
    held.open();
    pool.drain();
    EXPECT_EQ(order.size(), static_cast<std::size_t>(crowd));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  }
}

// A worker is busy; another one is woken for the timer.
TEST(ManualClockTest, ABusyWorkerHoldsUpNoTimer) {
  manual_clock clock;
  dispatcher pool{{.threads = 2, .clock = &clock}};
  dispatcher_queue busy{pool};
  dispatcher_queue queue{pool};
  gate held;
  spawn(busy, [&] { held.pass(); });
  held.wait_for(1);
  for (int i = 0; i < scaled(100); ++i) {
    const activation one = activate(queue, after(1s, [] {}));
    clock.advance(1s);
    one.wait();
  }
  held.open();
}

TEST(ManualClockTest, MayEndBeforeItsDispatchers) {
  auto clock = std::make_unique<manual_clock>();
  dispatcher pool{{.threads = 2, .clock = clock.get()}};
  dispatcher_queue queue{pool};
  std::atomic<int> ran{0};
  activate(queue, after(1s, [&] { ran += 100; }));
  const time_point last = clock->now();
  clock.reset();
  EXPECT_EQ(pool.now(), last);
  activate(queue, after(0s, [&] { ++ran; }));
  pool.drain();
  EXPECT_EQ(ran, 1);
}

TEST(ManualClockTest, MayOutliveItsDispatchersAndTheirQueues) {
  manual_clock clock;
  std::optional<dispatcher> pool{std::in_place,
                                 dispatcher_options{.clock = &clock}};
  std::optional<dispatcher_queue> queue{std::in_place, *pool};
  const activation one = activate(*queue, after(1s, [] {}));
  pool.reset();
  EXPECT_FALSE(one.active());
  clock.advance(1s); // the queue still refers to the dispatcher's core
  queue.reset();
  clock.advance(1s);
}

// Goal: a dispatcher may end while its clock is moved.
TEST(ManualClockTest, MayBeMovedWhileADispatcherEnds) {
  manual_clock clock;
  std::optional<dispatcher> pool;
  std::optional<dispatcher_queue> queue;
  test::race(
      2, scaled(300),
      [&](int) {
        pool.emplace(dispatcher_options{.threads = 2, .clock = &clock});
        queue.emplace(*pool);
        activate(*queue, every(1ms, [] {}));
        activate(*queue, after(1ms, [] {}));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          queue.reset();
          pool.reset();
        } else {
          for (int i = 0; i < 20; ++i) {
            clock.advance(1ms);
          }
        }
      },
      [] {});
}

TEST(ManualClockTest, IsNotForPredicates) {
  manual_clock clock;
  dispatcher pool{{.threads = 1, .clock = &clock}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  const time_point start = clock.now();
  activate(queue, receive(numbers, [](int) {}).when([&](int) {
    clock.advance(1s);
    return true;
  }));
  numbers.post(1);
  EXPECT_EQ(pool.unhandled_failures(), 1U);
  EXPECT_EQ(clock.now(), start);
}

} // namespace
} // namespace wharf

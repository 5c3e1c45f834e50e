// Huge, zero, past, drift, catch-up: what arithmetic does to timers.

#include <wharf/wharf.hpp>

#include "allocation_count.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using test::live_bytes;
using test::scaled;
using test::test_dispatcher;
using clock = std::chrono::steady_clock;
using fraction = std::chrono::duration<double>;

constexpr hours century{24 * 365 * 100};
// The shortest of the huge ones, max() / 10 in ns, is 29 years.
constexpr hours decades{24 * 365 * 20};
const fraction infinite{std::numeric_limits<double>::infinity()};
const fraction no_number{std::numeric_limits<double>::quiet_NaN()};

/// Calls `f` with durations that practically never end; returns how many.
template <class F>
std::size_t each_huge(F f) {
  std::size_t count = 0;
  const auto one = [&](auto d) {
    f(d);
    ++count;
  };
  const auto fractions_of_max = [&](auto max) {
    one(max);
    one(max / 10);
  };
  fractions_of_max(nanoseconds::max());
  fractions_of_max(microseconds::max());
  fractions_of_max(seconds::max());
  fractions_of_max(hours::max());
  fractions_of_max(fraction::max());
  one(nanoseconds{century});
  one(microseconds{century});
  one(seconds{century});
  one(fraction{century});
  one(infinite);
  return count;
}

/// Calls `f` with durations that are over before they begin.
template <class F>
std::size_t each_past(F f) {
  std::size_t count = 0;
  const auto one = [&](auto d) {
    f(d);
    ++count;
  };
  const auto all = [&](auto min) {
    one(min);
    one(min.zero());
    one(std::chrono::duration_cast<decltype(min)>(-1s));
  };
  all(nanoseconds::min());
  all(microseconds::min());
  all(seconds::min());
  all(fraction{-fraction::max()});
  one(hours::min());
  one(-infinite);
  return count;
}

// Where durations are taken. Each counts in `fired` when the time is over.

struct as_delay {
  template <class Duration>
  static void start(dispatcher_queue& queue, std::atomic<std::size_t>& fired,
                    Duration d) {
    activate(queue, after(d, [&fired] { ++fired; }));
  }
};

struct as_timeout_of_a_choice {
  template <class Duration>
  static void start(dispatcher_queue& queue, std::atomic<std::size_t>& fired,
                    Duration d) {
    port<int> silent;
    activate(queue, choice(receive(silent, [&fired](int) { fired += 1'000; }),
                           after(d, [&fired, silent] { ++fired; })));
  }
};

struct as_awaited_delay {
  template <class Duration>
  static task<void> wait(std::atomic<std::size_t>& fired, Duration d) {
    const timeout over = co_await after(d);
    fired += over == timeout{} ? 1 : 0;
  }
  template <class Duration>
  static void start(dispatcher_queue& queue, std::atomic<std::size_t>& fired,
                    Duration d) {
    spawn(queue, wait(fired, d));
  }
};

struct as_timeout_of_an_awaited_choice {
  template <class Duration>
  static task<void> wait(std::atomic<std::size_t>& fired, Duration d) {
    port<int> silent;
    const auto which = co_await choice(receive(silent), after(d));
    fired += which.index();
  }
  template <class Duration>
  static void start(dispatcher_queue& queue, std::atomic<std::size_t>& fired,
                    Duration d) {
    spawn(queue, wait(fired, d));
  }
};

struct as_sleep {
  template <class Duration>
  static task<void> wait(std::atomic<std::size_t>& fired, Duration d) {
    co_await sleep_for(d);
    ++fired;
  }
  template <class Duration>
  static void start(dispatcher_queue& queue, std::atomic<std::size_t>& fired,
                    Duration d) {
    spawn(queue, wait(fired, d));
  }
};

template <class Use>
class TimerArithmeticTest : public ::testing::Test {
protected:
  std::atomic<std::size_t> fired{0};
};
using uses =
    ::testing::Types<as_delay, as_timeout_of_a_choice, as_awaited_delay,
                     as_timeout_of_an_awaited_choice, as_sleep>;
TYPED_TEST_SUITE(TimerArithmeticTest, uses);

// Right behaviour: huge = does not fire.
TYPED_TEST(TimerArithmeticTest, HugeDoesNotFire) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  const std::size_t count =
      each_huge([&](auto d) { TypeParam::start(queue, this->fired, d); });
  world.run_all();
  EXPECT_EQ(world.pending_timers(), count);
  world.advance(decades);
  world.run_all();
  EXPECT_EQ(this->fired, 0U);
  EXPECT_EQ(world.pending_timers(), count);
}

// Right behaviour: no CPU use, does not block the end.
TYPED_TEST(TimerArithmeticTest, HugeUsesNoProcessorAndDoesNotBlockTheEnd) {
  {
    dispatcher pool{{.threads = 4}};
    dispatcher_queue queue{pool};
    each_huge([&](auto d) { TypeParam::start(queue, this->fired, d); });
    pool.drain();
    const std::clock_t before = std::clock();
    activate(queue, after(100ms, [] {})).wait();
    const std::clock_t used = std::clock() - before;
    EXPECT_LT(used, CLOCKS_PER_SEC / 20);
  }
  EXPECT_EQ(this->fired, 0U);
}

// Right behaviour: zero or past = fires once, promptly, through the queue.
TYPED_TEST(TimerArithmeticTest, ZeroAndPastFireOncePromptlyThroughTheQueue) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  const std::size_t count =
      each_past([&](auto d) { TypeParam::start(queue, this->fired, d); });
  EXPECT_EQ(this->fired, 0U); // not inside the call
  queue.suspend();
  world.run_all();
  EXPECT_EQ(this->fired, 0U);
  queue.resume();
  world.run_all(); // the clock has not moved
  EXPECT_EQ(this->fired, count);
  EXPECT_EQ(world.pending_timers(), 0U);
  world.advance(century);
  world.run_all();
  EXPECT_EQ(this->fired, count);
}

TYPED_TEST(TimerArithmeticTest, ZeroAndPastFireOnceOnRealThreads) {
  manual_clock standing;
  for (manual_clock* time : {static_cast<manual_clock*>(nullptr), &standing}) {
    this->fired = 0;
    dispatcher pool{{.threads = 4, .clock = time}};
    dispatcher_queue queue{pool};
    const std::size_t count =
        each_past([&](auto d) { TypeParam::start(queue, this->fired, d); });
    while (this->fired < count) {
      std::this_thread::yield(); // else ctest's time-out
    }
    pool.drain();
    EXPECT_EQ(this->fired, count);
  }
}

task<void> sleep_to(std::atomic<int>& woken, clock::time_point due) {
  co_await sleep_until(due);
  ++woken;
}

TEST(TimerArithmeticSleepTest, UntilThePastAndTheEndsOfTheClock) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  std::atomic<int> woken{0};
  for (const auto past : {clock::time_point::min(), clock::time_point{},
                          world.now() - 1ns, world.now()}) {
    spawn(queue, sleep_to(woken, past));
  }
  world.run_all();
  EXPECT_EQ(woken, 4);
  for (const auto future :
       {clock::time_point::max(), clock::time_point::max() - 1ns,
        world.now() + century}) {
    spawn(queue, sleep_to(woken, future));
  }
  world.run_all();
  world.advance(decades);
  world.run_all();
  EXPECT_EQ(woken, 4);
  EXPECT_EQ(world.pending_timers(), 3U);
}

// Scenario: NaN seconds where floating types are taken.
TEST(TimerArithmeticRulesTest, WhatIsNoNumberIsRefused) {
  manual_clock time;
  EXPECT_THROW((void)after(no_number, [] {}), std::invalid_argument);
  EXPECT_THROW((void)after(no_number), std::invalid_argument);
  EXPECT_THROW((void)sleep_for(no_number), std::invalid_argument);
  EXPECT_THROW((void)sleep_until(
                   std::chrono::time_point<std::chrono::steady_clock, fraction>{
                       no_number}),
               std::invalid_argument);
  EXPECT_THROW((void)every(no_number, [] {}), std::invalid_argument);
  EXPECT_THROW(time.advance(no_number), std::invalid_argument);
}

// Right behaviour: period 0 or negative is refused; a huge one never ticks.
TEST(TimerArithmeticRulesTest, AsPeriodPastIsRefusedAndHugeNeverTicks) {
  each_past([](auto d) {
    EXPECT_THROW((void)every(d, [] {}), std::invalid_argument);
  });
  test_dispatcher world;
  dispatcher_queue queue{world};
  int ticks = 0;
  each_huge([&](auto d) { activate(queue, every(d, [&] { ++ticks; })); });
  world.run_all();
  world.advance(decades);
  world.run_all();
  EXPECT_EQ(ticks, 0);
}

/// Threads of a dispatcher on a hand-set clock.
class TimerGridTest : public ::testing::TestWithParam<std::size_t> {
protected:
  /// Lets time pass in uneven steps, and everything run that becomes due.
  void pass(clock::duration span) {
    const auto end = time.now() + span;
    for (auto step = 1ms; time.now() < end; step = step % 7 + 1ms) {
      time.set(std::min(time.now() + step, end));
      pool.drain();
    }
  }

  manual_clock time;
  dispatcher pool{{.threads = GetParam(), .clock = &time}};
  dispatcher_queue queue{pool};
};

// Scenario: period 10 ms for 3 s; then one handler that takes 200 ms.
// Right behaviour: within one of 300 with no growing offset; after the stall
// at most one tick is made up.
TEST_P(TimerGridTest, APeriodDoesNotDriftAndMakesUpOneTickAtMost) {
  const auto start = time.now();
  std::vector<clock::duration> late; // behind its point of the grid, per tick
  bool stall = false;
  activate(queue, every(10ms, [&] {
             late.push_back((time.now() - start) % 10ms);
             if (stall) {
               stall = false;
               time.advance(200ms);
             }
           }));
  pass(3s);
  EXPECT_NEAR(static_cast<double>(late.size()), 300.0, 1.0);
  EXPECT_LT(*std::max_element(late.begin(), late.end()), 8ms); // one step

  const std::size_t before = late.size();
  stall = true;
  pass(10ms); // one tick, which takes 200 ms
  pool.drain();
  EXPECT_GE(late.size() - before, 1U);
  EXPECT_LE(late.size() - before, 2U); // and one made up
  const std::size_t after_stall = late.size();
  pass(1s); // back on the grid
  EXPECT_NEAR(static_cast<double>(late.size() - after_stall), 100.0, 1.0);
  EXPECT_LT(
      *std::max_element(late.begin() + static_cast<std::ptrdiff_t>(after_stall),
                        late.end()),
      8ms);
}

task<void> tick(dispatcher& pool, int& ticks) {
  for (auto next = pool.now();; ++ticks) {
    next += 10ms;
    co_await sleep_until(next);
  }
}

// The same grid from a coroutine; it makes up every tick that it missed.
TEST_P(TimerGridTest, ALoopOfSleepsUntilDoesNotDrift) {
  int ticks = 0;
  spawn(queue, tick(pool, ticks));
  pass(3s);
  EXPECT_NEAR(ticks, 300.0, 1.0);
  time.advance(200ms);
  pool.drain();
  EXPECT_NEAR(ticks, 320.0, 1.0);
}

INSTANTIATE_TEST_SUITE_P(Workers, TimerGridTest, ::testing::Values(1, 4));

// Scenario: 10^5 timers with equal due time, of all kinds mixed.
// Right behaviour: they keep their arming order.
TEST(TimerArithmeticRulesTest, EqualDueTimesKeepTheirArmingOrder) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  const auto due = world.now() + 1s;
  const int count = scaled(100'000);
  std::vector<int> order;
  const auto sleeper = [](auto when, std::vector<int>& to,
                          int n) -> task<void> {
    co_await sleep_until(when);
    to.push_back(n);
  };
  port<int> silent;
  for (int i = 0; i < count; ++i) {
    const auto note = [&order, i] { order.push_back(i); };
    if (i % 3 == 0) {
      activate(queue, after(1s, note));
    } else if (i % 3 == 1) {
      activate(queue, choice(receive(silent, [](int) {}), after(1s, note)));
    } else {
      spawn(queue, sleeper, due, std::ref(order), i);
      world.run_all(); // it arms when it runs
    }
  }
  world.advance(1s);
  world.run_all();
  EXPECT_EQ(order.size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

/// Arms and cancels so many timers; returns the processor time it took.
std::clock_t arm_and_cancel(dispatcher_queue& queue, std::size_t count) {
  std::vector<activation> armed(count);
  const std::clock_t start = std::clock();
  for (std::size_t i = 0; i < count; ++i) {
    // Due times in no order, so that cancels take from the middle.
    armed[i] =
        activate(queue, after(1h + microseconds{i * 7'919 % count}, [] {}));
  }
  for (activation& each : armed) {
    EXPECT_TRUE(each.cancel());
  }
  return std::clock() - start;
}

// A million pending timers cost each what few cost, and leave nothing behind.
TEST(TimerArithmeticRulesTest, AMillionTimersAreLinearAndGivenBack) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  const auto half = static_cast<std::size_t>(scaled(500'000));
  arm_and_cancel(queue, 1'000);
  const std::ptrdiff_t level = live_bytes();
  double best = std::numeric_limits<double>::max(); // the least disturbed try
  for (int tries = 0; tries < 5 && best > 3.0; ++tries) {
    const auto one = static_cast<double>(arm_and_cancel(queue, half));
    const auto two = static_cast<double>(arm_and_cancel(queue, 2 * half));
    best = std::min(best, two / one);
  }
  EXPECT_LE(best, 3.0); // 2 and a logarithm; 4 if it were quadratic
  EXPECT_EQ(world.pending_timers(), 0U);
  EXPECT_LE(live_bytes() - level, 64 * 1024);
}

// As the grace of a shutdown: huge waits for what runs and not longer, zero and
// past end at once, and what is no number is refused.
TEST(TimerArithmeticRulesTest, AsGraceOfAShutdown) {
  each_huge([](auto grace) {
    dispatcher pool{{.threads = 1}};
    dispatcher_queue queue{pool};
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
      spawn(queue, [&ran] { ++ran; });
    }
    const shutdown_report report = pool.shutdown(grace);
    EXPECT_TRUE(report.finished);
    EXPECT_TRUE(report.drained);
    EXPECT_EQ(ran, 100);
  });
  for (const nanoseconds grace :
       {nanoseconds{0}, nanoseconds{-1s}, nanoseconds::min()}) {
    test_dispatcher world;
    dispatcher_queue queue{world};
    const auto sleeps = []() -> task<void> { co_await sleep_for(1h); };
    spawn(queue, sleeps);
    world.run_all();
    EXPECT_TRUE(world.pool().shutdown(grace).finished);
  }
  dispatcher pool{{.threads = 1}};
  EXPECT_THROW(pool.shutdown(no_number), std::invalid_argument);
}

} // namespace
} // namespace wharf

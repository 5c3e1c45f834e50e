#include <wharf/dispatcher.hpp>

#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/activate.hpp>
#include <wharf/after.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>
#include <wharf/sync_wait.hpp>
#include <wharf/task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::take_whats;
using test::tally;
using test::test_dispatcher;
using test::tracked;

TEST(DispatcherTest, HasAtLeastTwoThreadsUnlessToldOtherwise) {
  const dispatcher usual;
  EXPECT_GE(usual.threads(), 2U);
  const dispatcher small{{.threads = 1}};
  EXPECT_EQ(small.threads(), 1U);
}

task<std::size_t> length_of_name(dispatcher_options options) {
  co_return std::string_view{options.name}.size();
}
task<std::size_t> sum_of_lengths() {
  const std::size_t one = co_await length_of_name(
      {.name = "longer than a string in place"}); // coroutine-lint: trivial
  const std::size_t cut = co_await length_of_name(
      {.name = std::string(100, 'x')}); // coroutine-lint: trivial
  co_return one + cut;
}

// g++ 12 destroys such a temporary twice.
TEST(DispatcherTest, ItsOptionsMayStandInAnExpressionWithCoAwait) {
  dispatcher pool;
  dispatcher_queue queue{pool};
  EXPECT_EQ(sync_wait(queue, sum_of_lengths()), 29U + 47U);
}

TEST(DispatcherTest, HandlersOverlapOnItsThreads) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::latch both{2}; // each waits for the other
  spawn(queue, [&] { both.arrive_and_wait(); });
  spawn(queue, [&] { both.arrive_and_wait(); });
  pool.drain();
  EXPECT_TRUE(both.try_wait());
}

TEST(DispatcherTest, DrainReturnsWhenEverythingHasRun) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue first{pool};
  dispatcher_queue second{pool};
  port<int> countdown;
  std::atomic<int> ran{0};
  activate(first, receive(persist, countdown, [&](int n) {
             ++ran;
             if (n > 0) {
               spawn(second, [&, n] { countdown.post(n - 1); });
             }
           }));
  countdown.post(1'000);
  pool.drain();
  EXPECT_EQ(ran, 1'001);
}

TEST(DispatcherTest, DrainIgnoresSuspendedQueuesTimersAndUnwantedMessages) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  dispatcher_queue halted{pool};
  halted.suspend();
  int ran = 0;
  spawn(halted, [&] { ++ran; });
  activate(queue, after(24h, [] {}));
  port<int> unwanted;
  unwanted.post(1);
  pool.drain();
  EXPECT_EQ(ran, 0);
}

TEST(DispatcherTest, DrainOnAWorkerIsMisuse) {
  dispatcher pool{{.threads = 1}};
  dispatcher other{{.threads = 1}};
  dispatcher_queue queue{pool};
  int refused = 0;
  for (dispatcher* each : {&pool, &other}) {
    spawn(queue, [&, each] {
      try {
        each->drain();
      } catch (const std::logic_error&) {
        ++refused;
      }
    });
  }
  pool.drain();
  EXPECT_EQ(refused, 2);
}

TEST(DispatcherTest, ServesItsQueuesInTurn) {
  test_dispatcher pool;
  dispatcher_queue flooded{pool};
  dispatcher_queue quiet{pool};
  int flood = 0;
  for (int i = 0; i < 1'000; ++i) {
    spawn(flooded, [&] { ++flood; });
  }
  int before = -1;
  spawn(quiet, [&] { before = flood; });
  pool.run_all();
  EXPECT_GE(before, 0);
  EXPECT_LE(before, 2);
}

TEST(DispatcherTest, AFloodOfOnePortDoesNotDelayOtherQueues) {
  test_dispatcher pool;
  dispatcher_queue flooded{pool};
  dispatcher_queue quiet{pool};
  port<int> numbers;
  int flood = 0;
  activate(flooded, receive(persist, numbers, [&](int) { ++flood; }));
  for (int i = 0; i < 1'000; ++i) {
    numbers.post(i);
  }
  int before = -1;
  spawn(quiet, [&] { before = flood; });
  pool.run_all();
  EXPECT_GE(before, 0);
  EXPECT_LE(before, 2);
}

TEST(DispatcherTest, AFailureGoesToTheQueuesPortOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> of_queue;
  const port<std::exception_ptr> of_pool;
  queue.on_failure(of_queue);
  pool.pool().on_failure(of_pool);
  spawn(queue, [] { throw std::runtime_error{"broken"}; });
  pool.run_all();
  EXPECT_EQ(take_whats(of_queue), std::vector<std::string>{"broken"});
  EXPECT_EQ(of_pool.size(), 0U);
  EXPECT_EQ(pool.pool().unhandled_failures(), 0U);
}

TEST(DispatcherTest, AFailureOfAQueueWithoutAPortGoesToTheDispatchersPort) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> of_pool;
  pool.pool().on_failure(of_pool);
  spawn(queue, [] { throw std::runtime_error{"broken"}; });
  pool.run_all();
  EXPECT_EQ(take_whats(of_pool), std::vector<std::string>{"broken"});
  EXPECT_EQ(pool.pool().unhandled_failures(), 0U);
}

TEST(DispatcherTest, AClosedFailurePortFallsToTheNext) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<std::exception_ptr> of_queue;
  port<std::exception_ptr> of_pool;
  queue.on_failure(of_queue);
  pool.pool().on_failure(of_pool);
  of_queue.close();
  spawn(queue, [] { throw std::runtime_error{"first"}; });
  pool.run_all();
  EXPECT_EQ(take_whats(of_pool), std::vector<std::string>{"first"});
  of_pool.close();
  spawn(queue, [] { throw std::runtime_error{"second"}; });
  pool.run_all();
  EXPECT_EQ(pool.pool().unhandled_failures(), 1U);
}

TEST(DispatcherTest, AFailureThatReachesNoPortIsCounted) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  spawn(queue, [] { throw 42; });
  spawn(queue, [] { throw std::runtime_error{"broken"}; });
  pool.run_all();
  EXPECT_EQ(pool.pool().unhandled_failures(), 2U);
}

TEST(DispatcherTest, HoldsItsFailurePortOpen) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<std::string> got;
  {
    const port<std::exception_ptr> failures;
    pool.pool().on_failure(failures);
    activate(queue, receive(failures, [&](const std::exception_ptr& error) {
               got.push_back(test::what(error));
             }));
  }
  spawn(queue, [] { throw std::runtime_error{"broken"}; });
  pool.run_all();
  EXPECT_EQ(got, std::vector<std::string>{"broken"});
}

TEST(DispatcherTest, ItsEndDestroysWhatHasNotStartedAndGivesBack) {
  tally counts;
  port<int> numbers;
  std::optional<test_dispatcher> pool{std::in_place};
  dispatcher_queue queue{*pool};
  int ran = 0;
  const activation waiting =
      activate(queue, receive(persist, numbers,
                              [&, captured = tracked{counts}](int) { ++ran; }));
  numbers.post(1);
  numbers.post(2);
  spawn(queue, [&, captured = tracked{counts}] { ++ran; });
  EXPECT_EQ(counts.alive, 2);
  pool.reset();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_FALSE(waiting.active());
  EXPECT_EQ(queue.discarded(), 1U);
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2}));
}

TEST(DispatcherTest, AQueueHandleThatOutlivesItRefusesWork) {
  tally counts;
  std::optional<test_dispatcher> pool{std::in_place};
  dispatcher_queue queue{*pool};
  pool.reset();
  port<int> numbers;
  numbers.post(1);
  EXPECT_TRUE(queue.closed());
  EXPECT_FALSE(spawn(queue, [captured = tracked{counts}] {}).active());
  EXPECT_FALSE(
      activate(queue, receive(numbers, [captured = tracked{counts}](int) {}))
          .active());
  EXPECT_FALSE(activate(queue, after(0s, [] {})).active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(numbers.size(), 1U);
  queue.suspend();
  queue.resume();
  queue.close();
}

TEST(DispatcherTest, ItsEndWaitsForRunningHandlers) {
  std::atomic<bool> over{false};
  {
    dispatcher pool{{.threads = 1}};
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

TEST(DispatcherTest, CanBeDestroyedOnItsOwnWorker) {
  auto pool = std::make_unique<dispatcher>(dispatcher_options{.threads = 2});
  auto queue = std::make_unique<dispatcher_queue>(*pool);
  std::promise<void> over;
  spawn(*queue, [&] {
    queue.reset();
    pool.reset();
    over.set_value();
  });
  over.get_future().wait();
  EXPECT_EQ(pool, nullptr);
}

TEST(DispatcherTest, CanBeDestroyedOnItsOwnWorkerBeforeItsQueue) {
  auto pool = std::make_unique<dispatcher>(dispatcher_options{.threads = 2});
  auto queue = std::make_unique<dispatcher_queue>(*pool);
  std::promise<void> over;
  spawn(*queue, [&] {
    pool.reset();
    queue.reset();
    over.set_value();
  });
  over.get_future().wait();
  EXPECT_EQ(queue, nullptr);
}

} // namespace
} // namespace wharf

// A handler that throws costs its own message, and is reported exactly once.

#include <wharf/wharf.hpp>

#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace wharf {
namespace {

using test::test_dispatcher;
using namespace std::chrono_literals;

/// What went wrong, sorted by what was thrown.
struct faults {
  int errors = 0;
  int numbers = 0;

  void count(const std::exception_ptr& fault) {
    try {
      std::rethrow_exception(fault);
    } catch (const std::runtime_error&) {
      ++errors;
    } catch (int) {
      ++numbers;
    }
  }
};

faults taken_from(port<std::exception_ptr>& failures) {
  faults all;
  while (const auto fault = failures.try_take()) {
    all.count(*fault);
  }
  return all;
}

void fail_on_every_second(int n) {
  if (n % 4 == 2) {
    throw std::runtime_error{"every fourth"};
  }
  if (n % 4 == 0) {
    throw 42;
  }
}

/// Where the faults are to arrive.
enum class told : std::uint8_t { queue, causality };

class ThrowingHandlersTest
    : public ::testing::TestWithParam<std::tuple<std::size_t, told>> {};

// The whole Scenario: a persistent receiver that throws on every second of
// 1000, 16 functions that throw, a barrier that needs every worker, a predicate
// that throws once, and the end. 1000 calls, each fault reported once, no
// worker lost, later messages delivered, the end returns.
TEST_P(ThrowingHandlersTest, CostTheirMessageAndNothingElse) {
  port<std::exception_ptr> failures;
  std::atomic<int> calls{0};
  std::atomic<int> later{0};
  {
    const auto [workers, to] = GetParam();
    dispatcher pool{{.threads = workers}};
    dispatcher_queue queue{pool};
    std::optional<causality_scope> scope;
    if (to == told::queue) {
      queue.on_failure(failures);
    } else {
      scope.emplace(causality{"the scenario", failures});
    }

    port<int> numbers;
    const activation receiver =
        activate(queue, receive(persist, numbers, [&](int n) {
                   ++calls;
                   fail_on_every_second(n);
                 }));
    for (int n = 1; n <= 1000; ++n) {
      EXPECT_TRUE(numbers.post(n));
    }
    pool.drain();
    EXPECT_EQ(calls, 1000);
    EXPECT_TRUE(receiver.active());
    const faults of_handlers = taken_from(failures);
    EXPECT_EQ(of_handlers.errors, 250);
    EXPECT_EQ(of_handlers.numbers, 250);

    for (int i = 0; i < 16; ++i) {
      spawn(queue, [] { throw std::runtime_error{"bare"}; });
    }
    pool.drain();
    EXPECT_EQ(taken_from(failures).errors, 16);

    std::barrier together{static_cast<std::ptrdiff_t>(workers)};
    for (std::size_t i = 0; i < workers; ++i) {
      spawn(queue, [&together] { together.arrive_and_wait(); });
    }
    pool.drain();

    port<int> filtered;
    activate(queue,
             receive(persist, filtered, [&](int) { ++later; }).when([](int n) {
               if (n == 3) {
                 throw std::runtime_error{"predicate"};
               }
               return true;
             }));
    for (int n = 1; n <= 5; ++n) {
      filtered.post(n);
    }
    pool.drain();
    EXPECT_EQ(later, 4);
    EXPECT_EQ(filtered.size(), 1U); // a predicate that throws has said no
    EXPECT_EQ(taken_from(failures).errors, 1);
    EXPECT_EQ(pool.unhandled_failures(), 0U);
  }
  EXPECT_TRUE(failures.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Workers, ThrowingHandlersTest,
    ::testing::Combine(::testing::Values(1, 4, 8, 16),
                       ::testing::Values(told::queue, told::causality)));

// The documented outcome, never a silent one: the queue's port, else the
// dispatcher's, else a count (and the log).
TEST(ThrowingHandlerRulesTest, AreReportedToTheNextOneOut) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  const auto fail = [&] {
    spawn(queue, [] { throw std::runtime_error{"to whom it may concern"}; });
    world.run_all();
  };

  fail();
  EXPECT_EQ(world.pool().unhandled_failures(), 1U);

  port<std::exception_ptr> outer;
  world.pool().on_failure(outer);
  fail();
  EXPECT_EQ(outer.size(), 1U);

  port<std::exception_ptr> inner;
  queue.on_failure(inner);
  fail();
  EXPECT_EQ(inner.size(), 1U);
  EXPECT_EQ(outer.size(), 1U);

  inner.close();
  fail();
  EXPECT_EQ(outer.size(), 2U);

  outer.close();
  fail();
  EXPECT_EQ(world.pool().unhandled_failures(), 2U);
}

// A fault while failures are handled is a fault like any other: no loop.
TEST(ThrowingHandlerRulesTest, AFailingFailureHandlerDoesNotLoop) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  dispatcher_queue clinic{world, "clinic"};
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  int handled = 0;
  activate(clinic, receive(persist, failures, [&](std::exception_ptr) {
             ++handled;
             throw std::runtime_error{"the doctor is ill"};
           }));
  spawn(queue, [] { throw 42; });
  world.run_all();
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(world.pool().unhandled_failures(), 1U);
}

// Every kind of arbiter: its messages are spent, all others stay, and what is
// persistent goes on.
TEST(ThrowingHandlerRulesTest, OfEveryArbiterCostTheirMessagesOnly) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  const auto reported = [&] {
    world.run_all();
    return failures.try_take_all().size();
  };

  port<int> a;
  port<int> b;
  for (int i = 0; i < 2; ++i) {
    a.post(i);
    b.post(i);
  }
  activate(queue, join(a, b, [](int, int) { throw 42; }));
  EXPECT_EQ(reported(), 1U);
  EXPECT_EQ(a.size(), 1U);
  EXPECT_EQ(b.size(), 1U);

  activate(queue, choice(receive(a, [](int) { throw 42; }),
                         receive(b, [](int) { throw 42; })));
  EXPECT_EQ(reported(), 1U);
  EXPECT_EQ(a.size() + b.size(), 1U);

  a.post(2);
  a.post(3);
  activate(queue, gather(a, 2, [](std::vector<int>) { throw 42; }));
  EXPECT_EQ(reported(), 1U);
  EXPECT_EQ(a.size() + b.size(), 1U);
  a.clear();
  b.clear();

  activate(queue, after(1ms, [] { throw 42; }));
  activation ticking = activate(queue, every(1ms, [] { throw 42; }));
  for (int i = 0; i < 3; ++i) {
    world.advance(1ms);
    world.run_all();
  }
  EXPECT_EQ(reported(), 4U);
  EXPECT_TRUE(ticking.cancel());

  int joined = 0;
  activate(queue, join(persist, a, b, [&](int, int) {
             ++joined;
             throw 42;
           }));
  for (int i = 0; i < 3; ++i) {
    a.post(i);
    b.post(i);
  }
  EXPECT_EQ(reported(), 3U);
  EXPECT_EQ(joined, 3);
}

// In an interleave the slot comes back after a throw, in each group, and the
// teardown still happens.
TEST(ThrowingHandlerRulesTest, GiveTheirSlotOfAnInterleaveBack) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> updates;
  port<int> queries;
  port<int> stop;
  int ran = 0;
  const activation service =
      activate(queue, interleave(exclusive(receive(persist, updates,
                                                   [&](int) {
                                                     ++ran;
                                                     throw 42;
                                                   })),
                                 concurrent(receive(persist, queries,
                                                    [&](int) {
                                                      ++ran;
                                                      throw 42;
                                                    })),
                                 teardown(receive(stop, [&](int) {
                                   ++ran;
                                   throw 42;
                                 }))));
  for (int i = 0; i < 3; ++i) {
    updates.post(i);
    queries.post(i);
  }
  world.run_all();
  EXPECT_EQ(ran, 6);
  stop.post(0);
  world.run_all();
  EXPECT_EQ(ran, 7);
  EXPECT_EQ(failures.size(), 7U);
  EXPECT_FALSE(service.active());
}

// The end by a shutdown with a deadline, while handlers and coroutines throw:
// it returns, all have run, and each fault is reported once.
TEST(ThrowingHandlerRulesTest, DoNotHoldUpAShutdown) {
  port<std::exception_ptr> failures;
  dispatcher pool{{.threads = 4}};
  dispatcher_queue queue{pool};
  queue.on_failure(failures);
  port<int> numbers;
  port<int> others;
  std::atomic<int> calls{0};
  activate(queue, receive(persist, numbers, [&](int n) {
             ++calls;
             fail_on_every_second(n);
           }));
  activate(queue, receive(persist, others, [&](int n) -> task<void> {
             co_await sleep_for(0ms);
             ++calls;
             fail_on_every_second(n);
           }));
  for (int n = 1; n <= 1000; ++n) {
    numbers.post(n);
  }
  pool.drain();
  for (int n = 1; n <= 1000; ++n) {
    others.post(n);
  }
  pool.drain();
  const shutdown_report report = pool.shutdown(10s);
  EXPECT_TRUE(report.finished);
  EXPECT_TRUE(report.drained);
  EXPECT_EQ(calls, 2000);
  const faults all = taken_from(failures);
  EXPECT_EQ(all.errors, 500);
  EXPECT_EQ(all.numbers, 500);
}

} // namespace
} // namespace wharf

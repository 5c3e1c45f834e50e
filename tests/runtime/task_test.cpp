#include <wharf/task.hpp>

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

class TaskTest : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  test_dispatcher pool;
  dispatcher_queue queue{pool};
};

task<int> plus_one(int n) {
  co_return n + 1;
}

task<void> store(int& where, int n) {
  where = co_await plus_one(n);
}

TEST_F(TaskTest, StartsWhenItIsSpawnedAndNotBefore) {
  int result = 0;
  task<void> t = store(result, 1);
  activation running = spawn(queue, std::move(t));
  EXPECT_TRUE(running.active());
  EXPECT_EQ(result, 0);
  pool.run_all();
  EXPECT_EQ(result, 2);
  EXPECT_FALSE(running.active());
}

task<void> drop(counted c) {
  ADD_FAILURE() << "it was never started: " << c.value;
  co_return;
}

TEST_F(TaskTest, ThatIsNeverAwaitedRunsNoLineAndLeavesNothing) {
  {
    task<void> never = drop(counted{1});
  }
  EXPECT_EQ(counted::live(), 0);
}

task<std::unique_ptr<int>> make(int n) {
  co_return std::make_unique<int>(n);
}
task<int&> find(std::vector<int>& in) {
  co_return in.back();
}
task<void> results(std::vector<int>& seen) {
  std::unique_ptr<int> owned = co_await make(3);
  seen.push_back(*owned);
  int& last = co_await find(seen);
  last = 4;
}

TEST_F(TaskTest, GivesMoveOnlyResultsAndReferences) {
  std::vector<int> seen;
  spawn(queue, results, std::ref(seen));
  pool.run_all();
  EXPECT_EQ(seen, std::vector<int>{4});
}

task<int> thrower() {
  throw std::runtime_error{"thrower"};
  co_return 0;
}
task<void> catcher(std::string& what) {
  try {
    co_await thrower();
  } catch (const std::exception& e) {
    what = e.what();
  }
}

TEST_F(TaskTest, ThrowsAtTheAwait) {
  std::string what;
  spawn(queue, catcher, std::ref(what));
  pool.run_all();
  EXPECT_EQ(what, "thrower");
}

task<void> passes_on() {
  co_await thrower();
}

TEST_F(TaskTest, AFailureThatPassesTheOutermostTaskIsReportedOnce) {
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  spawn(queue, passes_on());
  pool.run_all();
  EXPECT_EQ(failures.size(), 1U);
}

task<void> await_moved(bool& refused) {
  task<int> t = plus_one(1);
  co_await std::move(t);
  try {
    co_await std::move(t);
  } catch (const std::logic_error&) {
    refused = true;
  }
}

TEST_F(TaskTest, IsAwaitedOnce) {
  bool refused = false;
  spawn(queue, await_moved, std::ref(refused));
  pool.run_all();
  EXPECT_TRUE(refused);
}

task<void> take(port<int> numbers, std::vector<int>& seen) {
  for (;;) {
    seen.push_back(co_await receive(numbers));
  }
}

TEST_F(TaskTest, ReceivesInOrderAndConsumes) {
  port<int> numbers;
  std::vector<int> seen;
  numbers.post(1);
  activation running = spawn(queue, take, numbers, std::ref(seen));
  pool.run_all();
  EXPECT_EQ(seen, std::vector<int>{1}); // the second await goes on waiting
  numbers.post(2);
  numbers.post(3);
  EXPECT_EQ(numbers.size(), 1U); // the oldest is taken at the post
  pool.run_all();
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(running.cancel());
  pool.run_all();
  EXPECT_FALSE(running.active());
}

task<void> see_closed(port<int> in, bool& closed) {
  try {
    co_await receive(in);
  } catch (const port_closed&) {
    closed = true;
  }
}

TEST_F(TaskTest, AnAwaitedPortThatClosesThrowsPortClosed) {
  port<int> numbers;
  bool closed = false;
  spawn(queue, see_closed, numbers, std::ref(closed));
  pool.run_all();
  EXPECT_FALSE(closed);
  numbers.close();
  EXPECT_FALSE(closed); // resumption is on the queue
  pool.run_all();
  EXPECT_TRUE(closed);
}

// Cancel.

task<void> count_cancels(port<int> in, int& cancels) {
  for (int i = 0; i < 3; ++i) {
    try {
      co_await receive(in);
    } catch (const cancelled&) {
      ++cancels;
    }
  }
}

TEST_F(TaskTest, ACancelCutsThisAwaitAndEveryLaterOne) {
  port<int> numbers;
  int cancels = 0;
  activation running = spawn(queue, count_cancels, numbers, std::ref(cancels));
  pool.run_all();
  EXPECT_TRUE(running.cancel());
  EXPECT_FALSE(running.cancel());
  EXPECT_EQ(cancels, 0);
  numbers.post(1);
  EXPECT_EQ(numbers.size(), 1U); // a cancelled waiter takes nothing
  pool.run_all();
  EXPECT_EQ(cancels, 3);
  EXPECT_EQ(numbers.size(), 1U);
}

TEST_F(TaskTest, CancelledBeforeItStartsItNeverDoes) {
  int result = 0;
  activation running = spawn(queue, store, std::ref(result), 1);
  EXPECT_TRUE(running.cancel());
  EXPECT_FALSE(running.active());
  EXPECT_FALSE(running.cancel());
  pool.run_all();
  EXPECT_EQ(result, 0);
}

TEST_F(TaskTest, EndingAsOneWasAskedToIsNoFailure) {
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> numbers;
  std::vector<int> seen;
  activation running = spawn(queue, take, numbers, std::ref(seen));
  pool.run_all();
  queue.close();
  pool.run_all();
  EXPECT_TRUE(failures.empty());
}

task<void> two_steps(port<int> in, int& got) {
  got += co_await receive(in);
  got += co_await receive(in);
}
task<void> shield_them(port<int> in, int& got, bool& cut) {
  co_await shielded(two_steps(in, got));
  try {
    co_await receive(in);
  } catch (const cancelled&) {
    cut = true;
  }
}

TEST_F(TaskTest, ShieldedAwaitsAreNotCut) {
  port<int> numbers;
  int got = 0;
  bool cut = false;
  activation running =
      spawn(queue, shield_them, numbers, std::ref(got), std::ref(cut));
  pool.run_all();
  EXPECT_TRUE(running.cancel());
  pool.run_all();
  numbers.post(1);
  pool.run_all();
  numbers.post(2);
  pool.run_all();
  EXPECT_EQ(got, 3);
  EXPECT_TRUE(cut);
}

TEST_F(TaskTest, TheEndOfItsQueueCutsShieldedAwaitsToo) {
  port<int> numbers;
  int got = 0;
  bool cut = false;
  std::optional<dispatcher_queue> mortal{std::in_place, pool};
  activation running =
      spawn(*mortal, shield_them, numbers, std::ref(got), std::ref(cut));
  pool.run_all();
  mortal.reset();
  EXPECT_EQ(got, 0);
  EXPECT_FALSE(running.active());
}

// Ends.

task<void> keeps(counted c, port<int> in) {
  co_await receive(in);
  ADD_FAILURE() << "nothing was posted to it: " << c.value;
}

TEST_F(TaskTest, AQueueThatEndsWaitsForItsCoroutines) {
  port<int> numbers;
  std::optional<dispatcher_queue> mortal{std::in_place, pool};
  const activation parked = spawn(*mortal, keeps, counted{1}, numbers);
  pool.run_all();
  const activation fresh = spawn(*mortal, keeps, counted{2}, numbers);
  EXPECT_GE(counted::live(), 2);
  mortal.reset();
  EXPECT_EQ(counted::live(), 0);
  EXPECT_FALSE(parked.active());
  EXPECT_FALSE(fresh.active());
}

task<void> awaits_all_the_time(port<int> in, int& rounds) {
  for (; rounds < 5; ++rounds) {
    try {
      co_await receive(in);
    } catch (const cancelled&) {
    }
  }
}

TEST_F(TaskTest, ACoroutineMayGoOnAfterTheEndOfItsQueue) {
  port<int> numbers;
  int rounds = 0;
  std::optional<dispatcher_queue> mortal{std::in_place, pool};
  spawn(*mortal, awaits_all_the_time, numbers, std::ref(rounds));
  pool.run_all();
  mortal.reset();
  EXPECT_EQ(rounds, 5);
}

TEST_F(TaskTest, IsResumedOnASuspendedQueueThatEnds) {
  port<int> numbers;
  int rounds = 0;
  std::optional<dispatcher_queue> mortal{std::in_place, pool};
  spawn(*mortal, awaits_all_the_time, numbers, std::ref(rounds));
  pool.run_all();
  mortal->suspend();
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(rounds, 0);
  mortal.reset();
  EXPECT_EQ(rounds, 5);
}

// Handlers.

TEST_F(TaskTest, AHandlerThatIsACoroutineKeepsItsMessageAndItself) {
  port<counted> in;
  port<int> go;
  int seen = 0;
  activation running =
      activate(queue, receive(in, [go, &seen](counted&& c) -> task<void> {
                 co_await receive(go);
                 seen = c.value; // a reference to the message
               }));
  in.post(counted{7});
  pool.run_all();
  EXPECT_EQ(counted::live(), 1);
  EXPECT_FALSE(running.cancel()); // it has started and goes on
  go.post(0);
  pool.run_all();
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(counted::live(), 0);
}

TEST_F(TaskTest, APersistentReceiverStartsACoroutineForEachMessage) {
  port<int> in;
  port<int> go;
  int inside = 0;
  const auto handler = [&](int) -> task<void> {
    ++inside;
    co_await receive(go);
    --inside;
  };
  activation running = activate(queue, receive(persist, in, handler));
  for (int i = 0; i < 3; ++i) {
    in.post(i);
  }
  pool.run_all();
  EXPECT_EQ(inside, 3);
  for (int i = 0; i < 3; ++i) {
    go.post(i);
  }
  pool.run_all();
  EXPECT_EQ(inside, 0);
}

TEST_F(TaskTest, OneAtATimeHoldsAcrossAwaits) {
  port<int> in;
  port<int> go;
  std::vector<int> order;
  activate(queue, receive(persist, in, [&](int n) -> task<void> {
                    order.push_back(n);
                    co_await receive(go);
                    order.push_back(-n);
                  }).one_at_a_time());
  for (int i = 1; i <= 3; ++i) {
    in.post(i);
  }
  for (int i = 0; i < 3; ++i) {
    pool.run_all();
    go.post(0);
  }
  pool.run_all();
  EXPECT_EQ(order, (std::vector<int>{1, -1, 2, -2, 3, -3}));
}

TEST_F(TaskTest, AnExclusiveSlotIsHeldAcrossAwaitsAndComesBackOnAThrow) {
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> writes;
  port<int> reads;
  port<int> go;
  int reading = 0;
  bool writing = false;
  activate(queue,
           interleave(exclusive(receive(persist, writes,
                                        [&](int n) -> task<void> {
                                          writing = true;
                                          co_await receive(go);
                                          writing = false;
                                          if (n == 1) {
                                            throw std::runtime_error{"n"};
                                          }
                                        })),
                      concurrent(receive(persist, reads, [&](int) {
                        EXPECT_FALSE(writing);
                        ++reading;
                      }))));
  writes.post(1);
  pool.run_all();
  reads.post(0);
  writes.post(2);
  pool.run_all();
  EXPECT_EQ(reading, 0);
  go.post(0);
  pool.run_all();
  EXPECT_EQ(failures.size(), 1U);
  go.post(0);
  pool.run_all();
  EXPECT_EQ(reading, 1);
  EXPECT_FALSE(writing);
}

TEST_F(TaskTest, AnInterleaveThatIsTornDownWaitsForItsCoroutines) {
  port<int> in;
  port<int> go;
  port<int> stop;
  std::vector<std::string> order;
  activation running = activate(
      queue, interleave(teardown(receive(stop,
                                         [&](int) -> task<void> {
                                           order.push_back("stopping");
                                           co_await receive(go);
                                           order.push_back("stopped");
                                         })),
                        concurrent(receive(persist, in, [&](int) -> task<void> {
                          co_await receive(go);
                          order.push_back("read");
                        }))));
  in.post(1);
  pool.run_all();
  stop.post(1);
  pool.run_all();
  EXPECT_TRUE(order.empty());
  go.post(1);
  pool.run_all();
  EXPECT_EQ(order, (std::vector<std::string>{"read", "stopping"}));
  bool over = false;
  spawn(queue, [&]() -> task<void> {
    co_await running.ended();
    over = true;
  });
  pool.run_all();
  EXPECT_FALSE(over);
  go.post(1);
  pool.run_all();
  EXPECT_EQ(order.back(), "stopped");
  EXPECT_TRUE(over);
}

task<void> reads(port<int> go, std::vector<std::string>& order) {
  try {
    co_await receive(go);
    order.emplace_back("read");
  } catch (const cancelled&) {
    order.emplace_back("cancelled");
  }
}

TEST_F(TaskTest, ACancellingTeardownCutsTheHandlersThatRun) {
  port<int> in;
  port<int> one;
  port<int> go;
  port<int> stop;
  std::vector<std::string> order;
  const auto reader = [&](int) -> task<void> { return reads(go, order); };
  activation running = activate(
      queue, interleave(teardown(receive(stop,
                                         [&](int) -> task<void> {
                                           co_await receive(go);
                                           order.emplace_back("stopped");
                                         }))
                            .cancelling(),
                        concurrent(receive(persist, in, reader),
                                   receive(one, reader))));
  in.post(1);
  in.post(2);
  one.post(3);
  pool.run_all();
  stop.post(1);
  pool.run_all();
  EXPECT_EQ(order, (std::vector<std::string>(3, "cancelled")));
  go.post(1); // the teardown handler is not cancelled
  pool.run_all();
  EXPECT_EQ(order.back(), "stopped");
  EXPECT_FALSE(running.active());
}

TEST_F(TaskTest, APeriodicHandlerThatGoesOnNeverOverlapsItself) {
  port<int> go;
  int begun = 0;
  activation ticks = activate(queue, every(1ms, [&]() -> task<void> {
                                ++begun;
                                co_await receive(go);
                              }));
  for (int i = 0; i < 5; ++i) {
    pool.advance(1ms);
    pool.run_all();
  }
  EXPECT_EQ(begun, 1);
  go.post(0);
  pool.run_all();
  EXPECT_EQ(begun, 2);
  EXPECT_TRUE(ticks.cancel());
  go.post(0);
  pool.run_all();
  EXPECT_FALSE(ticks.active());
}

// What the awaits give.

task<void> all_kinds(port<int> a, port<std::string> b, std::string& log) {
  auto [n, s] = co_await join(a, b);
  log += std::to_string(n) + s;
  const std::vector<int> two = co_await join(a, 2);
  log += ',' + std::to_string(two[0]) + std::to_string(two[1]);
  auto which = co_await choice(receive(b), receive(a), after(1s));
  log += ',' + std::to_string(which.index());
  auto late = co_await choice(receive(a), choice(receive(b), after(1s)));
  log += ',' + std::to_string(late.index()) +
         std::to_string(std::get<1>(late).index());
  const std::vector<int> got = co_await gather(a, 2);
  log += ',' + std::to_string(got.size());
  const std::vector<port<int>> range{port<int>{}, a};
  auto [index, value] = co_await choice(range);
  log += ',' + std::to_string(index) + std::to_string(value);
  port_set<int, std::string> set;
  set.post(5);
  auto answer = co_await choice(set);
  log += ',' + std::to_string(std::get<int>(answer));
}

TEST_F(TaskTest, EveryArbiterCanBeAwaited) {
  port<int> a;
  port<std::string> b;
  std::string log;
  activation running = spawn(queue, all_kinds, a, b, std::ref(log));
  for (int i = 1; i <= 4; ++i) {
    a.post(i);
  }
  b.post("x");
  pool.run_all();
  EXPECT_EQ(log, "1x,23,1");
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(log, "1x,23,1,11");
  for (int i = 5; i <= 7; ++i) {
    a.post(i);
  }
  pool.run_all();
  EXPECT_EQ(log, "1x,23,1,11,2,17,5");
  EXPECT_FALSE(running.active());
}

// 96 bytes are what a waiting coroutine pays beyond its own variables.
TEST_F(TaskTest, AnAwaitedReceiveIsSmall) {
  using branch = decltype(receive(std::declval<port<int>&>()))::branch_type;
  EXPECT_LE(sizeof(detail::await_of<branch>), 96U);
}

} // namespace
} // namespace wharf

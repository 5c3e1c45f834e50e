// Awaits of messages that cannot be copied, or whose moves throw.

#include <wharf/wharf.hpp>

#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace wharf {
namespace {

using test::fragile;
using test::tally;
using test::test_dispatcher;
using test::tracked;
using namespace std::chrono_literals;

using box = std::unique_ptr<int>;

box boxed(int n) {
  return std::make_unique<int>(n);
}

struct question {
  box what;
  reply<box> answer;
};

task<box> adds(box a, box b) {
  co_return boxed(*a + *b);
}

task<int> awaits_all(dispatcher_queue& queue, port<box> a, port<box> b,
                     port<question> service) {
  int sum = *co_await receive(a);
  auto [x, y] = co_await join(a, b);
  sum += *x + *y;
  const std::vector<box> two = co_await join(a, 2);
  sum += *two[0] + *two[1];
  const std::vector<box> gathered = co_await gather(b, 2);
  sum += *gathered[0] + *gathered[1];
  auto which = co_await choice(receive(a), after(1h));
  sum += *std::get<0>(which);
  const std::vector<port<box>> range{a, b};
  auto [index, value] = co_await choice(range);
  sum += *value;
  // The predicate is moved in; it cannot be copied.
  auto only =
      receive(b).when([keep = boxed(5)](const box& n) { return *n == *keep; });
  sum += *co_await std::move(only);
  sum += *co_await adds(boxed(1), boxed(1));
  sum += *co_await run_on(queue, adds, boxed(1), boxed(1));
  auto [l, r] =
      co_await when_all(adds(boxed(1), boxed(1)), adds(boxed(1), boxed(1)));
  sum += *l + *r;
  auto first = co_await when_any(adds(boxed(1), boxed(1)));
  sum += *std::get<0>(first);
  const box answer = co_await ask<question>(service, boxed(7));
  co_return sum + *answer;
}

// Everything that can be awaited gives messages that can only be moved. That
// this compiles is half of the test.
TEST(MoveOnlyAwaitTest, MessagesAndResultsGoThroughEveryAwait) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<box> a;
  port<box> b;
  port<question> service;
  activate(queue, receive(persist, service, [](question q) {
             q.answer.post(std::move(q.what));
           }));
  for (int i = 0; i < 6; ++i) {
    a.post(boxed(1));
  }
  for (int i = 0; i < 3; ++i) {
    b.post(boxed(1));
  }
  b.post(boxed(5));
  // receive 1, join 2, join 2, gather 2, choice 1, range 1, when 5; 5 tasks of
  // 2; the answer 7.
  EXPECT_EQ(sync_wait(queue, awaits_all(queue, a, b, service)),
            9 + 5 + 5 * 2 + 7);
  EXPECT_TRUE(a.empty() && b.empty());
}

task<void> awaits_tracked(port<tracked> numbers, int& sum) {
  const tracked one = co_await receive(numbers);
  const auto both = co_await join(numbers, numbers);
  const std::vector<tracked> two = co_await join(numbers, 2);
  const auto which = co_await choice(receive(numbers), after(1h));
  sum = one.value + std::get<0>(both).value + two[1].value +
        std::get<0>(which).value;
}

// No await copies, whether the message is there or comes.
TEST(MoveOnlyAwaitTest, AwaitsCopyNothing) {
  for (const bool ready : {true, false}) {
    tally counts;
    test_dispatcher world;
    dispatcher_queue queue{world};
    port<tracked> numbers;
    int sum = 0;
    if (!ready) {
      spawn(queue, awaits_tracked, numbers, std::ref(sum));
      world.run_all();
    }
    for (int i = 0; i < 6; ++i) {
      numbers.post(tracked{counts, 1});
      if (!ready) {
        world.run_all();
      }
    }
    if (ready) {
      spawn(queue, awaits_tracked, numbers, std::ref(sum));
      world.run_all();
    }
    EXPECT_EQ(sum, 4);
    EXPECT_EQ(counts.copies, 0);
    EXPECT_EQ(counts.alive, 0);
  }
}

task<void> awaits_fragile(port<fragile> numbers, std::vector<int>& got) {
  for (int i = 0; i < 3; ++i) {
    try {
      const fragile one = co_await receive(numbers);
      got.push_back(one.value);
    } catch (const std::runtime_error&) {
      got.push_back(-1);
    }
  }
}

// A move that throws while it is delivered throws at that await; no other
// message is lost, and nobody else hears of it.
TEST(MoveOnlyAwaitTest, AMoveThatThrowsThrowsAtTheAwait) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<fragile> numbers;
  int moves_left = 1; // that of the post
  numbers.post(fragile{1});
  numbers.post(fragile{2, &moves_left});
  numbers.post(fragile{3});
  std::vector<int> got;
  spawn(queue, awaits_fragile, numbers, std::ref(got));
  world.run_all();
  EXPECT_EQ(got, (std::vector{1, -1, 3}));
  EXPECT_EQ(failures.size(), 0U);
}

} // namespace
} // namespace wharf

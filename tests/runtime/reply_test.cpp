#include <wharf/reply.hpp>

#include <wharf/wharf.hpp>

#include "support/chain.hpp"
#include "support/counted.hpp"
#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::fragile;
using test::take_whats;
using test::test_dispatcher;

using response_set = port_set<std::string, std::exception_ptr>;
using whats = std::vector<std::string>;

static_assert(std::is_nothrow_move_constructible_v<reply<int>>);
static_assert(std::is_nothrow_move_assignable_v<reply<int>>);
static_assert(!std::is_copy_constructible_v<reply<int>>);
static_assert(!std::is_copy_assignable_v<reply<int>>);
static_assert(!std::convertible_to<response_set, reply<std::string>>);

const whats dropped{"a reply was dropped unanswered"};

class ReplyTest : public ::testing::Test {
protected:
  std::vector<std::string> answers() {
    return response.get<std::string>().try_take_all();
  }
  whats failures() { return take_whats(response.get<std::exception_ptr>()); }

  response_set response;
};

TEST_F(ReplyTest, PostsItsAnswer) {
  reply<std::string> r{response};
  EXPECT_FALSE(r.answered());
  EXPECT_TRUE(r.post("fine"));
  EXPECT_TRUE(r.answered());
  EXPECT_EQ(answers(), (whats{"fine"}));
  const std::string copied = "copied";
  reply<std::string> second{response};
  EXPECT_TRUE(second.post(copied));
  EXPECT_EQ(answers(), (whats{"copied"}));
  EXPECT_EQ(failures(), whats{});
}

TEST_F(ReplyTest, FailsWithAnError) {
  reply<std::string> r{response};
  EXPECT_TRUE(r.fail(std::make_exception_ptr(std::runtime_error{"one"})));
  EXPECT_TRUE(r.answered());
  reply<std::string> second{response};
  EXPECT_TRUE(second.fail(std::runtime_error{"two"}));
  EXPECT_EQ(failures(), (whats{"one", "two"}));
  EXPECT_EQ(answers(), whats{});
}

TEST_F(ReplyTest, AnswersOnceAndNamesItselfTheSecondTime) {
  const response_set named{port<std::string>{"answers"},
                           port<std::exception_ptr>{}};
  reply<std::string> r{named};
  r.post("fine");
  const auto what = [](auto misuse) {
    try {
      misuse();
    } catch (const std::logic_error& error) {
      return std::string{error.what()};
    }
    return std::string{"nothing was thrown"};
  };
  const std::string again =
      "the reply to port \"answers\" has been answered already";
  EXPECT_EQ(what([&] { r.post("again"); }), again);
  EXPECT_EQ(what([&] { r.fail(std::runtime_error{"again"}); }), again);
  const std::string kept = "kept";
  EXPECT_EQ(what([&] { r.post(kept); }), again);
  EXPECT_EQ(named.get<std::string>().size(), 1U);
  reply<std::string> failed{named};
  failed.fail(std::runtime_error{"no"});
  EXPECT_EQ(what([&] { failed.post("again"); }), again);
  EXPECT_EQ(named.get<std::exception_ptr>().size(), 1U);
  reply<std::string> from{named};
  const reply<std::string> to{std::move(from)};
  EXPECT_EQ(what([&] { from.post("gone"); }), "this reply was moved from");
}

TEST_F(ReplyTest, DyingUnansweredItSaysSo) {
  {
    const reply<std::string> r{response};
  }
  const auto error = response.get<std::exception_ptr>().try_take();
  ASSERT_TRUE(error.has_value());
  EXPECT_THROW(std::rethrow_exception(*error), unanswered);
  {
    reply<std::string> r{response};
    r.post("fine");
  }
  EXPECT_EQ(failures(), whats{});
}

TEST_F(ReplyTest, MovedItAnswersForWhereItIs) {
  {
    reply<std::string> one{response};
    reply<std::string> two{std::move(one)};
    EXPECT_TRUE(one.answered());
    EXPECT_FALSE(two.answered());
    reply<std::string> three{response};
    three = std::move(two); // the one that was there dies
    EXPECT_EQ(failures(), dropped);
    reply<std::string>& same = three;
    three = std::move(same);
    EXPECT_FALSE(three.answered());
  }
  EXPECT_EQ(failures(), dropped);
  EXPECT_EQ(answers(), whats{});
}

TEST_F(ReplyTest, NoExceptionIsMisuseAndLeavesItUnanswered) {
  reply<std::string> r{response};
  EXPECT_THROW(r.fail(nullptr), std::invalid_argument);
  EXPECT_THROW(r.fail(std::exception_ptr{}), std::invalid_argument);
  EXPECT_FALSE(r.answered());
  EXPECT_TRUE(r.post("fine"));
}

TEST_F(ReplyTest, ToAClosedPortIsAnsweredAndRefused) {
  response.close();
  reply<std::string> r{response};
  std::string value = "long enough not to lie in the string itself";
  EXPECT_FALSE(r.post(std::move(value)));
  EXPECT_EQ(value, "long enough not to lie in the string itself");
  EXPECT_TRUE(r.answered());
  EXPECT_THROW(r.post("again"), std::logic_error);
  reply<std::string> failing{response};
  EXPECT_FALSE(failing.fail(std::runtime_error{"no"}));
  EXPECT_TRUE(failing.answered());
  const reply<std::string> dying{response};
}

TEST_F(ReplyTest, AMoveThatThrowsLeavesItUnanswered) {
  port<fragile> answers;
  port<std::exception_ptr> errors;
  {
    reply<fragile> r{answers, errors};
    int moves = 0;
    EXPECT_THROW(r.post(fragile{1, &moves}), std::runtime_error);
    EXPECT_FALSE(r.answered());
  }
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(take_whats(errors), dropped);
}

TEST_F(ReplyTest, IsAHandleOfItsPorts) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  std::optional<response_set> set{std::in_place};
  std::optional<reply<std::string>> r{*set};
  std::string got;
  const activation waiting = activate(
      queue, choice(
                 *set, [&](std::string text) { got = std::move(text); },
                 [](std::exception_ptr) {}));
  set.reset();
  EXPECT_TRUE(waiting.active());
  r->post("late but there");
  world.run_all();
  EXPECT_EQ(got, "late but there");
}

TEST_F(ReplyTest, TheLastHandleEndsTheWaitWithUnanswered) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  std::optional<response_set> set{std::in_place};
  std::optional<reply<std::string>> r{*set};
  std::string got;
  activate(queue, choice(
                      *set, [&](std::string text) { got = std::move(text); },
                      [&](const std::exception_ptr& error) {
                        got = test::what(error);
                      }));
  set.reset();
  r.reset();
  world.run_all();
  EXPECT_EQ(got, dropped.front());
}

TEST_F(ReplyTest, TakesWiderSetsDerivedSetsAndPairsOfPorts) {
  class service : public port_set<int, std::exception_ptr, std::string> {};
  const service derived;
  reply<int> to_derived{derived};
  to_derived.post(1);
  EXPECT_EQ(derived.get<int>().size(), 1U);
  port<int> numbers;
  port<std::exception_ptr> errors;
  reply to_pair{numbers, errors}; // deduced
  to_pair.post(2);
  EXPECT_EQ(numbers.try_take(), 2);
  reply to_set{response};
  to_set.post("three");
  EXPECT_EQ(answers(), (whats{"three"}));
}

TEST_F(ReplyTest, CarriesMoveOnlyAnswers) {
  port_set<std::unique_ptr<int>, std::exception_ptr> set;
  reply<std::unique_ptr<int>> r{set};
  EXPECT_TRUE(r.post(std::make_unique<int>(5)));
  EXPECT_EQ(**set.get<std::unique_ptr<int>>().try_take(), 5);
}

// Where requests die.

struct request {
  counted body;
  reply<std::string> answer;
};

class ReplyOfARequestTest : public ReplyTest {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  request make() { return request{counted{1}, reply<std::string>{response}}; }
  std::size_t dropped_now() {
    return response.get<std::exception_ptr>().clear();
  }

  test_dispatcher world;
  dispatcher_queue queue{world};
};

TEST_F(ReplyOfARequestTest, InAPortThatIsCleared) {
  port<request> requests;
  requests.post(make());
  requests.post(make());
  EXPECT_EQ(requests.clear(), 2U);
  EXPECT_EQ(dropped_now(), 2U);
}

TEST_F(ReplyOfARequestTest, InAPortThatGoes) {
  {
    port<request> requests;
    requests.post(make());
  }
  EXPECT_EQ(dropped_now(), 1U);
}

TEST_F(ReplyOfARequestTest, OfARefusedPostIsTheCallersStill) {
  port<request> requests;
  requests.close();
  {
    request r = make();
    EXPECT_FALSE(requests.post(std::move(r)));
    EXPECT_EQ(dropped_now(), 0U);
    EXPECT_TRUE(r.answer.post("done here"));
  }
  EXPECT_EQ(dropped_now(), 0U);
}

TEST_F(ReplyOfARequestTest, InAHandlerThatReturnsOrThrows) {
  port<request> requests;
  activate(queue, receive(persist, requests, [](const request& r) {
             if (r.answer.answered()) {
               return;
             }
             throw std::runtime_error{"broken"};
           }));
  requests.post(make());
  world.run_all();
  EXPECT_EQ(dropped_now(), 1U);
}

TEST_F(ReplyOfARequestTest, DecidedForAQueueThatEnds) {
  port<request> requests;
  std::optional<dispatcher_queue> ending{std::in_place, world};
  activate(*ending, receive(requests, [](request) {}));
  requests.post(make());
  ending.reset();
  EXPECT_EQ(dropped_now(), 1U);
}

TEST_F(ReplyOfARequestTest, InAnInterleaveThatClosesItsPorts) {
  port_set<request, int> service;
  activate(
      queue,
      interleave(
          teardown(receive(service.get<int>(), [](int) {})).then_close(),
          exclusive(receive(persist, service.get<request>(), [](request) {}))));
  queue.suspend();
  service.post(make());
  service.post(1);
  queue.resume();
  world.run_all();
  EXPECT_EQ(dropped_now(), 1U);
}

TEST_F(ReplyOfARequestTest, CapturedByAHandlerThatNeverRuns) {
  port<int> silent;
  activation waiting =
      activate(queue, receive(silent, [kept = make()](int) { (void)kept; }));
  EXPECT_EQ(dropped_now(), 0U);
  waiting.cancel();
  EXPECT_EQ(dropped_now(), 1U);
}

task<void> keep(request kept) {
  port<int> silent;
  co_await receive(silent);
  (void)kept;
}

TEST_F(ReplyOfARequestTest, InACoroutineThatIsCancelledOrNeverStarted) {
  activation running = spawn(queue, keep, make());
  world.run_all();
  running.cancel();
  world.run_all();
  EXPECT_EQ(dropped_now(), 1U);
  spawn(queue, keep, make());
  queue.close();
  EXPECT_EQ(dropped_now(), 1U);
}

// Deep chains: each reply is dropped because the one before it was.

struct link {
  reply<int> answer;
  std::shared_ptr<port<link>> rest; // its last handle
};

TEST_F(ReplyOfARequestTest, ChainsOfRepliesInPortsTakeNoStack) {
  port_set<int, std::exception_ptr> set;
  {
    std::shared_ptr<port<link>> first;
    for (int i = 0; i < test::deep; ++i) {
      auto outer = std::make_shared<port<link>>();
      outer->post(link{reply<int>{set}, std::move(first)});
      first = std::move(outer);
    }
  }
  EXPECT_EQ(set.get<std::exception_ptr>().size(),
            static_cast<std::size_t>(test::deep));
}

// A waiter for each reply, whose handler holds the next reply, on a queue that
// ends: what dies decides the next waiter, which is discarded and dies.
TEST_F(ReplyOfARequestTest, ChainsOfWaitersTakeNoStack) {
  std::optional<dispatcher_queue> ending{std::in_place, world};
  port_set<int, std::exception_ptr> last;
  {
    port_set<int, std::exception_ptr> here;
    std::optional<reply<int>> next{last};
    for (int i = 0; i < test::deep; ++i) {
      reply<int> before{here};
      activate(*ending,
               receive(here.get<std::exception_ptr>(),
                       [kept = std::move(*next)](const std::exception_ptr&) {
                         (void)kept;
                       }));
      next.emplace(std::move(before));
      here = port_set<int, std::exception_ptr>{};
    }
    next.reset();
  }
  ending.reset();
  EXPECT_EQ(last.get<std::exception_ptr>().size(), 1U);
}

TEST_F(ReplyTest, IsNotForPredicates) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> numbers;
  reply<std::string> r{response};
  activate(queue, receive(numbers, [](int) {}).when([&](int) {
    return r.post("from inside");
  }));
  numbers.post(1);
  EXPECT_FALSE(r.answered());
  EXPECT_EQ(world.pool().unhandled_failures(), 1U);
}

} // namespace
} // namespace wharf

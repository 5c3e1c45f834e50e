#include <wharf/choice.hpp>

#include "support/no_relinks.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/after.hpp>
#include <wharf/gather.hpp>
#include <wharf/interleave.hpp>
#include <wharf/join.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::no_relinks;
using test::tally;
using test::test_dispatcher;
using test::tracked;

struct anything_else {};

template <class... Args>
concept choosable = requires(Args... args) { choice(std::move(args)...); };

using receive_int = decltype(receive(std::declval<port<int>&>(), [](int) {}));
using receive_ints =
    decltype(receive(persist, std::declval<port<int>&>(), [](int) {}));
using whole_interleave = decltype(interleave(exclusive()));

static_assert(choosable<receive_int, receive_int>);
static_assert(!choosable<>);
static_assert(!choosable<anything_else>);
static_assert(!choosable<receive_int, port<int>>);
// These are refused with a sentence, so not by a constraint of choice() itself.
static_assert(detail::one_time_builder<receive_int>);
static_assert(!detail::one_time_builder<receive_ints>);
static_assert(!detail::one_time_builder<whole_interleave>);
static_assert(!std::is_constructible_v<branch, receive_ints>);
static_assert(!std::is_constructible_v<branch, whole_interleave>);
static_assert(!std::is_constructible_v<branch, receive_int&>);

TEST(ChoiceTest, ExactlyOneBranchFires) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<std::string> b;
  std::string got;
  const activation one = activate(
      queue, choice(receive(a, [&](int) { got += "a"; }),
                    receive(b, [&](const std::string&) { got += "b"; })));
  b.post("x");
  a.post(1);
  EXPECT_FALSE(one.active());
  pool.run_all();
  EXPECT_EQ(got, "b");
  EXPECT_EQ(a.size(), 1U); // the loser took nothing
  EXPECT_EQ(b.size(), 0U);
}

TEST(ChoiceTest, BranchesThatCanGoAreLookedAtInListOrder) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> c;
  b.post(2);
  c.post(3);
  std::vector<int> got;
  const auto handler = [&](int n) { got.push_back(n); };
  activate(queue, choice(receive(a, handler), receive(c, handler),
                         receive(b, handler)));
  pool.run_all();
  EXPECT_EQ(got, std::vector{3});
  EXPECT_EQ(b.size(), 1U);
}

TEST(ChoiceTest, APriorityDoesNotChangeTheListOrder) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  a.post(1);
  b.post(2);
  int got = 0;
  const auto handler = [&](int n) { got = n; };
  activate(queue, choice(receive(a, handler),
                         receive(b, handler).priority(priority::high)));
  pool.run_all();
  EXPECT_EQ(got, 1);
}

TEST(ChoiceTest, TwoBranchesMayWaitOnOnePort) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::string got;
  activate(queue,
           choice(receive(numbers, [&](int) { got += "odd"; }).when([](int n) {
             return n % 2 == 1;
           }),
                  receive(numbers, [&](int) { got += "even"; }).when([](int n) {
                    return n % 2 == 0;
                  })));
  numbers.post(2);
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(got, "even");
  EXPECT_EQ(numbers.try_take(), 1);
}

TEST(ChoiceTest, AZeroTimeNeverBeatsAMessageThatIsThere) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(1);
  std::string got;
  activate(queue, choice(after(0s, [&] { got += "time"; }),
                         receive(numbers, [&](int) { got += "message"; })));
  pool.run_all();
  EXPECT_EQ(got, "message");
  EXPECT_EQ(pool.pending_timers(), 0U);
}

// The look at the message takes long enough for a worker to fire any timer that
// was armed before it.
TEST(ChoiceTest, AZeroTimeDoesNotWinWhileAMessageIsLookedAt) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(1);
  std::string got;
  activate(queue,
           choice(after(0s, [&] { got += "time"; }), receive(numbers, [&](int) {
                                                       got += "message";
                                                     }).when([](int) {
             const auto start = std::chrono::steady_clock::now();
             while (std::chrono::steady_clock::now() - start < 20ms) {
               std::this_thread::yield();
             }
             return true;
           })));
  pool.drain();
  EXPECT_EQ(got, "message");
}

TEST(ChoiceTest, ANestedZeroTimeNeverBeatsAMessageThatIsThere) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  a.post(1);
  b.post(2);
  std::string got;
  activate(queue, choice(choice(after(-1s, [&] { got += "time"; })),
                         join(a, b, [&](int, int) { got += "join"; })));
  pool.run_all();
  EXPECT_EQ(got, "join");
}

TEST(ChoiceTest, TheTimeWinsIfNothingComes) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::string got;
  activate(queue, choice(receive(numbers, [&](int) { got += "message"; }),
                         after(250ms, [&] { got += "time"; })));
  pool.advance(249ms);
  pool.run_all();
  EXPECT_EQ(got, "");
  pool.advance(1ms);
  pool.run_all();
  EXPECT_EQ(got, "time");
  numbers.post(1);
  EXPECT_EQ(numbers.size(), 1U);
}

TEST(ChoiceTest, ATimerThatLostIsGoneAtOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activate(queue, choice(receive(numbers, [](int) {}), after(24h, [] {})));
  EXPECT_EQ(pool.pending_timers(), 1U);
  numbers.post(1);
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST(ChoiceTest, OfTwoTimesTheEarlierWins) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::string got;
  activate(queue, choice(after(2s, [&] { got += "late"; }),
                         after(1s, [&] { got += "early"; })));
  pool.advance(3s);
  pool.run_all();
  EXPECT_EQ(got, "early");
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST(ChoiceTest, LosersHaveLeftBeforeTheWinnersHandlerStarts) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> replies;
  std::vector<std::size_t> seen;
  activate(queue, choice(receive(a,
                                 [&](int) {
                                   b.post(5); // nobody waits there any more
                                   seen = {b.size(), replies.size()};
                                   EXPECT_EQ(replies.try_take_all(),
                                             (std::vector{1, 2}));
                                 }),
                         receive(b, [](int) {}),
                         gather(replies, 3, [](const std::vector<int>&) {})));
  replies.post(1);
  replies.post(2);
  EXPECT_TRUE(replies.try_take_all().empty());
  a.post(1);
  pool.run_all();
  EXPECT_EQ(seen, (std::vector<std::size_t>{1, 2}));
}

TEST(ChoiceTest, ALosingGatherHasGivenBackWhenThePostReturns) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> stop;
  port<int> replies;
  int again = 0;
  activate(queue, choice(gather(replies, 3, [](const std::vector<int>&) {}),
                         receive(stop, [](int) {})));
  activate(queue, receive(replies, [&](int n) { again = n; }));
  replies.post(1);
  replies.post(2);
  stop.post(0);
  // 1 was offered to the next receiver, 2 stays.
  EXPECT_EQ(replies.try_take_all(), std::vector{2});
  pool.run_all();
  EXPECT_EQ(again, 1);
}

TEST(ChoiceTest, AJoinInAChoiceTakesNothingUnlessItWins) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> c;
  std::string got;
  activate(queue, choice(join(a, b, [&](int, int) { got += "join"; }),
                         receive(c, [&](int) { got += "c"; })));
  a.post(1);
  EXPECT_EQ(a.size(), 1U);
  c.post(1);
  b.post(1);
  pool.run_all();
  EXPECT_EQ(got, "c");
  EXPECT_EQ(a.size() + b.size(), 2U);
}

TEST(ChoiceTest, AJoinInAChoiceWins) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> c;
  std::string got;
  activate(queue, choice(receive(c, [&](int) { got += "c"; }),
                         join(a, b, [&](int x, int y) {
                           got += std::to_string(x * 10 + y);
                         })));
  b.post(2);
  a.post(1);
  c.post(3);
  pool.run_all();
  EXPECT_EQ(got, "12");
  EXPECT_EQ(c.size(), 1U);
}

TEST(ChoiceTest, AReceiveAndAJoinMayShareAPort) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::string got;
  activate(queue, choice(join(a, b, [&](int, int) { got += "join"; }),
                         receive(a, [&](int) { got += "a"; })));
  b.post(1);
  a.post(1); // the join registered first, and all of it is there
  pool.run_all();
  EXPECT_EQ(got, "join");
}

TEST(ChoiceTest, NestsAndKeepsTheOrderOfTheList) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> c;
  std::vector<int> got;
  const auto handler = [&](int n) { got.push_back(n); };
  const auto tree = [&] {
    return choice(choice(receive(a, handler), choice(receive(b, handler))),
                  receive(c, handler));
  };
  c.post(3);
  b.post(2);
  activate(queue, tree());
  activate(queue, tree());
  const activation last = activate(queue, tree());
  a.post(1);
  EXPECT_FALSE(last.active());
  b.post(4);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{2, 3, 1}));
  EXPECT_EQ(b.size(), 1U);
}

TEST(ChoiceTest, OverAPortSetHasABranchForEachType) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  struct answers : port_set<std::string, std::exception_ptr> {};
  answers response;
  std::string got;
  const auto wait = [&] {
    activate(queue, choice(
                        response, [&](const std::string& text) { got += text; },
                        [&](const std::exception_ptr&) { got += "failed"; }));
  };
  wait();
  response.post(std::string{"fine "});
  pool.run_all();
  wait();
  response.post(std::make_exception_ptr(std::runtime_error{"x"}));
  pool.run_all();
  EXPECT_EQ(got, "fine failed");
}

TEST(ChoiceTest, OverARangeTellsWhichPort) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<port<double>> ports(20);
  std::size_t which = 99;
  double got = 0;
  const auto handler = [&](std::size_t index, double d) {
    which = index;
    got = d;
  };
  activate(queue, choice(ports, handler));
  ports[17].post(2.5);
  ports[3].post(1.5);
  pool.run_all();
  EXPECT_EQ(which, 17U);
  EXPECT_EQ(got, 2.5);
  EXPECT_EQ(ports[3].size(), 1U);
  ports[1].post(0.5);
  activate(queue, choice(ports, handler)); // the first that can go
  pool.run_all();
  EXPECT_EQ(which, 1U);
}

TEST(ChoiceTest, OverARangeTakesAnyRange) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const std::list<port<int>> ports(2);
  port<int> last = ports.back();
  std::size_t which = 99;
  activate(queue,
           choice(ports, [&](std::size_t index, int) { which = index; }));
  last.post(1);
  pool.run_all();
  EXPECT_EQ(which, 1U);
}

TEST(ChoiceTest, OverNothingEndsAtOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  EXPECT_FALSE(activate(queue, choice(std::vector<branch>{})).active());
  EXPECT_FALSE(
      activate(queue, choice(std::vector<port<int>>{},
                             [own = tracked{counts}](std::size_t, int) {}))
          .active());
  EXPECT_EQ(counts.alive, 0);
}

TEST(ChoiceTest, BranchesCanBePutTogetherAtRunTime) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<std::string> b;
  std::string got;
  std::vector<branch> branches;
  branches.emplace_back(receive(a, [&](int) { got += "a"; }));
  branches.emplace_back(
      choice(receive(b, [&](const std::string&) { got += "b"; })));
  branches.emplace_back(after(1s, [&] { got += "time"; }));
  activate(queue, choice(std::move(branches)));
  b.post("x");
  pool.run_all();
  EXPECT_EQ(got, "b");
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST(ChoiceTest, ATreeOfAnyDepthCostsNoStack) {
  constexpr int depth = 100'000;
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> shallow;
  port<int> deepest;
  tally counts;
  std::string got;
  std::vector<branch> level;
  level.emplace_back(
      receive(deepest, [&, own = tracked{counts}](int) { got += "deepest"; }));
  for (int i = 0; i < depth; ++i) {
    std::vector<branch> outer;
    outer.emplace_back(receive(shallow, [&](int) {
                         got += "shallow";
                       }).when([](int n) { return n > 0; }));
    outer.emplace_back(choice(std::move(level)));
    level = std::move(outer);
  }
  const activation tree = activate(queue, choice(std::move(level)));
  shallow.post(0); // refused by every branch
  EXPECT_TRUE(tree.active());
  deepest.post(1);
  shallow.post(1);
  EXPECT_EQ(shallow.size(), 2U);
  pool.run_all();
  EXPECT_EQ(got, "deepest");
  EXPECT_EQ(counts.alive, 0);
}

TEST(ChoiceTest, ATreeThatIsNeverActivatedIsDestroyedWithoutRecursion) {
  port<int> numbers;
  tally counts;
  {
    std::vector<branch> level;
    for (int i = 0; i < 100'000; ++i) {
      std::vector<branch> outer;
      outer.emplace_back(receive(numbers, [own = tracked{counts}](int) {}));
      outer.emplace_back(choice(std::move(level)));
      level = std::move(outer);
    }
  }
  EXPECT_EQ(counts.alive, 0);
}

TEST(ChoiceTest, EndsWithItsLastLiveBranch) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  port<int> b;
  port<int> c;
  port<int> d;
  const activation one =
      activate(queue, choice(receive(a, [own = tracked{counts}](int) {}),
                             join(b, c, [](int, int) {}),
                             gather(d, 2, [](const std::vector<int>&) {})));
  d.post(1);
  a.close();
  c.close();
  EXPECT_TRUE(one.active());
  d.close();
  EXPECT_FALSE(one.active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(d.try_take(), 1); // given back
}

TEST(ChoiceTest, ATimeKeepsAChoiceOfClosedPortsAlive) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  a.close();
  std::string got;
  const activation one =
      activate(queue, choice(receive(a, [&](int) { got += "a"; }),
                             after(1s, [&] { got += "time"; })));
  EXPECT_TRUE(one.active());
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(got, "time");
}

TEST(ChoiceTest, CancelLeavesAllPortsAndTimers) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> replies;
  activation one = activate(
      queue, choice(receive(a, [](int) {}), join(a, b, [](int, int) {}),
                    gather(replies, 2, [](const std::vector<int>&) {}),
                    after(1s, [] {})));
  replies.post(1);
  EXPECT_TRUE(one.cancel());
  EXPECT_EQ(pool.pending_timers(), 0U);
  a.post(1);
  b.post(2);
  EXPECT_EQ(a.size() + b.size(), 2U);
  EXPECT_EQ(replies.try_take(), 1);
}

TEST(ChoiceTest, AWinningHandlerThatThrowsCostsItsMessageOnly) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  activate(queue,
           choice(receive(a, [](int) { throw std::runtime_error{"broken"}; }),
                  receive(b, [](int) {})));
  b.close();
  a.post(1);
  a.post(2);
  pool.run_all();
  EXPECT_EQ(pool.pool().unhandled_failures(), 1U);
  EXPECT_EQ(a.try_take(), 2);
}

// Goal: of several branches exactly one fires, whoever comes first.
// Method: two threads post to the two ports of each choice at once; what was
// not taken must still be there.
TEST(ChoiceStressTest, DecidesOnceWhenBranchesRace) {
  constexpr int rounds = 5'000;
  const no_relinks nothing_put_back;
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::atomic<int> fired{0};
  std::atomic<int> round{0};
  {
    std::jthread first{[&] {
      for (int i = 1; i <= rounds; ++i) {
        while (round < i) {
          std::this_thread::yield();
        }
        a.post(i);
      }
    }};
    std::jthread second{[&] {
      for (int i = 1; i <= rounds; ++i) {
        while (round < i) {
          std::this_thread::yield();
        }
        b.post(i);
      }
    }};
    for (int i = 1; i <= rounds; ++i) {
      activate(queue, choice(receive(a, [&](int) { ++fired; }),
                             receive(b, [&](int) { ++fired; })));
      round = i;
    }
  }
  pool.drain();
  EXPECT_EQ(fired, rounds);
  EXPECT_EQ(a.size() + b.size(), static_cast<std::size_t>(rounds));
}

} // namespace
} // namespace wharf

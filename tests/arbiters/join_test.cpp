#include <wharf/join.hpp>

#include "support/failures.hpp"
#include "support/no_relinks.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/choice.hpp>
#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace wharf {
namespace {

using test::fragile;
using test::no_relinks;
using test::take_whats;
using test::tally;
using test::test_dispatcher;
using test::tracked;

TEST(JoinTest, WaitsForAllItsPortsAndTakesTheOldestOfEach) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<std::string> b;
  port<double> c;
  std::string got;
  activate(queue, join(a, b, c, [&](int x, std::string y, double) {
             got = std::to_string(x) + y;
           }));
  a.post(1);
  a.post(2);
  c.post(0.5);
  pool.run_all();
  EXPECT_EQ(got, "");
  b.post("x");
  EXPECT_EQ(a.size(), 1U);
  pool.run_all();
  EXPECT_EQ(got, "1x");
  EXPECT_EQ(a.try_take(), 2);
}

TEST(JoinTest, WhileItWaitsItsMessagesAreForEverybody) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  int sum = 0;
  activate(queue, join(a, b, [&](int x, int y) { sum = x + y; }));
  a.post(1);
  EXPECT_EQ(a.size(), 1U);
  EXPECT_EQ(a.try_take(), 1); // taken away from under it
  b.post(10);
  pool.run_all();
  EXPECT_EQ(sum, 0);
  a.post(2);
  pool.run_all();
  EXPECT_EQ(sum, 12);
}

TEST(JoinTest, FindsWhatIsThereAtActivation) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::vector<int> sums;
  for (int i = 1; i <= 3; ++i) {
    a.post(i);
    b.post(10 * i);
  }
  const auto handler = [&](int x, int y) { sums.push_back(x + y); };
  activate(queue, join(a, b, handler));
  EXPECT_EQ(a.size(), 2U);
  activate(queue, join(persist, a, b, handler));
  pool.run_all();
  EXPECT_EQ(sums, (std::vector{11, 22, 33}));
}

TEST(JoinTest, FiresWhateverTheOrderOfThePosts) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::array<port<int>, 3> p;
  int fired = 0;
  std::array order{0, 1, 2};
  do {
    activate(queue, join(p[0], p[1], p[2], [&](int, int, int) { ++fired; }));
    for (const int i : order) {
      p[static_cast<std::size_t>(i)].post(i);
    }
    pool.run_all();
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(fired, 6);
}

TEST(JoinTest, TheSamePortTwiceTakesTwoOldestFirst) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::vector<int> got;
  activate(queue, join(a, b, a, [&](int x, int y, int z) { got = {x, y, z}; }));
  b.post(10);
  a.post(1);
  EXPECT_EQ(a.size() + b.size(), 2U);
  a.post(2);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{1, 10, 2}));
}

TEST(JoinTest, OfNTakesNOldestFirstAndLeavesTheSurplus) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> got;
  activate(queue, join(numbers, 3, [&](std::vector<int> three) {
             got = std::move(three);
           }));
  numbers.post(1);
  numbers.post(2);
  EXPECT_EQ(numbers.size(), 2U);
  numbers.post(3);
  numbers.post(4);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{1, 2, 3}));
  EXPECT_EQ(numbers.try_take(), 4);
}

TEST(JoinTest, APersistentJoinOfNFiresForEveryN) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<std::vector<int>> got;
  activate(queue, join(persist, numbers, 2, [&](std::vector<int> two) {
             got.push_back(std::move(two));
           }));
  for (int i = 0; i < 5; ++i) {
    numbers.post(i);
  }
  EXPECT_EQ(numbers.size(), 5U); // until the handlers start
  EXPECT_EQ(numbers.try_take(), 4);
  pool.run_all();
  EXPECT_EQ(got, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(JoinTest, OverARangeTakesOneOfEachInTheRangesOrder) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<port<int>> ports(20); // more than a decision keeps in place
  std::vector<int> got;
  const activation all =
      activate(queue, join(persist, ports, [&](std::vector<int> each) {
                 got = std::move(each);
               }));
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = ports.size(); i != 0; --i) {
      ports[i - 1].post(static_cast<int>(i) + 100 * round);
    }
    pool.run_all();
    ASSERT_EQ(got.size(), 20U);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(got[i], static_cast<int>(i) + 1 + 100 * round);
    }
  }
  EXPECT_TRUE(all.active());
}

TEST(JoinTest, ARangeMayNameAPortTwice) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<int> a;
  port<int> same = a;
  std::vector<int> got;
  activate(queue, join(std::vector{a, a},
                       [&](std::vector<int> each) { got = std::move(each); }));
  same.post(1);
  EXPECT_EQ(same.size(), 1U);
  same.post(2);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{1, 2}));
}

TEST(JoinTest, OfNothingIsMisuse) {
  const port<int> numbers;
  const auto handler = [](const std::vector<int>&) {};
  EXPECT_THROW((void)join(numbers, 0, handler), std::invalid_argument);
  EXPECT_THROW((void)join(persist, numbers, 0, handler), std::invalid_argument);
  EXPECT_THROW((void)join(std::vector<port<int>>{}, handler),
               std::invalid_argument);
  EXPECT_THROW((void)join(persist, std::vector<port<int>>{}, handler),
               std::invalid_argument);
}

TEST(JoinTest, OfANegativeNumberIsMisuse) {
  const port<int> numbers;
  const auto handler = [](const std::vector<int>&) {};
  EXPECT_THROW((void)join(numbers, -1, handler), std::invalid_argument);
}

TEST(JoinTest, MoveOnlyMessagesAndHandlersAreWelcome) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<tracked> a;
  port<std::unique_ptr<int>> b;
  int sum = 0;
  activate(
      queue,
      join(a, b, [&, own = tracked{counts}](tracked t, std::unique_ptr<int> n) {
        sum = t.value + *n;
      }));
  a.post(tracked{counts, 40});
  b.post(std::make_unique<int>(2));
  pool.run_all();
  EXPECT_EQ(sum, 42);
  EXPECT_EQ(counts.copies, 0);
  EXPECT_EQ(counts.alive, 0);
}

TEST(JoinTest, JoinsThatShareAPortTakeTurns) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> shared;
  port<int> a;
  port<int> b;
  std::string order;
  for (int i = 0; i < 10; ++i) {
    a.post(i);
    b.post(i);
  }
  activate(queue, join(persist, shared, a, [&](int, int) { order += 'a'; }));
  activate(queue, join(persist, shared, b, [&](int, int) { order += 'b'; }));
  for (int i = 0; i < 6; ++i) {
    shared.post(i);
    pool.run_all();
  }
  EXPECT_EQ(order, "ababab");
}

TEST(JoinTest, JoinsOnTheSamePortsTakeTurns) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::string order;
  activate(queue, join(persist, a, b, [&](int, int) { order += '1'; }));
  activate(queue, join(persist, b, a, [&](int, int) { order += '2'; }));
  activate(queue, join(persist, a, b, [&](int, int) { order += '3'; }));
  for (int i = 0; i < 6; ++i) {
    (i % 2 == 0 ? a : b).post(i);
    (i % 2 == 0 ? b : a).post(i);
    pool.run_all();
  }
  EXPECT_EQ(order, "123123");
}

TEST(JoinTest, AHigherPriorityGoesFirstEveryTime) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> shared;
  port<int> a;
  port<int> b;
  std::string order;
  for (int i = 0; i < 3; ++i) {
    a.post(i);
    b.post(i);
  }
  activate(queue, join(persist, shared, a, [&](int, int) { order += 'a'; }));
  activate(queue, join(persist, shared, b, [&](int, int) {
                    order += 'b';
                  }).priority(priority::high));
  for (int i = 0; i < 5; ++i) {
    shared.post(i);
    pool.run_all();
  }
  EXPECT_EQ(order, "bbbaa");
}

TEST(JoinTest, DoesNotHoldUpOthersWhileItLacks) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  int got = 0;
  activate(queue, join(a, b, [](int, int) {}).priority(priority::high));
  activate(queue, receive(a, [&](int n) { got = n; }));
  a.post(1);
  pool.run_all();
  EXPECT_EQ(got, 1);
}

TEST(JoinTest, ARefusedMessageServesALaterJoin) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  activate(queue, receive(a, [](int) {}).when([](int n) { return n > 5; }));
  a.post(1);
  int sum = 0;
  activate(queue, join(a, b, [&](int x, int y) { sum = x + y; }));
  b.post(10);
  pool.run_all();
  EXPECT_EQ(sum, 11);
}

TEST(JoinTest, PhilosophersShareTheirForks) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<port<int>> forks(5);
  std::vector<int> meals(5, 0);
  int left = 500;
  for (std::size_t i = 0; i < 5; ++i) {
    activate(queue, join(persist, forks[i], forks[(i + 1) % 5],
                         [&, i](int mine, int next) {
                           ++meals[i];
                           if (--left > 0) {
                             forks[i].post(mine);
                             forks[(i + 1) % 5].post(next);
                           }
                         }));
  }
  for (port<int>& fork : forks) {
    fork.post(1);
  }
  pool.run_all();
  EXPECT_LE(left, 0);
  for (const int each : meals) {
    EXPECT_GE(each, 60); // a fair share would be 100
  }
}

TEST(JoinTest, ALeavingJoinGivesItsUnitsBackInPlace) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  int ran = 0;
  activation all =
      activate(queue, join(persist, a, b, a, [&](int, int, int) { ++ran; }));
  for (int i = 1; i <= 5; ++i) {
    a.post(i);
    b.post(10 * i);
  }
  EXPECT_EQ(a.size(), 5U);
  EXPECT_EQ(b.size(), 5U);
  EXPECT_EQ(a.try_take(), 5); // what the join has not taken
  pool.run_one();
  EXPECT_EQ(ran, 1);
  EXPECT_TRUE(all.cancel());
  EXPECT_FALSE(all.cancel());
  EXPECT_EQ(a.try_take_all(), (std::vector{3, 4}));
  EXPECT_EQ(b.try_take_all(), (std::vector{20, 30, 40, 50}));
}

TEST(JoinTest, AClosedPortThatLacksEndsIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  port<int> b;
  const activation one =
      activate(queue, join(a, b, [own = tracked{counts}](int, int) {}));
  const activation all = activate(
      queue, join(persist, a, b, [own = tracked{counts}](int, int) {}));
  b.close();
  EXPECT_FALSE(one.active());
  EXPECT_FALSE(all.active());
  EXPECT_EQ(counts.alive, 0);
  a.post(1);
  EXPECT_EQ(a.size(), 1U);
}

TEST(JoinTest, AClosedPortThatHasEnoughServesItToTheEnd) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  a.post(1);
  a.post(2);
  std::vector<int> sums;
  const activation all = activate(
      queue, join(persist, a, b, [&](int x, int y) { sums.push_back(x + y); }));
  a.close();
  EXPECT_TRUE(all.active());
  b.post(10);
  EXPECT_TRUE(all.active());
  b.post(20);
  b.post(30);
  pool.run_all();
  EXPECT_EQ(sums, (std::vector{11, 22}));
  EXPECT_FALSE(all.active());
  EXPECT_EQ(b.size(), 1U);
}

TEST(JoinTest, EndsWhenSomebodyTakesWhatAClosedPortHeldForIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  a.post(1);
  a.post(2);
  const activation first = activate(queue, join(a, b, [](int, int) {}));
  const activation second =
      activate(queue, join(b, a, a, [](int, int, int) {}));
  a.close();
  EXPECT_TRUE(second.active());
  a.try_take();
  EXPECT_TRUE(first.active());
  EXPECT_FALSE(second.active());
  activate(queue, receive(a, [](int) {}));
  EXPECT_FALSE(first.active());
}

TEST(JoinTest, IsHopelessOnAClosedEmptyPort) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  port<int> b;
  b.close();
  a.post(1);
  EXPECT_FALSE(activate(queue, join(a, b, [own = tracked{counts}](int, int) {}))
                   .active());
  EXPECT_FALSE(
      activate(queue, join(persist, a, b, [own = tracked{counts}](int, int) {}))
          .active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(a.size(), 1U);
}

TEST(JoinTest, TheLastHandleOfAPortEndsIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  activation one;
  {
    port<tracked> b;
    one = activate(queue,
                   join(a, b, b, [](int, const tracked&, const tracked&) {}));
    b.post(tracked{counts});
  }
  EXPECT_FALSE(one.active());
  EXPECT_EQ(counts.alive, 0); // what lay there, too
}

TEST(JoinTest, TheLastHandleOfAPortEndsOneThatIsABranchToo) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  activation one;
  {
    port<tracked> b;
    one = activate(queue,
                   choice(receive(a, [](int) {}),
                          join(b, b, [](const tracked&, const tracked&) {})));
    b.post(tracked{counts});
  }
  EXPECT_TRUE(one.active());
  EXPECT_EQ(counts.alive, 0); // the choice goes on, but not with this
}

TEST(JoinTest, CancelLeavesItsPorts) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  activation one = activate(queue, join(a, b, [](int, int) {}));
  a.post(1);
  EXPECT_TRUE(one.cancel());
  b.post(2);
  EXPECT_EQ(a.size() + b.size(), 2U);
}

TEST(JoinTest, AHandlerThatThrowsCostsItsOwnMessagesOnly) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<tracked> a;
  port<int> b;
  std::vector<int> got;
  activate(queue, join(persist, a, b, [&](const tracked&, int n) {
             if (n == 1) {
               throw std::runtime_error{"broken"};
             }
             got.push_back(n);
           }));
  for (int i = 0; i < 3; ++i) {
    a.post(tracked{counts});
    b.post(i);
  }
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 2}));
  EXPECT_EQ(take_whats(failures), std::vector<std::string>{"broken"});
  EXPECT_EQ(counts.alive, 0);
}

TEST(JoinTest, AMoveThatThrowsAtDeliverySpendsItsOwnMessagesOnly) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<fragile> things;
  std::vector<std::size_t> got;
  activate(queue,
           join(persist, things, 2, [&](const std::vector<fragile>& two) {
             got.push_back(two.size());
           }));
  int one_move = 1; // the one into the port
  things.post(fragile{1, &one_move});
  for (int i = 2; i <= 5; ++i) {
    things.post(fragile{i});
  }
  pool.run_all();
  EXPECT_EQ(pool.pool().unhandled_failures(), 1U);
  EXPECT_EQ(got, std::vector<std::size_t>{2});
  EXPECT_EQ(things.try_take()->value, 5);
}

TEST(JoinTest, OneAtATimeNeverOverlaps) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  int ran = 0;
  activate(queue, join(persist, a, b, [&](int, int) {
                    overlaps += ++inside == 1 ? 0 : 1;
                    ++ran;
                    --inside;
                  }).one_at_a_time());
  for (int i = 0; i < 5'000; ++i) {
    a.post(i);
    b.post(i);
  }
  pool.drain();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(ran, 5'000);
}

// Goal: no wake-up of a join is lost and no message taken by halves.
// Method: joins over pairs of three ports, in all orders, while three threads
// post; in the end no two ports hold messages.
TEST(JoinStressTest, NothingSleepsWhileItCouldFire) {
  constexpr int posts = 6'000;
  const no_relinks nothing_put_back;
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::array<port<int>, 3> p;
  std::atomic<int> fired{0};
  const auto handler = [&](int, int) { ++fired; };
  activate(queue, join(persist, p[0], p[1], handler));
  activate(queue, join(persist, p[2], p[1], handler));
  activate(queue, join(persist, p[2], p[0], handler));
  {
    std::vector<std::jthread> posters;
    for (port<int>& each : p) {
      posters.emplace_back([&] {
        for (int i = 0; i < posts; ++i) {
          each.post(i);
        }
      });
    }
  }
  pool.drain();
  std::size_t left = 0;
  int holding = 0;
  for (const port<int>& each : p) {
    left += each.size();
    holding += each.empty() ? 0 : 1;
  }
  EXPECT_LE(holding, 1);
  EXPECT_EQ(left + 2 * static_cast<std::size_t>(fired), 3U * posts);
}

} // namespace
} // namespace wharf

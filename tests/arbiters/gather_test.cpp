#include <wharf/gather.hpp>

#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/choice.hpp>
#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace wharf {
namespace {

using test::fragile;
using test::take_whats;
using test::tally;
using test::test_dispatcher;
using test::tracked;

using numbers_and_texts = port_set<int, std::string>;

TEST(GatherTest, FiresOnceWithExactlyItsNumberInOrderPerType) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  std::vector<int> numbers;
  std::vector<std::string> texts;
  const activation one = activate(
      queue,
      gather(response, 4, [&](std::vector<int> n, std::vector<std::string> t) {
        numbers = std::move(n);
        texts = std::move(t);
      }));
  response.post(1);
  response.post(std::string{"a"});
  response.post(std::string{"b"});
  EXPECT_TRUE(one.active());
  response.post(2);
  EXPECT_FALSE(one.active());
  response.post(3);
  pool.run_all();
  EXPECT_EQ(numbers, (std::vector{1, 2}));
  EXPECT_EQ(texts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(response.get<int>().try_take(), 3); // the surplus stays
}

TEST(GatherTest, TakesWhatIsThereAtActivation) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  for (int i = 0; i < 3; ++i) {
    response.post(i);
    response.post(std::to_string(i));
  }
  std::size_t got = 0;
  activate(queue, gather(response, 4,
                         [&](const std::vector<int>& n,
                             const std::vector<std::string>& t) {
                           got = n.size() * 10 + t.size();
                         }));
  pool.run_all();
  EXPECT_EQ(got, 31U);
  EXPECT_EQ(response.get<std::string>().size(), 2U);
}

TEST(GatherTest, OfNothingFiresAtOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  response.post(1);
  int ran = 0;
  activate(queue, gather(response, 0,
                         [&](const std::vector<int>& n,
                             const std::vector<std::string>& t) {
                           ran += n.empty() && t.empty() ? 1 : 100;
                         }));
  EXPECT_EQ(ran, 0);
  pool.run_all();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(response.get<int>().size(), 1U);
}

TEST(GatherTest, OfNothingFiresOnClosedPortsToo) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.close();
  int ran = 0;
  activate(queue, gather(numbers, 0, [&](const std::vector<int>&) { ++ran; }));
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(GatherTest, WhatItHoldsIsCountedAndOutOfReach) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::size_t inside = 99;
  activate(queue, gather(numbers, 3, [&](const std::vector<int>&) {
             inside = numbers.size();
           }));
  numbers.post(1);
  numbers.post(2);
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers.try_take(), std::nullopt);
  EXPECT_EQ(numbers.clear(), 0U);
  numbers.post(3);
  EXPECT_EQ(numbers.size(), 3U); // until the handler starts
  pool.run_all();
  EXPECT_EQ(inside, 0U);
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(GatherTest, CancelGivesBackInPlace) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  activation one = activate(
      queue,
      gather(response, 10,
             [](const std::vector<int>&, const std::vector<std::string>&) {}));
  activate(queue, receive(response.get<int>(), [](int) {
                  }).when([](int n) {
                      return n < 0;
                    }).priority(priority::high));
  response.post(1);
  response.post(std::string{"a"});
  response.post(2);
  EXPECT_TRUE(one.cancel());
  response.post(3);
  response.post(std::string{"b"});
  EXPECT_EQ(response.get<int>().try_take_all(), (std::vector{1, 2, 3}));
  EXPECT_EQ(response.get<std::string>().try_take_all(),
            (std::vector<std::string>{"a", "b"}));
}

TEST(GatherTest, GivesBackBetweenWhatOthersLeft) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  for (int i = 1; i <= 3; ++i) {
    numbers.post(i);
  }
  activation first =
      activate(queue, gather(numbers, 10, [](const std::vector<int>&) {}));
  numbers.post(4);
  EXPECT_TRUE(first.cancel());
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2, 3, 4}));
}

TEST(GatherTest, WhatItGivesBackServesTheNext) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> got;
  activation first =
      activate(queue, gather(numbers, 3, [](const std::vector<int>&) {}));
  activate(queue,
           gather(numbers, 2, [&](std::vector<int> n) { got = std::move(n); }));
  numbers.post(1);
  numbers.post(2);
  EXPECT_TRUE(first.cancel());
  pool.run_all();
  EXPECT_EQ(got, (std::vector{1, 2}));
}

TEST(GatherTest, KeepsArrivalOrderOfWhatIsGivenToItLate) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation even = activate(queue, receive(persist, numbers, [](int) {
                                    }).when([](int n) {
                                        return n % 2 == 0;
                                      }).priority(priority::high));
  std::vector<int> got;
  activate(queue,
           gather(numbers, 6, [&](std::vector<int> n) { got = std::move(n); }));
  for (int i = 0; i < 6; ++i) {
    numbers.post(i);
  }
  EXPECT_TRUE(even.cancel());
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(GatherTest, EndsWhenAllItsPortsAreClosedAndShort) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  const activation one = activate(
      queue,
      gather(response, 3,
             [own = tracked{counts}](const std::vector<int>&,
                                     const std::vector<std::string>&) {}));
  response.post(1);
  response.get<int>().close();
  EXPECT_TRUE(one.active());
  response.post(std::string{"a"});
  response.get<std::string>().close();
  EXPECT_FALSE(one.active());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(response.get<int>().try_take(), 1);
  EXPECT_EQ(response.get<std::string>().try_take(), "a");
}

TEST(GatherTest, AClosedPortMayStillHaveBroughtEnough) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  response.post(1);
  response.get<int>().close();
  std::size_t got = 0;
  activate(queue, gather(response, 2,
                         [&](const std::vector<int>& n,
                             const std::vector<std::string>& t) {
                           got = n.size() * 10 + t.size();
                         }));
  response.post(std::string{"a"});
  response.close();
  pool.run_all();
  EXPECT_EQ(got, 11U);
}

TEST(GatherTest, OnClosedPortsItFiresWithWhatIsThereOrEnds) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  for (int i = 0; i < 3; ++i) {
    numbers.post(i);
  }
  numbers.close();
  std::vector<int> got;
  const auto handler = [&](std::vector<int> n) { got = std::move(n); };
  activate(queue, gather(numbers, 2, handler));
  EXPECT_FALSE(activate(queue, gather(numbers, 2, handler)).active());
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 1}));
  EXPECT_EQ(numbers.try_take(), 2);
}

TEST(GatherTest, LeavesNoReceiverBehind) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  numbers_and_texts response;
  activate(queue, gather(response, 1,
                         [](const std::vector<int>&,
                            const std::vector<std::string>&) {}));
  response.post(1);
  pool.run_all();
  response.post(std::string{"a"});
  response.post(2);
  EXPECT_EQ(response.get<std::string>().try_take(), "a");
  EXPECT_EQ(response.get<int>().try_take(), 2);
}

TEST(GatherTest, AHigherPriorityIsAskedFirst) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int got = 0;
  activate(queue, receive(numbers, [&](int) { got += 1; }));
  activate(queue, gather(numbers, 1, [&](const std::vector<int>&) {
                    got += 10;
                  }).priority(priority::high));
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(got, 10);
}

TEST(GatherTest, MoveOnlyMessagesAreWelcome) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port_set<std::unique_ptr<int>, tracked> response;
  int sum = 0;
  activate(queue, gather(response, 2,
                         [&, own = std::make_unique<int>(1)](
                             std::vector<std::unique_ptr<int>> boxes,
                             const std::vector<tracked>& things) {
                           sum = *own + *boxes[0] + things[0].value;
                         }));
  response.post(std::make_unique<int>(40));
  response.post(tracked{counts, 1});
  pool.run_all();
  EXPECT_EQ(sum, 42);
  EXPECT_EQ(counts.copies, 0);
  EXPECT_EQ(counts.alive, 0);
}

TEST(GatherTest, AMoveThatThrowsAtDeliverySpendsItsOwnMessagesOnly) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<fragile> things;
  int ran = 0;
  activate(queue,
           gather(things, 2, [&](const std::vector<fragile>&) { ++ran; }));
  int one_move = 1; // the one into the port
  things.post(fragile{1, &one_move});
  things.post(fragile{2});
  things.post(fragile{3});
  pool.run_all();
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(take_whats(failures),
            std::vector<std::string>{"broken on the way"});
  EXPECT_EQ(things.size(), 1U);
  EXPECT_EQ(things.try_take()->value, 3);
}

TEST(GatherTest, ItsQueuesEndGivesBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activate(queue, gather(numbers, 3, [](const std::vector<int>&) {}));
  numbers.post(1);
  numbers.post(2);
  queue.close();
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2}));
}

TEST(GatherTest, ADecidedOneThatItsQueueDiscardsIsDestroyedAndCounted) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<tracked> things;
  activate(queue, gather(things, 2, [](const std::vector<tracked>&) {}));
  things.post(tracked{counts});
  things.post(tracked{counts});
  queue.close();
  EXPECT_EQ(queue.discarded(), 1U);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(things.size(), 0U);
}

// Goal: exactly n, none lost, none twice, whatever the interleaving.
// Method: three threads post to three types while gathers come one after the
// other; in the end nothing is missing.
TEST(GatherStressTest, TakesExactlyItsNumberWhenPortsRace) {
  constexpr int each = 3'000;
  constexpr std::size_t wanted = 6;
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port_set<int, long, char> response;
  std::atomic<std::size_t> got{0};
  std::atomic<int> wrong{0};
  for (std::size_t i = 0; i < 3 * each / wanted; ++i) {
    activate(queue,
             gather(response, wanted,
                    [&](const std::vector<int>& a, const std::vector<long>& b,
                        const std::vector<char>& c) {
                      const std::size_t n = a.size() + b.size() + c.size();
                      wrong += n == wanted ? 0 : 1;
                      got += n;
                    }));
  }
  {
    const auto post = [&](auto value) {
      return std::jthread{[&, value] {
        for (int i = 0; i < each; ++i) {
          response.post(value);
        }
      }};
    };
    const std::jthread a = post(1);
    const std::jthread b = post(1L);
    const std::jthread c = post('x');
  }
  pool.drain();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(got, 3U * each);
  EXPECT_EQ(response.get<int>().size() + response.get<long>().size() +
                response.get<char>().size(),
            0U);
}

} // namespace
} // namespace wharf

#include <wharf/receive.hpp>

#include "support/failures.hpp"
#include "support/no_relinks.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/choice.hpp>
#include <wharf/gather.hpp>
#include <wharf/join.hpp>
#include <wharf/spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace wharf {
namespace {

using test::fragile;
using test::no_relinks;
using test::take_whats;
using test::tally;
using test::test_dispatcher;
using test::tracked;

using description = decltype(receive(std::declval<port<int>&>(), [](int) {}));
static_assert(!std::is_copy_constructible_v<description>);
static_assert(std::is_move_constructible_v<description>);

TEST(ReceiveTest, AOneTimeReceiverTakesOneMessageAndIsGone) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> got;
  const activation one =
      activate(queue, receive(numbers, [&](int n) { got.push_back(n); }));
  numbers.post(1);
  numbers.post(2);
  EXPECT_FALSE(one.active());
  pool.run_all();
  EXPECT_EQ(got, std::vector{1});
  EXPECT_EQ(numbers.try_take(), 2);
}

TEST(ReceiveTest, AOneTimeReceiverTakesTheOldestThatIsThere) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(1);
  numbers.post(2);
  int got = 0;
  activate(queue, receive(numbers, [&](int n) { got = n; }));
  EXPECT_EQ(numbers.size(), 1U);
  pool.run_all();
  EXPECT_EQ(got, 1);
}

TEST(ReceiveTest, APersistentReceiverTakesAllInOrder) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(0);
  numbers.post(1);
  std::vector<int> got;
  const activation all = activate(
      queue, receive(persist, numbers, [&](int n) { got.push_back(n); }));
  numbers.post(2);
  pool.run_all();
  numbers.post(3);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 1, 2, 3}));
  EXPECT_TRUE(all.active());
}

TEST(ReceiveTest, MoveOnlyHandlersAndPredicatesAreWelcome) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int got = 0;
  activate(
      queue,
      receive(numbers, [&, box = std::make_unique<int>(1),
                        own = tracked{counts}](int n) {
        got = n + *box;
      }).when([limit = std::make_unique<int>(3), own = tracked{counts}](int n) {
        return n > *limit;
      }));
  numbers.post(3);
  numbers.post(4);
  pool.run_all();
  EXPECT_EQ(got, 5);
  EXPECT_EQ(counts.copies, 0);
  EXPECT_EQ(counts.alive, 0);
}

TEST(ReceiveTest, HandlersMayTakeTheirMessageByReferenceOrIgnoreIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<std::string> texts;
  std::string got;
  activate(queue, receive(texts, [&](const std::string& t) { got += t; }));
  activate(queue, receive(texts, [&](std::string&& t) { got += t; }));
  activate(queue, receive(texts, [&](auto&&) { got += "c"; }));
  texts.post("a");
  texts.post("b");
  texts.post("ignored");
  pool.run_all();
  EXPECT_EQ(got, "abc");
}

TEST(ReceiveTest, AMessageDiesWithItsHandlersCall) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<tracked> things;
  int alive_inside = 0;
  activate(queue, receive(persist, things, [&](const tracked&) {
             alive_inside = counts.alive;
           }));
  things.post(tracked{counts});
  pool.run_all();
  EXPECT_EQ(alive_inside, 1);
  EXPECT_EQ(counts.alive, 0);
}

TEST(ReceiveTest, ReceiversAreAskedByPriorityThenRegistration) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<std::string> got;
  const auto as = [&](const char* who) {
    return [&got, who](int) { got.emplace_back(who); };
  };
  activate(queue, receive(numbers, as("low")).priority(priority::low));
  activate(queue, receive(numbers, as("first")));
  activate(queue, receive(numbers, as("highest")).priority(100));
  activate(queue, receive(numbers, as("second")));
  activate(queue, receive(numbers, as("high")).priority(priority::high));
  for (int i = 0; i < 5; ++i) {
    numbers.post(i);
  }
  pool.run_all();
  EXPECT_EQ(got, (std::vector<std::string>{"highest", "high", "first", "second",
                                           "low"}));
}

TEST(ReceiveTest, PriorityDecidesWhoGetsAMessageNotWhoRunsFirst) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> first;
  port<int> second;
  std::vector<int> order;
  activate(queue, receive(first, [&](int n) {
                    order.push_back(n);
                  }).priority(priority::low));
  activate(queue, receive(second, [&](int n) {
                    order.push_back(n);
                  }).priority(priority::high));
  first.post(1);
  second.post(2);
  pool.run_all();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(ReceiveTest, OneAtATimeNeverOverlapsAndKeepsOrder) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::atomic<int> inside{0};
  std::atomic<int> overlaps{0};
  std::vector<int> got;
  activate(queue, receive(persist, numbers, [&](int n) {
                    overlaps += ++inside == 1 ? 0 : 1;
                    got.push_back(n);
                    --inside;
                  }).one_at_a_time());
  std::vector<int> expected;
  for (int i = 0; i < 10'000; ++i) {
    numbers.post(i);
    expected.push_back(i);
  }
  pool.drain();
  EXPECT_EQ(overlaps, 0);
  EXPECT_EQ(got, expected);
}

TEST(ReceiveTest, HandlersOfOnePersistentReceiverOverlap) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::latch both{2}; // each waits for the other
  activate(queue,
           receive(persist, numbers, [&](int) { both.arrive_and_wait(); }));
  numbers.post(1);
  numbers.post(2);
  pool.drain();
  EXPECT_TRUE(both.try_wait());
}

// Predicates.

TEST(ReceiveTest, WhatAPredicateRefusesStaysInPlaceAndHoldsUpNobody) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> even;
  activate(queue, receive(persist, numbers, [&](int n) {
                    even.push_back(n);
                  }).when([](int n) { return n % 2 == 0; }));
  for (int i = 1; i <= 6; ++i) {
    numbers.post(i);
  }
  pool.run_all();
  EXPECT_EQ(even, (std::vector{2, 4, 6}));
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 3, 5}));
}

TEST(ReceiveTest, AtActivationAPredicateTakesFromTheMiddle) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  for (int i = 1; i <= 6; ++i) {
    numbers.post(i);
  }
  std::vector<int> got;
  activate(queue, receive(numbers, [&](int n) {
                    got.push_back(n);
                  }).when([](int n) { return n == 6; }));
  activate(queue, receive(numbers, [&](int n) {
                    got.push_back(n);
                  }).when([](int n) { return n > 2; }));
  pool.run_all();
  EXPECT_EQ(got, (std::vector{6, 3}));
  numbers.post(7); // the list's end is where it belongs
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2, 4, 5, 7}));
}

TEST(ReceiveTest, APredicateIsAskedOncePerOfferInOrder) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(1);
  numbers.post(2);
  std::vector<int> asked;
  activate(queue, receive(numbers, [](int) {}).when([&](int n) {
    asked.push_back(n);
    return false;
  }));
  EXPECT_EQ(asked, (std::vector{1, 2})); // at activation, oldest first
  numbers.post(3);                       // not about 1 and 2 again
  EXPECT_EQ(asked, (std::vector{1, 2, 3}));
  EXPECT_EQ(numbers.size(), 3U);
}

TEST(ReceiveTest, AOneTimePredicateIsNotAskedAfterItHasSaidYes) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int asked = 0;
  activate(queue, receive(numbers, [](int) {}).when([&](int) {
    ++asked;
    return true;
  }));
  numbers.post(1);
  numbers.post(2);
  EXPECT_EQ(asked, 1);
}

// The join behind the predicate needs the lock of `b`, which another thread
// holds: the post has to start afresh, but it is still one offer.
TEST(ReceiveTest, APredicateIsAskedOnceThoughALaterReceiverNeedsMoreLocks) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::atomic<int> asked{0};
  std::latch b_is_locked{1};
  activate(queue, receive(a, [](int) {})
                      .when([&](int) {
                        ++asked;
                        return false;
                      })
                      .priority(priority::high));
  activate(queue, receive(b, [](int) {})
                      .when([&](int) {
                        b_is_locked.count_down();
                        // Long enough for the post to `a` to come upon it.
                        for (int i = 0; i < 20'000; ++i) {
                          std::this_thread::yield();
                        }
                        return false;
                      })
                      .priority(priority::high));
  port<int> c;
  c.post(1);
  activate(queue, join(a, b, c, [](int, int, int) {}));
  std::jthread other{[&] { b.post(2); }};
  b_is_locked.wait();
  a.post(1);
  EXPECT_EQ(asked, 1);
}

TEST(ReceiveTest, APredicateThatThrowsHasSaidNoAndIsReportedOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> numbers;
  std::vector<std::string> got;
  activate(queue, receive(numbers, [&](int) { got.emplace_back("picky"); })
                      .when([](int n) -> bool {
                        if (n == 1) {
                          throw std::runtime_error{"can't say"};
                        }
                        return true;
                      })
                      .priority(priority::high));
  activate(queue, receive(numbers, [&](int) { got.emplace_back("next"); }));
  numbers.post(1);
  EXPECT_EQ(take_whats(failures), std::vector<std::string>{"can't say"});
  numbers.post(2);
  pool.run_all();
  EXPECT_EQ(got, (std::vector<std::string>{"next", "picky"}));
  EXPECT_EQ(failures.size(), 0U);
}

TEST(ReceiveTest, APredicateThatThrowsAtActivationIsReportedToo) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> numbers;
  numbers.post(1);
  numbers.post(2);
  int got = 0;
  activate(queue, receive(persist, numbers, [&](int n) {
                    got += n;
                  }).when([](int n) -> bool {
    if (n == 1) {
      throw std::runtime_error{"can't say"};
    }
    return true;
  }));
  pool.run_all();
  EXPECT_EQ(take_whats(failures), std::vector<std::string>{"can't say"});
  EXPECT_EQ(got, 2);
  EXPECT_EQ(numbers.size(), 1U);
}

/// What a predicate gets that makes this call.
template <class Call>
std::string answer_in_predicate(dispatcher_queue& queue, Call call) {
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> asked;
  activate(queue, receive(asked, [](int) {}).when([&](int) {
    call(asked);
    return true;
  }));
  asked.post(1);
  const std::vector<std::string> whats = take_whats(failures);
  return whats.empty() ? "nothing" : whats.front();
}

const std::string refusal =
    "a predicate runs under its port's lock and may call nothing of Wharf";

TEST(ReceiveTest, APredicateThatUsesAPortIsRefused) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> other;
  const std::vector<std::function<void(port<int>)>> calls{
      [](port<int> p) { p.post(1); },          [](port<int> p) { p.size(); },
      [](port<int> p) { p.try_take(); },       [](port<int> p) { p.clear(); },
      [](port<int> p) { p.try_take_all(); },   [](port<int> p) { p.close(); },
      [&](const port<int>&) { other.post(1); }};
  for (const auto& call : calls) {
    EXPECT_EQ(answer_in_predicate(queue, call), refusal);
  }
  EXPECT_EQ(other.size(), 0U);
}

TEST(ReceiveTest, APredicateThatSpawnsIsRefused) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  EXPECT_EQ(answer_in_predicate(queue,
                                [&](const port<int>&) { spawn(queue, [] {}); }),
            refusal);
}

TEST(ReceiveTest, APredicateThatActivatesIsRefused) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<int> other;
  EXPECT_EQ(answer_in_predicate(queue,
                                [&](const port<int>&) {
                                  activate(queue, receive(other, [](int) {}));
                                }),
            refusal);
}

TEST(ReceiveTest, APredicateThatCancelsIsRefused) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<int> other;
  activation waiting = activate(queue, receive(other, [](int) {}));
  EXPECT_EQ(
      answer_in_predicate(queue, [&](const port<int>&) { waiting.cancel(); }),
      refusal);
  EXPECT_TRUE(waiting.active());
}

TEST(ReceiveTest, APredicateThatClosesAQueueIsRefused) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  dispatcher_queue other{pool};
  EXPECT_EQ(
      answer_in_predicate(queue, [&](const port<int>&) { other.close(); }),
      refusal);
  EXPECT_FALSE(other.closed());
}

// Failures.

TEST(ReceiveTest, AHandlerThatThrowsCostsItsOwnMessageOnly) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<int> numbers;
  std::vector<int> got;
  const activation all = activate(queue, receive(persist, numbers, [&](int n) {
                                    if (n == 1) {
                                      throw std::runtime_error{"broken"};
                                    }
                                    got.push_back(n);
                                  }));
  for (int i = 0; i < 3; ++i) {
    numbers.post(i);
  }
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 2}));
  EXPECT_EQ(take_whats(failures), std::vector<std::string>{"broken"});
  EXPECT_TRUE(all.active());
}

TEST(ReceiveTest, AMoveThatThrowsAtDeliveryIsTheHandlersFailure) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<std::exception_ptr> failures;
  queue.on_failure(failures);
  port<fragile> things;
  std::vector<int> got;
  activate(queue, receive(persist, things,
                          [&](fragile f) { got.push_back(f.value); }));
  int one_move = 1; // the one into the port
  things.post(fragile{1, &one_move});
  things.post(fragile{2});
  pool.run_all();
  EXPECT_EQ(take_whats(failures),
            std::vector<std::string>{"broken on the way"});
  EXPECT_EQ(got, std::vector{2});
}

// Cancel and giving back.

TEST(ReceiveTest, CancelGivesBackInPlace) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation even = activate(queue, receive(persist, numbers, [](int) {
                                    }).when([](int n) { return n % 2 == 0; }));
  for (int i = 1; i <= 6; ++i) {
    numbers.post(i);
  }
  EXPECT_TRUE(even.cancel());
  numbers.post(7);
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2, 3, 4, 5, 6, 7}));
}

TEST(ReceiveTest, CancelAfterAHandlerGivesTheRestBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> got;
  activation all;
  all = activate(queue, receive(persist, numbers, [&](int n) {
                   got.push_back(n);
                   EXPECT_TRUE(all.cancel());
                   EXPECT_EQ(numbers.size(), 3U);
                 }));
  for (int i = 0; i < 4; ++i) {
    numbers.post(i);
  }
  pool.run_all();
  EXPECT_EQ(got, std::vector{0});
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2, 3}));
}

TEST(ReceiveTest, WhatIsGivenBackIsOfferedOldestFirst) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> once;
  std::vector<int> rest;
  activation all = activate(
      queue, receive(persist, numbers, [](int) {}).priority(priority::high));
  activate(queue, receive(numbers, [&](int n) { once.push_back(n); }));
  activate(queue, receive(persist, numbers, [&](int n) { rest.push_back(n); }));
  for (int i = 0; i < 4; ++i) {
    numbers.post(i);
  }
  EXPECT_TRUE(all.cancel());
  EXPECT_EQ(numbers.size(), 3U);
  pool.run_all();
  EXPECT_EQ(once, std::vector{0});
  EXPECT_EQ(rest, (std::vector{1, 2, 3}));
}

// The handlers of one receiver start in arrival order, and a message that is
// given back keeps its place in that order.
TEST(ReceiveTest, WhatIsGivenBackToAReceiverStartsInArrivalOrder) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> got;
  activation even = activate(queue, receive(persist, numbers, [](int) {
                                    }).when([](int n) {
                                        return n % 2 == 0;
                                      }).priority(priority::high));
  activate(queue, receive(persist, numbers, [&](int n) { got.push_back(n); }));
  for (int i = 0; i < 6; ++i) {
    numbers.post(i);
  }
  EXPECT_TRUE(even.cancel());
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 1, 2, 3, 4, 5}));
}

TEST(ReceiveTest, WhatWasGivenBackTwiceIsInItsPlace) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation first = activate(queue, receive(persist, numbers, [](int) {
                                     }).when([](int n) {
                                         return n == 2;
                                       }).priority(priority::high));
  activation second =
      activate(queue, receive(persist, numbers, [](int) {}).when([](int n) {
        return n != 1 && n != 3;
      }));
  for (int i = 1; i <= 6; ++i) {
    numbers.post(i); // 1 and 3 stay; 2 is the first's; 4, 5, 6 the second's
  }
  EXPECT_TRUE(first.cancel()); // 2 goes to the second, behind 6
  EXPECT_TRUE(second.cancel());
  EXPECT_EQ(numbers.size(), 6U);
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2, 3, 4, 5, 6}));
}

TEST(ReceiveTest, WhatIsGivenBackCompletesAJoin) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  port<int> others;
  std::vector<int> sums;
  activation all = activate(
      queue, receive(persist, numbers, [](int) {}).priority(priority::high));
  activate(queue, join(persist, numbers, others,
                       [&](int a, int b) { sums.push_back(a + b); }));
  activate(queue, join(numbers, 2, [&](const std::vector<int>& two) {
             sums.push_back(two[0] * 1'000 + two[1]);
           }));
  for (int i = 1; i <= 4; ++i) {
    numbers.post(i);
  }
  others.post(10);
  EXPECT_TRUE(all.cancel());
  pool.run_all();
  EXPECT_EQ(sums, (std::vector{11, 2'003}));
  EXPECT_EQ(numbers.try_take_all(), std::vector{4});
}

// Cascade: each gift makes a choice lose a gather, which gives back to the
// next port, and so on.
TEST(ReceiveTest, ACascadeOfGiftsIsALoop) {
  constexpr int links = 100'000;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::vector<port<int>> ports(1);
  activation head = activate(
      queue, receive(persist, ports[0], [](int) {}).priority(priority::high));
  ports[0].post(0);
  int won = 0;
  for (int i = 0; i < links; ++i) {
    ports.emplace_back();
    const port<int>& mine = ports[static_cast<std::size_t>(i)];
    const port<int>& next = ports.back();
    activate(queue, choice(receive(mine, [&](int) { ++won; }),
                           gather(next, 2, [](const std::vector<int>&) {})));
    ports.back().post(i + 1); // the gather holds it
  }
  EXPECT_TRUE(head.cancel());
  pool.run_all();
  EXPECT_EQ(won, links);
  EXPECT_EQ(ports.back().try_take(), links);
}

// Ends.

TEST(ReceiveTest, AClosedPortEndsItsReceiversUnfired) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  const activation one =
      activate(queue, receive(numbers, [own = tracked{counts}](int) {
                      }).when([](int) { return false; }));
  const activation all = activate(
      queue, receive(persist, numbers, [own = tracked{counts}](int) {}));
  numbers.close();
  EXPECT_FALSE(one.active());
  EXPECT_FALSE(all.active());
  EXPECT_EQ(counts.alive, 0);
}

TEST(ReceiveTest, OnAClosedPortAReceiverTakesWhatIsThereAndEnds) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  for (int i = 0; i < 4; ++i) {
    numbers.post(i);
  }
  numbers.close();
  std::vector<int> got;
  activate(queue, receive(numbers, [&](int n) { got.push_back(n); }));
  const activation all = activate(
      queue, receive(persist, numbers,
                     [&, own = tracked{counts}](int n) { got.push_back(n); }));
  const activation none = activate(queue, receive(numbers, [](int) {}));
  EXPECT_FALSE(none.active());
  EXPECT_TRUE(all.active());
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 1, 2, 3}));
  EXPECT_FALSE(all.active());
  EXPECT_EQ(counts.alive, 0);
}

TEST(ReceiveTest, CloseLetsAPersistentReceiverFinishWhatIsItsOwn) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int ran = 0;
  activation all =
      activate(queue, receive(persist, numbers, [&](int) { ++ran; }));
  numbers.post(1);
  numbers.post(2);
  numbers.close();
  EXPECT_TRUE(all.active());
  pool.run_all();
  EXPECT_EQ(ran, 2);
  EXPECT_FALSE(all.active());
  EXPECT_FALSE(all.cancel());
}

TEST(ReceiveTest, AReceiverOfAClosedPortCanStillBeCancelled) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activation all = activate(queue, receive(persist, numbers, [](int) {}));
  numbers.post(1);
  numbers.close();
  EXPECT_TRUE(all.cancel());
  EXPECT_EQ(numbers.try_take(), 1);
}

TEST(ReceiveTest, AHandlerMayPostToItsOwnPort) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int left = 100'000;
  activate(queue, receive(persist, numbers, [&](int n) {
             if (--left > 0) {
               numbers.post(n);
             }
           }));
  numbers.post(1);
  pool.run_all();
  EXPECT_EQ(left, 0);
}

TEST(ReceiveTest, AHandlerMayRenewItself) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> got;
  std::function<void()> arm = [&] {
    activate(queue, receive(numbers, [&](int n) {
               got.push_back(n);
               arm();
             }));
  };
  arm();
  for (int i = 0; i < 3; ++i) {
    numbers.post(i);
  }
  pool.run_all();
  EXPECT_EQ(got, (std::vector{0, 1, 2}));
}

// Goal: a message goes to one receiver and none is lost, whatever comes and
// goes meanwhile.
// Method: posts race with receivers that are activated and cancelled.
TEST(ReceiveStressTest, EachMessageIsHandledOnceWhileReceiversComeAndGo) {
  constexpr int messages = 20'000;
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<std::atomic<int>> seen(messages);
  const auto handler = [&](int n) { ++seen[static_cast<std::size_t>(n)]; };
  {
    std::jthread poster{[&] {
      for (int i = 0; i < messages; ++i) {
        numbers.post(i);
      }
    }};
    for (int i = 0; i < 2'000; ++i) {
      activation all = activate(queue, receive(persist, numbers, handler));
      activate(queue, receive(numbers, handler).priority(priority::high));
      all.cancel();
    }
  }
  activate(queue, receive(persist, numbers, handler));
  pool.drain();
  int wrong = 0;
  for (const auto& each : seen) {
    wrong += each == 1 ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace wharf

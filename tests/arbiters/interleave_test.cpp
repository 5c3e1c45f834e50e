#include <wharf/interleave.hpp>

#include "support/no_relinks.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/after.hpp>
#include <wharf/choice.hpp>
#include <wharf/gather.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::no_relinks;
using test::tally;
using test::test_dispatcher;
using test::tracked;

struct anything_else {};

template <class... Groups>
concept interleavable = requires(Groups... g) { interleave(std::move(g)...); };

using exclusives = decltype(exclusive(
    receive(persist, std::declval<port<int>&>(), [](int) {})));
using timer = decltype(after(std::chrono::seconds{1}, [] {}));
using ticker = decltype(every(std::chrono::seconds{1}, [] {}));

static_assert(interleavable<exclusives>);
static_assert(!interleavable<>);
static_assert(!interleavable<anything_else>);
static_assert(!interleavable<timer>);
// These are refused with a sentence, so not by a constraint.
static_assert(!detail::member_builder<timer>);
static_assert(!detail::member_builder<ticker>);
static_assert(
    !detail::member_builder<decltype(interleave(std::declval<exclusives>()))>);

struct stop {};

/// A service with a port for each group, and what its handlers did.
struct service {
  port<stop> stops;
  port<int> updates;
  port<int> queries;
  std::string log;

  auto on_stop() {
    return [this](stop) { log += "T"; };
  }
  auto on_update() {
    return [this](int n) { log += "E" + std::to_string(n) + " "; };
  }
  auto on_query() {
    return [this](int n) { log += "C" + std::to_string(n) + " "; };
  }
  activation start(dispatcher_queue& queue) {
    return activate(
        queue, interleave(teardown(receive(stops, on_stop())),
                          exclusive(receive(persist, updates, on_update())),
                          concurrent(receive(persist, queries, on_query()))));
  }
};

TEST(InterleaveTest, EachGroupHandlesItsMessages) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  const activation running = s.start(queue);
  s.updates.post(1);
  pool.run_all();
  s.queries.post(2);
  pool.run_all();
  EXPECT_TRUE(running.active());
  s.stops.post(stop{});
  EXPECT_FALSE(running.active());
  pool.run_all();
  EXPECT_EQ(s.log, "E1 C2 T");
}

TEST(InterleaveTest, WhatIsThereAtActivationIsHandled) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.updates.post(1);
  s.updates.post(2);
  s.queries.post(3);
  s.start(queue);
  EXPECT_EQ(s.updates.try_take(), std::nullopt);
  EXPECT_EQ(s.updates.size(), 2U);
  pool.run_all();
  EXPECT_EQ(s.log, "E1 E2 C3 ");
  EXPECT_EQ(s.updates.size() + s.queries.size(), 0U);
}

TEST(InterleaveTest, WhatWaitsIsCountedAndOutOfReach) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.start(queue);
  s.updates.post(1);
  s.queries.post(2);
  s.queries.post(3);
  EXPECT_EQ(s.updates.size(), 1U);
  EXPECT_EQ(s.queries.size(), 2U);
  EXPECT_EQ(s.queries.try_take(), std::nullopt);
  EXPECT_EQ(s.queries.clear(), 0U);
  pool.run_one();
  pool.run_one();
  EXPECT_EQ(s.updates.size(), 0U);
  EXPECT_EQ(s.queries.size(), 1U);
}

TEST(InterleaveTest, WhileAnExclusiveWaitsNoFurtherConcurrentStarts) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.start(queue);
  for (int i = 0; i < 3; ++i) {
    s.queries.post(i);
  }
  pool.run_one();
  s.updates.post(9);
  pool.run_all();
  EXPECT_EQ(s.log, "C0 E9 C1 C2 ");
}

TEST(InterleaveTest, AfterSixteenExclusivesTheWaitingConcurrentsHaveTheirTurn) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.start(queue);
  for (int i = 0; i < 40; ++i) {
    s.updates.post(0);
  }
  for (int i = 0; i < 3; ++i) {
    s.queries.post(i);
  }
  pool.run_all();
  std::string expected;
  for (int i = 0; i < 16; ++i) {
    expected += "E0 ";
  }
  expected += "C0 C1 C2 ";
  for (int i = 0; i < 24; ++i) {
    expected += "E0 ";
  }
  EXPECT_EQ(s.log, expected);
}

TEST(InterleaveTest, WhoComesDuringABatchIsNotInIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> updates;
  port<int> queries;
  std::string log;
  activate(queue, interleave(exclusive(receive(persist, updates,
                                               [&](int) { log += 'E'; })),
                             concurrent(receive(persist, queries, [&](int n) {
                               log += static_cast<char>('0' + n);
                               if (n < 4) {
                                 queries.post(n + 2);
                               }
                             }))));
  for (int i = 0; i < 50; ++i) {
    updates.post(0);
  }
  queries.post(0);
  queries.post(1);
  pool.run_all();
  const std::string row(16, 'E');
  EXPECT_EQ(log, row + "01" + row + "23" + row + "45" + "EE");
}

TEST(InterleaveTest, NotEvenAHigherPriorityJoinsABatch) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> updates;
  port<int> queries;
  port<int> urgent;
  std::string log;
  activate(queue, interleave(exclusive(receive(persist, updates,
                                               [&](int) { log += 'E'; })),
                             concurrent(receive(persist, queries,
                                                [&](int n) {
                                                  log += 'q';
                                                  if (n == 0) {
                                                    urgent.post(1);
                                                  }
                                                }),
                                        receive(persist, urgent, [&](int) {
                                          log += 'u';
                                        }).priority(priority::high))));
  for (int i = 0; i < 20; ++i) {
    updates.post(0);
  }
  queries.post(0);
  queries.post(1);
  pool.run_all();
  EXPECT_EQ(log, std::string(16, 'E') + "qq" + "EEEE" + "u");
}

TEST(InterleaveTest, AHigherPriorityGoesFirstWithinAGroup) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> low;
  port<int> normal;
  port<int> high;
  std::vector<int> order;
  const auto note = [&](int n) { order.push_back(n); };
  activate(queue, interleave(exclusive(
                      receive(persist, low, note).priority(priority::low),
                      receive(persist, normal, note),
                      receive(persist, high, note).priority(priority::high))));
  for (int i = 0; i < 2; ++i) {
    low.post(i);
    normal.post(10 + i);
    high.post(20 + i);
  }
  pool.run_all();
  EXPECT_EQ(order, (std::vector{20, 21, 10, 11, 0, 1}));
}

TEST(InterleaveTest, WithinAGroupArrivalCountsAcrossItsPorts) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> c;
  std::vector<int> order;
  const auto note = [&](int n) { order.push_back(n); };
  activate(queue,
           interleave(exclusive(receive(persist, a, note),
                                receive(persist, b, note), receive(c, note))));
  const std::vector<port<int>> sequence{a, b, b, a, c, a, b, a};
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    port<int>{sequence[i]}.post(static_cast<int>(i));
  }
  pool.run_all();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(InterleaveTest, ConcurrentsOverlap) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> queries;
  std::latch both{2}; // each waits for the other
  activate(queue, interleave(concurrent(receive(persist, queries, [&](int) {
             both.arrive_and_wait();
           }))));
  queries.post(1);
  queries.post(2);
  pool.drain();
  EXPECT_TRUE(both.try_wait());
}

TEST(InterleaveTest, ConcurrentsOfDifferentPortsOverlap) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::latch both{2};
  const auto meet = [&](int) { both.arrive_and_wait(); };
  activate(queue, interleave(concurrent(receive(persist, a, meet),
                                        receive(persist, b, meet))));
  a.post(1);
  b.post(2);
  pool.drain();
  EXPECT_TRUE(both.try_wait());
}

/// Whether `flag` rises while the caller gives the other workers every chance.
bool rises(const std::atomic<bool>& flag) {
  const auto start = std::chrono::steady_clock::now();
  while (!flag && std::chrono::steady_clock::now() - start < 20ms) {
    std::this_thread::yield();
  }
  return flag;
}

TEST(InterleaveTest, AnExclusiveWaitsForTheRunningConcurrents) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> updates;
  port<int> queries;
  std::atomic<bool> updated{false};
  bool overlapped = true;
  activate(queue, interleave(exclusive(receive(persist, updates,
                                               [&](int) { updated = true; })),
                             concurrent(receive(persist, queries, [&](int) {
                               updates.post(1);
                               overlapped = rises(updated);
                             }))));
  queries.post(1);
  pool.drain();
  EXPECT_FALSE(overlapped);
  EXPECT_TRUE(updated);
}

TEST(InterleaveTest, NothingStartsBesideAnExclusive) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<stop> stops;
  port<int> updates;
  port<int> queries;
  std::atomic<bool> started{false};
  bool overlapped = true;
  activate(
      queue,
      interleave(
          teardown(receive(stops, [&](stop) { started = true; })),
          exclusive(receive(updates,
                            [&](int) {
                              queries.post(1);
                              updates.post(2);
                              overlapped = rises(started);
                              stops.post(stop{});
                              overlapped |= rises(started);
                            }),
                    receive(persist, updates, [&](int) { started = true; })),
          concurrent(receive(persist, queries, [&](int) { started = true; }))));
  updates.post(1);
  pool.drain();
  EXPECT_FALSE(overlapped);
  EXPECT_TRUE(started);
}

TEST(InterleaveTest, OneTimeMembersRunOnce) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  port<int> b;
  std::string log;
  const activation all = activate(
      queue, interleave(exclusive(receive(a, [&, own = tracked{counts}](
                                                 int) { log += "E"; })),
                        concurrent(receive(b, [&, own = tracked{counts}](int) {
                          log += "C";
                        }))));
  for (int i = 0; i < 2; ++i) {
    a.post(i);
    pool.run_all();
    b.post(i);
    pool.run_all();
  }
  EXPECT_EQ(log, "EC");
  EXPECT_EQ(a.size() + b.size(), 2U);
  // Nothing is left that could run: it has ended.
  EXPECT_FALSE(all.active());
  EXPECT_EQ(counts.alive, 0);
}

TEST(InterleaveTest, GroupsTakeJoinsChoicesAndGathers) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> c;
  port<int> replies;
  port<stop> stops;
  std::string log;
  activate(
      queue,
      interleave(
          teardown(choice(receive(stops, [&](stop) { log += "T"; }),
                          after(1h, [&] { log += "late"; }))),
          exclusive(
              join(persist, a, b,
                   [&](int x, int y) { log += std::to_string(x + y) + " "; }),
              gather(replies, 2,
                     [&](const std::vector<int>& two) {
                       log += "g" + std::to_string(two[0] * 10 + two[1]) + " ";
                     })),
          concurrent(
              choice(receive(c, [&](int) { log += "c "; }),
                     after(1h, [&] { log += "late "; })),
              join(c, 2, [&](const std::vector<int>&) { log += "two "; }))));
  a.post(1);
  a.post(2);
  b.post(10);
  EXPECT_EQ(a.try_take(), 2); // while the join lacks it is everybody's
  a.post(3);
  b.post(20);
  EXPECT_EQ(a.size(), 2U); // decided, not started
  pool.run_all();
  EXPECT_EQ(std::exchange(log, {}), "11 23 ");
  replies.post(4);
  EXPECT_EQ(replies.try_take(), std::nullopt);
  replies.post(5);
  pool.run_all();
  EXPECT_EQ(std::exchange(log, {}), "g45 ");
  for (int i = 0; i < 3; ++i) {
    c.post(i);
  }
  pool.run_all();
  EXPECT_EQ(std::exchange(log, {}), "c two ");
  stops.post(stop{});
  pool.run_all();
  EXPECT_EQ(log, "T");
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST(InterleaveTest, APersistentJoinTakesTurnsWithAnother) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> shared;
  port<int> a;
  port<int> b;
  std::string order;
  for (int i = 0; i < 4; ++i) {
    a.post(i);
    b.post(i);
  }
  activate(queue,
           interleave(exclusive(
               join(persist, shared, a, [&](int, int) { order += 'a'; }),
               join(persist, shared, b, [&](int, int) { order += 'b'; }))));
  for (int i = 0; i < 4; ++i) {
    shared.post(i);
  }
  pool.run_all();
  EXPECT_EQ(order, "abab");
}

TEST(InterleaveTest, AHandlerThatThrowsReleasesItsTurn) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> updates;
  port<int> queries;
  int ran = 0;
  const auto broken = [&](int) {
    ++ran;
    throw std::runtime_error{"broken"};
  };
  activate(queue, interleave(exclusive(receive(persist, updates, broken)),
                             concurrent(receive(persist, queries, broken))));
  for (int i = 0; i < 2; ++i) {
    updates.post(i);
    queries.post(i);
  }
  pool.run_all();
  EXPECT_EQ(ran, 4);
  EXPECT_EQ(pool.pool().unhandled_failures(), 4U);
}

TEST(InterleaveTest, APredicateHoldsUpNobody) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.updates.post(1);
  activate(queue,
           interleave(exclusive(receive(persist, s.updates, s.on_update())
                                    .when([](int n) { return n % 2 == 0; }))));
  s.updates.post(2);
  s.updates.post(3);
  pool.run_all();
  EXPECT_EQ(s.log, "E2 ");
  EXPECT_EQ(s.updates.try_take_all(), (std::vector{1, 3}));
}

// Teardown.

TEST(InterleaveTest, TeardownOvertakesWhatWaitsAndGivesItBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  const activation running = s.start(queue);
  for (int i = 1; i <= 3; ++i) {
    s.updates.post(i);
    s.queries.post(10 * i);
  }
  pool.run_one();
  s.stops.post(stop{});
  s.updates.post(4); // its receivers have left
  EXPECT_EQ(s.updates.try_take_all(), (std::vector{2, 3, 4}));
  EXPECT_EQ(s.queries.try_take_all(), (std::vector{10, 20, 30}));
  pool.run_all();
  EXPECT_EQ(s.log, "E1 T");
  running.wait();
}

TEST(InterleaveTest, TeardownAtActivationOvertakesToo) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.updates.post(1);
  s.queries.post(2);
  s.stops.post(stop{});
  activate(queue,
           interleave(exclusive(receive(persist, s.updates, s.on_update())),
                      teardown(receive(s.stops, s.on_stop())),
                      concurrent(receive(persist, s.queries, s.on_query()))));
  pool.run_all();
  EXPECT_EQ(s.log, "T");
  EXPECT_EQ(s.updates.try_take(), 1);
  EXPECT_EQ(s.queries.try_take(), 2);
}

TEST(InterleaveTest, TeardownRunsAloneAfterTheRunningHandlers) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<stop> stops;
  port<int> queries;
  std::latch running{2};
  std::latch go_on{1};
  std::atomic<int> over{0};
  int over_at_teardown = -1;
  const activation all = activate(
      queue, interleave(teardown(receive(
                            stops, [&](stop) { over_at_teardown = over; })),
                        concurrent(receive(persist, queries, [&](int) {
                          running.count_down();
                          go_on.wait();
                          ++over;
                        }))));
  queries.post(1);
  queries.post(2);
  queries.post(3);
  running.wait();
  stops.post(stop{});
  EXPECT_EQ(queries.size(), 1U); // given back
  go_on.count_down();
  all.wait();
  EXPECT_EQ(over_at_teardown, 2);
}

TEST(InterleaveTest, ASecondTeardownMessageStays) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  port<int> other;
  activate(queue,
           interleave(teardown(
               receive(s.stops, s.on_stop()), receive(s.stops, s.on_stop()),
               receive(other, [&](int) { s.log += "other"; }))));
  s.stops.post(stop{});
  s.stops.post(stop{});
  other.post(1);
  pool.run_all();
  EXPECT_EQ(s.log, "T");
  EXPECT_EQ(s.stops.size(), 1U);
  EXPECT_EQ(other.size(), 1U);
}

TEST(InterleaveTest, TeardownGivesBackWhatAJoinAndAGatherHold) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  port<int> a;
  port<int> b;
  port<int> once;
  port<int> replies;
  port<int> complete;
  activate(
      queue,
      interleave(teardown(receive(s.stops, s.on_stop())),
                 exclusive(join(persist, a, b, [](int, int) {}),
                           receive(once, [](int) {}),
                           gather(replies, 3, [](const std::vector<int>&) {}),
                           gather(complete, 1, [](const std::vector<int>&) {}),
                           join(complete, 2, [](const std::vector<int>&) {}))));
  for (int i = 1; i <= 2; ++i) {
    a.post(i);
    b.post(i);
    once.post(i);
    replies.post(i);
    complete.post(i);
  }
  complete.post(3);
  s.stops.post(stop{});
  pool.run_all();
  EXPECT_EQ(s.log, "T");
  for (port<int> each : {a, b, once, replies}) {
    EXPECT_EQ(each.size(), 2U);
    EXPECT_EQ(each.try_take_all(), (std::vector{1, 2}));
  }
  EXPECT_EQ(complete.size(), 3U);
  EXPECT_EQ(complete.try_take_all(), (std::vector{1, 2, 3}));
}

TEST(InterleaveTest, WhatTeardownGivesBackServesOthers) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  std::vector<int> got;
  s.start(queue);
  activate(queue,
           receive(persist, s.updates, [&](int n) { got.push_back(n); }));
  for (int i = 1; i <= 3; ++i) {
    s.updates.post(i);
  }
  s.stops.post(stop{});
  pool.run_all();
  EXPECT_EQ(s.log, "T");
  EXPECT_EQ(got, (std::vector{1, 2, 3}));
}

TEST(InterleaveTest, WhatTeardownGivesBackReachesOthersOldestFirst) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<stop> stops;
  port<int> updates;
  int other = 0;
  activate(
      queue,
      interleave(
          teardown(receive(stops, [](stop) {})),
          exclusive(
              receive(persist, updates, [](int) {}).priority(priority::high),
              // Still there when the first one leaves.
              gather(updates, 1, [](const std::vector<int>&) {}))));
  activate(queue, receive(updates, [&](int n) { other = n; }));
  updates.post(1);
  updates.post(2);
  stops.post(stop{});
  pool.run_all();
  EXPECT_EQ(other, 1);
  EXPECT_EQ(updates.try_take(), 2);
}

TEST(InterleaveTest, ATeardownHandlerMayUseWhatWasGivenBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<stop> stops;
  port<int> updates;
  std::vector<int> left;
  activate(queue,
           interleave(teardown(receive(
                          stops, [&](stop) { left = updates.try_take_all(); })),
                      exclusive(receive(persist, updates, [](int) {}))));
  updates.post(1);
  updates.post(2);
  stops.post(stop{});
  pool.run_all();
  EXPECT_EQ(left, (std::vector{1, 2}));
  EXPECT_FALSE(updates.closed());
}

TEST(InterleaveTest, ThenCloseClosesThePortsAndDestroysWhatIsLeft) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<stop> stops;
  port<tracked> updates;
  port<tracked> a;
  port<tracked> b;
  port<tracked> replies;
  bool open_inside = false;
  activate(
      queue,
      interleave(
          teardown(
              receive(stops, [&](stop) { open_inside = !updates.closed(); }))
              .then_close(),
          exclusive(receive(persist, updates, [](const tracked&) {})),
          concurrent(join(a, b, [](const tracked&, const tracked&) {}),
                     gather(replies, 2, [](const std::vector<tracked>&) {}))));
  updates.post(tracked{counts});
  updates.post(tracked{counts});
  a.post(tracked{counts});
  replies.post(tracked{counts});
  stops.post(stop{});
  stops.post(stop{});
  EXPECT_EQ(counts.alive, 4);
  pool.run_all();
  EXPECT_TRUE(open_inside);
  EXPECT_TRUE(updates.closed() && a.closed() && b.closed() &&
              replies.closed() && stops.closed());
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(stops.size(), 0U);
}

TEST(InterleaveTest, ThenCloseDestroysAlsoWhatAnotherGatherGivesBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<stop> stops;
  port_set<tracked, int> replies;
  const auto ignore = [](const std::vector<tracked>&, const std::vector<int>&) {
  };
  // It ends with its second port, and gives back to the first.
  const activation other = activate(queue, gather(replies, 3, ignore));
  replies.post(tracked{counts});
  activate(queue, interleave(teardown(receive(stops, [](stop) {})).then_close(),
                             concurrent(receive(persist, replies.get<tracked>(),
                                                [](const tracked&) {}),
                                        receive(persist, replies.get<int>(),
                                                [](int) {}))));
  stops.post(stop{});
  pool.run_all();
  EXPECT_FALSE(other.active());
  EXPECT_EQ(counts.alive, 0);
}

TEST(InterleaveTest, ThenCloseHoldsAlsoIfTheTeardownThrows) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<stop> stops;
  port<int> updates;
  const activation all = activate(
      queue,
      interleave(
          teardown(receive(stops, [](stop) { throw std::runtime_error{"x"}; }))
              .then_close(),
          exclusive(receive(persist, updates, [](int) {}))));
  stops.post(stop{});
  pool.run_all();
  EXPECT_TRUE(updates.closed());
  EXPECT_EQ(pool.pool().unhandled_failures(), 1U);
  all.wait();
}

TEST(InterleaveTest, TeardownFromItsOwnHandlerWaitsForIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  activate(queue, interleave(teardown(receive(s.stops, s.on_stop())),
                             exclusive(receive(persist, s.updates, [&](int) {
                               s.stops.post(stop{});
                               s.log += "E";
                             }))));
  s.updates.post(1);
  s.updates.post(2);
  pool.run_all();
  EXPECT_EQ(s.log, "ET");
  EXPECT_EQ(s.updates.size(), 1U);
}

// Ends.

TEST(InterleaveTest, CancelGivesBackAndRunsNoTeardown) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  activation running = s.start(queue);
  s.updates.post(1);
  s.updates.post(2);
  s.queries.post(3);
  EXPECT_TRUE(running.cancel());
  EXPECT_FALSE(running.active());
  EXPECT_FALSE(running.cancel());
  s.stops.post(stop{});
  pool.run_all();
  EXPECT_EQ(s.log, "");
  EXPECT_EQ(s.updates.try_take_all(), (std::vector{1, 2}));
  EXPECT_EQ(s.queries.size(), 1U);
  EXPECT_EQ(s.stops.size(), 1U);
  running.wait();
}

TEST(InterleaveTest, CancelAfterTeardownIsTooLate) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  activation running = s.start(queue);
  s.stops.post(stop{});
  EXPECT_FALSE(running.cancel());
  pool.run_all();
  EXPECT_EQ(s.log, "T");
}

TEST(InterleaveTest, CancelInItsOwnHandlerEndsItAfterTheHandler) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> updates;
  activation running;
  running =
      activate(queue, interleave(exclusive(receive(
                          persist, updates, [&, own = tracked{counts}](int) {
                            EXPECT_TRUE(running.cancel());
                            EXPECT_EQ(counts.alive, 1);
                          }))));
  updates.post(1);
  updates.post(2);
  pool.run_all();
  EXPECT_EQ(updates.try_take(), 2);
  EXPECT_EQ(counts.alive, 0);
}

TEST(InterleaveTest, EndsWhenAllItsPortsAreClosedAndWhatWaitedHasRun) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  const activation running = s.start(queue);
  s.updates.post(1);
  s.queries.post(2);
  s.updates.close();
  s.queries.close();
  s.stops.close();
  EXPECT_TRUE(running.active());
  pool.run_all();
  EXPECT_EQ(s.log, "E1 C2 ");
  EXPECT_FALSE(running.active());
  running.wait();
}

TEST(InterleaveTest, OnClosedPortsItEndsAtOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  s.updates.close();
  s.queries.close();
  s.stops.close();
  const activation running = s.start(queue);
  EXPECT_FALSE(running.active());
  running.wait();
}

TEST(InterleaveTest, WithoutMembersItEndsAtOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const activation running =
      activate(queue, interleave(exclusive(), concurrent()));
  EXPECT_FALSE(running.active());
  running.wait();
}

/// The states in which a queue may find an interleave when it closes.
class closed_queue_world {
public:
  closed_queue_world() : queue{std::make_unique<dispatcher_queue>(pool)} {
    running = activate(
        *queue,
        interleave(teardown(receive(s.stops, [this, own = tracked{counts}](
                                                 stop) { s.log += "T"; })),
                   exclusive(receive(
                       persist, s.updates,
                       [this, own = tracked{counts}](int) { s.log += "E"; })),
                   concurrent(receive(
                       persist, s.queries,
                       [this, own = tracked{counts}](int) { s.log += "C"; }))));
  }
  /// Closes the queue and looks at what must hold afterwards.
  void close_and_check() {
    queue->close();
    pool.run_all();
    EXPECT_FALSE(running.active());
    running.wait();
    EXPECT_EQ(counts.alive, 0);
    EXPECT_TRUE(s.updates.post(9));
    EXPECT_TRUE(s.queries.post(9));
  }

  test_dispatcher pool;
  tally counts;
  service s;
  std::unique_ptr<dispatcher_queue> queue;
  activation running;
};

TEST(InterleaveTest, ItsQueueMayCloseWhileItIsIdle) {
  closed_queue_world w;
  w.close_and_check();
  EXPECT_EQ(w.queue->discarded(), 0U);
}

TEST(InterleaveTest, ItsQueueMayCloseWhileMessagesWait) {
  closed_queue_world w;
  w.s.updates.post(1);
  w.s.queries.post(2);
  w.close_and_check();
  EXPECT_EQ(w.s.log, "");
  EXPECT_EQ(w.s.updates.try_take_all(), (std::vector{1, 9}));
  EXPECT_EQ(w.s.queries.try_take_all(), (std::vector{2, 9}));
  EXPECT_EQ(w.queue->discarded(), 0U);
}

TEST(InterleaveTest, ItsQueueMayCloseWhileTheTeardownWaits) {
  closed_queue_world w;
  w.s.updates.post(1);
  w.s.stops.post(stop{});
  w.close_and_check();
  EXPECT_EQ(w.s.log, "");
  EXPECT_EQ(w.queue->discarded(), 1U);
  EXPECT_EQ(w.s.updates.try_take(), 1);
}

TEST(InterleaveTest, ItsQueueMayCloseAfterItsTeardown) {
  closed_queue_world w;
  w.s.stops.post(stop{});
  w.pool.run_all();
  w.close_and_check();
  EXPECT_EQ(w.s.log, "T");
}

TEST(InterleaveTest, ItsQueueMayCloseAfterItsCancel) {
  closed_queue_world w;
  w.s.updates.post(1);
  EXPECT_TRUE(w.running.cancel());
  w.close_and_check();
  EXPECT_EQ(w.s.log, "");
}

TEST(InterleaveTest, ItsQueueMayCloseInItsHandler) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  tally counts;
  const activation running = activate(
      queue, interleave(teardown(receive(s.stops, s.on_stop())),
                        exclusive(receive(persist, s.updates,
                                          [&, own = tracked{counts}](int) {
                                            s.stops.post(stop{});
                                            queue.close();
                                            EXPECT_EQ(counts.alive, 1);
                                          }))));
  s.updates.post(1);
  s.updates.post(2);
  pool.run_all();
  EXPECT_EQ(s.log, ""); // the teardown had not started
  EXPECT_EQ(queue.discarded(), 1U);
  EXPECT_EQ(s.updates.size(), 1U);
  EXPECT_EQ(counts.alive, 0);
  running.wait();
}

// On a pool a worker goes on with the interleave without a look at the line.
TEST(InterleaveTest, NoTeardownStartsAfterItsQueueHasClosed) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  service s;
  const activation running = activate(
      queue, interleave(teardown(receive(s.stops, s.on_stop())),
                        exclusive(receive(persist, s.updates, [&](int) {
                          s.stops.post(stop{});
                          queue.close();
                        }))));
  s.updates.post(1);
  running.wait();
  EXPECT_EQ(s.log, "");
  EXPECT_EQ(queue.discarded(), 1U);
}

TEST(InterleaveTest, AHandlerThatSuspendsTheQueueIsTheLastToStart) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  port<int> updates;
  std::atomic<int> ran{0};
  activate(queue, interleave(exclusive(receive(persist, updates, [&](int) {
             ++ran;
             queue.suspend();
           }))));
  queue.suspend();
  for (int i = 0; i < 10; ++i) {
    updates.post(i);
  }
  queue.resume();
  pool.drain();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(updates.size(), 9U);
}

TEST(InterleaveTest, OnAClosedQueueNothingIsRegisteredAndAllIsDestroyed) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  queue.close();
  tally counts;
  port<stop> stops;
  port<int> a;
  port<int> b;
  a.post(1);
  b.post(2);
  stops.post(stop{});
  const activation none = activate(
      queue,
      interleave(
          teardown(receive(stops, [own = tracked{counts}](stop) {})),
          exclusive(receive(persist, a, [own = tracked{counts}](int) {}),
                    receive(a, [own = tracked{counts}](int) {})),
          concurrent(
              join(persist, a, b, [own = tracked{counts}](int, int) {}),
              gather(b, 1,
                     [own = tracked{counts}](const std::vector<int>&) {}))));
  EXPECT_FALSE(none.active());
  none.wait();
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(a.size() + b.size() + stops.size(), 3U);
}

TEST(InterleaveTest, ADescriptionThatWasUsedIsMisuseAndDestroysTheRest) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  port<int> a;
  port<int> b;
  {
    auto used = receive(persist, b, [](int) {});
    activate(queue, std::move(used));
    EXPECT_THROW(
        activate(queue, interleave(exclusive(
                            receive(a, [own = tracked{counts}](int) {}),
                            std::move(used)))), // NOLINT: that is the point
        std::logic_error);
  }
  EXPECT_EQ(counts.alive, 0);
  a.post(1);
  EXPECT_EQ(a.size(), 1U);
}

// Goal: nothing overlaps an exclusive, and the teardown is alone and last.
// Method: handlers count themselves in and out, readers as +1, writers as
// -1'000, while two threads post.
TEST(InterleaveStressTest, NothingOverlapsAnExclusive) {
  constexpr int posts = 5'000;
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<stop> stops;
  port<int> updates;
  port<int> more_updates;
  port<int> queries;
  std::atomic<int> inside{0};
  std::atomic<int> wrong{0};
  std::atomic<int> ran{0};
  const auto write = [&](int) {
    wrong += inside.fetch_sub(1'000) == 0 ? 0 : 1;
    std::this_thread::yield();
    inside += 1'000;
    ++ran;
  };
  const auto read = [&](int) {
    wrong += inside.fetch_add(1) >= 0 ? 0 : 1;
    --inside;
    ++ran;
  };
  const activation all = activate(
      queue, interleave(teardown(receive(
                            stops,
                            [&](stop) {
                              wrong += inside == 0 ? 0 : 1;
                              inside = -1'000'000; // whoever comes now is wrong
                            })),
                        exclusive(receive(persist, updates, write),
                                  receive(persist, more_updates, write)),
                        concurrent(receive(persist, queries, read))));
  {
    std::jthread writer{[&] {
      for (int i = 0; i < posts; ++i) {
        (i % 2 == 0 ? updates : more_updates).post(i);
      }
    }};
    std::jthread reader{[&] {
      for (int i = 0; i < posts; ++i) {
        queries.post(i);
      }
    }};
  }
  stops.post(stop{});
  all.wait();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(static_cast<std::size_t>(ran) + updates.size() +
                more_updates.size() + queries.size(),
            2U * posts);
}

} // namespace
} // namespace wharf

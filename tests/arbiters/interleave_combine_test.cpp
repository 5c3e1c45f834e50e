// activation::combine: an interleave that runs takes further arbiters.

#include <wharf/interleave.hpp>

#include "support/failures.hpp"
#include "support/gate.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/after.hpp>
#include <wharf/choice.hpp>
#include <wharf/error.hpp>
#include <wharf/gather.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::tally;
using test::test_dispatcher;
using test::tracked;

template <class More>
concept combinable =
    requires(activation a, More more) { a.combine(std::move(more)); };

using receiver =
    decltype(receive(persist, std::declval<port<int>&>(), [](int) {}));
using group = decltype(exclusive(std::declval<receiver>()));

static_assert(combinable<decltype(interleave(std::declval<group>()))>);
static_assert(!combinable<group>);
static_assert(!combinable<receiver>);
static_assert(!combinable<activation>);

/// An interleave of one receiver a group, and ports and a log for more.
class world {
  auto note(const char* who) {
    return [this, who, own = tracked{counts}](int n) {
      log += who + std::to_string(n) + " ";
    };
  }

public:
  world();
  auto on_stop() { return receive(stops, note("T")); }
  auto more_exclusive(const port<int>& from) {
    return exclusive(receive(persist, from, note("e")));
  }
  auto more_concurrent(const port<int>& from) {
    return concurrent(receive(persist, from, note("c")));
  }
  std::string run_all() {
    pool.run_all();
    return std::exchange(log, {});
  }
  /// Nothing is added any more, and what was offered is dropped.
  void expect_refusal() {
    const int before = counts.alive;
    more.post(1);
    EXPECT_FALSE(running.combine(
        interleave(teardown(receive(more_stops, note("t"))).then_close(),
                   exclusive(join(more, 1, [](const std::vector<int>&) {})),
                   more_concurrent(more))));
    EXPECT_EQ(counts.alive, before);
    EXPECT_EQ(more.try_take(), 1);
    more_stops.post(1);
    EXPECT_EQ(more_stops.try_take(), 1);
  }

  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool, "service"};
  port<int> stops;
  port<int> updates;
  port<int> queries;
  port<int> more_stops;
  port<int> more;
  std::string log;
  activation running;
};

world::world() {
  running =
      activate(queue, interleave(teardown(on_stop()), more_exclusive(updates),
                                 more_concurrent(queries)));
}

TEST(InterleaveCombineTest, WhatIsAddedIsRegisteredWhenItReturns) {
  world w;
  w.more.post(1);
  EXPECT_TRUE(w.running.combine(interleave(w.more_exclusive(w.more))));
  EXPECT_EQ(w.more.try_take(), std::nullopt); // decided
  w.more.post(2);
  EXPECT_EQ(w.more.try_take(), std::nullopt);
  EXPECT_EQ(w.more.size(), 2U);
  EXPECT_EQ(w.run_all(), "e1 e2 ");
  w.updates.post(3);
  w.queries.post(4);
  EXPECT_EQ(w.run_all(), "e3 c4 ");
}

TEST(InterleaveCombineTest, AnyArbiterThatGroupsTakeMayBeAdded) {
  world w;
  port<int> a;
  port<int> b;
  EXPECT_TRUE(w.running.combine(interleave(
      exclusive(join(
          persist, a, w.more,
          [&](int x, int y) { w.log += "j" + std::to_string(x + y) + " "; })),
      concurrent(gather(b, 2,
                        [&](const std::vector<int>& two) {
                          w.log += "g" + std::to_string(two.size()) + " ";
                        }),
                 choice(receive(b, [&](int) { w.log += "b "; }),
                        after(1s, [&] { w.log += "late "; }))))));
  a.post(1);
  b.post(2);
  w.more.post(3);
  b.post(4);
  EXPECT_EQ(w.run_all(), "j4 g2 ");
  w.pool.advance(1s);
  EXPECT_EQ(w.run_all(), "late ");
}

TEST(InterleaveCombineTest, AnExclusiveThatWasAddedKeepsConcurrentsWaiting) {
  world w;
  w.running.combine(interleave(w.more_exclusive(w.more)));
  w.queries.post(1);
  w.queries.post(2);
  EXPECT_TRUE(w.pool.run_one());
  w.more.post(3);
  EXPECT_EQ(w.run_all(), "c1 e3 c2 ");
}

// The function that is spawned last shows that another worker has gone through
// the line.
TEST(InterleaveCombineTest, WhatIsAddedWaitsForAnExclusiveThatRuns) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  test::gate gate;
  std::latch looked{1};
  port<int> updates;
  port<int> more;
  std::atomic<int> started{0};
  activation running =
      activate(queue, interleave(exclusive(receive(
                          persist, updates, [&](int) { gate.pass(); }))));
  updates.post(1);
  gate.wait_for(1);
  more.post(1);
  more.post(2);
  EXPECT_TRUE(running.combine(
      interleave(exclusive(receive(more, [&](int) { ++started; })),
                 concurrent(receive(persist, more, [&](int) { ++started; })))));
  spawn(queue, [&] { looked.count_down(); });
  looked.wait();
  EXPECT_EQ(started, 0);
  gate.open();
  pool.drain();
  EXPECT_EQ(started, 2);
}

// The group was served without a log of arrivals as long as it had one member.
TEST(InterleaveCombineTest, OrderOfArrivalHoldsAcrossOldAndAdded) {
  world w;
  w.updates.post(1);
  w.updates.post(2);
  w.running.combine(interleave(w.more_exclusive(w.more)));
  w.more.post(3);
  w.updates.post(4);
  w.more.post(5);
  EXPECT_EQ(w.run_all(), "e1 e2 e3 e4 e5 ");
}

TEST(InterleaveCombineTest, PrioritiesHoldAcrossOldAndAdded) {
  world w;
  port<int> low;
  w.updates.post(1);
  w.running.combine(interleave(
      exclusive(receive(persist, w.more, [&](int) { w.log += "high "; })
                    .priority(priority::high),
                receive(persist, low, [&](int) {
                  w.log += "low ";
                }).priority(priority::low))));
  low.post(2);
  w.more.post(3);
  EXPECT_EQ(w.run_all(), "high e1 low ");
}

TEST(InterleaveCombineTest, TheFairnessIsThatOfTheActivation) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  std::string log;
  activation running =
      activate(queue, interleave(exclusive(receive(persist, a, [&](int) {
                        log += 'a';
                      }))).fairness(fairness::arrival));
  running.combine(
      interleave(concurrent(receive(persist, b, [&](int) { log += 'b'; }))));
  for (int i = 0; i < 3; ++i) {
    b.post(i);
    a.post(i);
  }
  pool.run_all();
  EXPECT_EQ(log, "bababa");
}

TEST(InterleaveCombineTest, AHandlerOfTheInterleaveMayAdd) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> first;
  std::vector<port<int>> chain(3);
  std::vector<int> got;
  activation running;
  running =
      activate(queue, interleave(exclusive(receive(persist, first, [&](int n) {
                 got.push_back(n);
                 for (port<int>& each : chain) {
                   EXPECT_TRUE(running.combine(interleave(exclusive(
                       receive(each, [&](int m) { got.push_back(m); })))));
                   each.post(n + 1);
                 }
               }))));
  first.post(10);
  first.post(20);
  pool.run_all();
  EXPECT_EQ(got, (std::vector{10, 20, 11, 11, 11, 21, 21, 21}));
}

TEST(InterleaveCombineTest, WhatEndedLongAgoMayBeAddedAgain) {
  world w;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(w.running.combine(interleave(exclusive(
        receive(w.more, [&](int n) { w.log += std::to_string(n) + " "; })))));
    w.more.post(i);
    EXPECT_EQ(w.run_all(), std::to_string(i) + " ");
  }
}

/// Adds receivers, joins and one-time arbiters that end soon, again and again.
void come_and_go(world& w, int rounds, tally& counts) {
  for (int i = 0; i < rounds; ++i) {
    port<int> a;
    port<int> b;
    EXPECT_TRUE(w.running.combine(interleave(
        exclusive(receive(persist, a,
                          [&, own = tracked{counts}](int) { w.log += "a"; })
                      .priority(i),
                  receive(b, [&, own = tracked{counts}](int) {})),
        concurrent(
            join(persist, a, b, [own = tracked{counts}](int, int) {})))));
    a.post(i);
  }
}

TEST(InterleaveCombineTest, WhatHasEndedIsLetGoOf) {
  world w;
  tally counts;
  for (int round = 0; round < 10; ++round) {
    come_and_go(w, 100, counts);
    EXPECT_EQ(w.run_all(), std::string(100, 'a'));
  }
  EXPECT_LT(counts.alive, 1'000); // of 3'000
  come_and_go(w, 100, counts);
  w.pool.run_all();
  EXPECT_LT(counts.alive, 1'000);
  // What was there from the start is there.
  w.log.clear();
  w.updates.post(1);
  EXPECT_EQ(w.run_all(), "e1 ");
  w.queries.post(2);
  EXPECT_EQ(w.run_all(), "c2 ");
  w.stops.close();
  w.updates.close();
  w.queries.close();
  EXPECT_FALSE(w.running.active());
  EXPECT_EQ(counts.alive, 0);
}

// Its port has closed, but what it was given waits, or runs, or both.
TEST(InterleaveCombineTest, NothingIsLetGoOfBeforeItsLastHandlerIsOver) {
  world w;
  tally counts;
  port<int> go_on;
  struct handlers {
    static task<void> waits(port<int>& for_it, std::string& log, int n) {
      co_await receive(for_it);
      log += std::to_string(n) + " ";
    }
  };
  {
    port<int> short_lived;
    w.running.combine(interleave(concurrent(
        receive(persist, short_lived, [&, own = tracked{counts}](int n) {
          EXPECT_EQ(own.value, 0); // it is alive
          return handlers::waits(go_on, w.log, n);
        }))));
    for (int i = 0; i < 3; ++i) {
      short_lived.post(i);
    }
  }
  EXPECT_TRUE(w.pool.run_one());
  tally others;
  come_and_go(w, 100, others);
  EXPECT_EQ(counts.alive, 1);
  while (w.pool.run_one()) {
  }
  w.log.clear();
  come_and_go(w, 100, others);
  EXPECT_EQ(counts.alive, 1);
  for (int i = 0; i < 3; ++i) {
    go_on.post(0);
  }
  w.pool.run_all();
  come_and_go(w, 400, others);
  EXPECT_EQ(counts.alive, 0);
}

// A member of one priority is let go of while others of it have units waiting.
TEST(InterleaveCombineTest, LettingGoLeavesTheOrderOfTheOthersAlone) {
  world w;
  tally counts;
  {
    port<int> short_lived;
    w.running.combine(
        interleave(w.more_exclusive(short_lived), w.more_exclusive(w.more)));
    short_lived.post(1);
  }
  EXPECT_EQ(w.run_all(), "e1 ");
  for (const int n : {2, 4, 6}) {
    w.updates.post(n);
    w.more.post(n + 1);
  }
  for (int i = 0; i < 100; ++i) {
    const port<int> none;
    w.running.combine(interleave(w.more_exclusive(none)));
  }
  w.more.post(8);
  w.updates.post(9);
  EXPECT_EQ(w.run_all(), "e2 e3 e4 e5 e6 e7 e8 e9 ");
}

TEST(InterleaveCombineTest, NothingAtAllMayBeAdded) {
  world w;
  EXPECT_TRUE(w.running.combine(interleave(exclusive(), concurrent())));
  w.updates.post(1);
  EXPECT_EQ(w.run_all(), "e1 ");
  EXPECT_TRUE(w.running.active());
}

// Teardown.

TEST(InterleaveCombineTest, TheTeardownGivesBackWhatTheAddedHold) {
  world w;
  w.running.combine(interleave(
      w.more_exclusive(w.more),
      concurrent(gather(w.more_stops, 9, [](const std::vector<int>&) {}))));
  for (int i = 1; i <= 3; ++i) {
    w.more.post(i);
    w.more_stops.post(i);
  }
  w.stops.post(0);
  EXPECT_EQ(w.more.try_take_all(), (std::vector{1, 2, 3}));
  EXPECT_EQ(w.more_stops.try_take_all(), (std::vector{1, 2, 3}));
  EXPECT_EQ(w.run_all(), "T0 ");
  w.running.wait();
}

TEST(InterleaveCombineTest, AnAddedTeardownEndsAll) {
  world w;
  w.running.combine(
      interleave(teardown(receive(w.more_stops, [&](int) { w.log += "t "; }))));
  w.updates.post(1);
  w.updates.post(2);
  EXPECT_TRUE(w.pool.run_one());
  w.more_stops.post(0);
  EXPECT_FALSE(w.running.active());
  w.stops.post(0); // there is one teardown
  EXPECT_EQ(w.updates.try_take(), 2);
  EXPECT_EQ(w.run_all(), "e1 t ");
  EXPECT_EQ(w.stops.size(), 1U);
  EXPECT_EQ(w.counts.alive, 0);
}

TEST(InterleaveCombineTest, AnAddedTeardownMayFindItsMessage) {
  world w;
  w.more.post(1);
  w.more_stops.post(0);
  w.queries.post(2);
  // They were taken in, and have left.
  EXPECT_TRUE(w.running.combine(
      interleave(w.more_exclusive(w.more),
                 teardown(receive(w.more_stops, [&](int) { w.log += "t "; })),
                 concurrent(receive(w.more, [](int) {})))));
  EXPECT_EQ(w.more.try_take(), 1);
  EXPECT_EQ(w.queries.try_take(), 2);
  EXPECT_EQ(w.run_all(), "t ");
  w.running.wait();
}

TEST(InterleaveCombineTest, ThenCloseOfTheFirstClosesThePortsOfTheAdded) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> stops;
  port<int> more;
  activation running = activate(
      queue, interleave(teardown(receive(stops, [](int) {})).then_close()));
  running.combine(interleave(exclusive(receive(persist, more, [](int) {}))));
  more.post(1);
  stops.post(0);
  EXPECT_EQ(more.size(), 1U);
  pool.run_all();
  EXPECT_TRUE(more.closed());
  EXPECT_EQ(more.size(), 0U);
}

TEST(InterleaveCombineTest, ThenCloseOfTheAddedClosesAllPortsThereEverWere) {
  world w;
  port<int> once;
  w.running.combine(interleave(exclusive(receive(once, [](int) {}))));
  once.post(1);
  w.run_all(); // has fired, and let go of its port
  w.running.combine(
      interleave(teardown(receive(w.more_stops, [](int) {})).then_close(),
                 w.more_concurrent(w.more)));
  w.updates.post(1);
  w.more_stops.post(0);
  w.pool.run_all();
  for (const port<int>& each :
       {once, w.stops, w.updates, w.queries, w.more_stops, w.more}) {
    EXPECT_TRUE(each.closed());
    EXPECT_EQ(each.size(), 0U);
  }
}

TEST(InterleaveCombineTest, CancellingOfTheAddedReachesHandlersOfTheFirst) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> never;
  port<int> updates;
  port<int> stops;
  std::string log;
  struct handlers {
    static task<void> waits(port<int>& for_it, std::string& log) {
      try {
        co_await receive(for_it);
      } catch (const cancelled&) {
        log += "cancelled ";
      }
    }
  };
  activation running =
      activate(queue, interleave(exclusive(receive(persist, updates, [&](int) {
                 return handlers::waits(never, log);
               }))));
  running.combine(interleave(
      teardown(receive(stops, [&](int) { log += "t"; })).cancelling()));
  updates.post(1);
  pool.run_all();
  stops.post(0);
  pool.run_all();
  EXPECT_EQ(log, "cancelled t");
}

// Ends.

TEST(InterleaveCombineTest, ACancelGivesBackWhatTheAddedHold) {
  world w;
  w.running.combine(interleave(w.more_exclusive(w.more)));
  w.more.post(1);
  EXPECT_TRUE(w.running.cancel());
  EXPECT_EQ(w.more.try_take(), 1);
  EXPECT_EQ(w.counts.alive, 0);
  EXPECT_EQ(w.run_all(), "");
}

TEST(InterleaveCombineTest, TheEndOfTheQueueGivesBackWhatTheAddedHold) {
  world w;
  w.running.combine(interleave(w.more_exclusive(w.more)));
  w.more.post(1);
  w.queue.close();
  w.pool.run_all();
  EXPECT_EQ(w.more.try_take(), 1);
  EXPECT_EQ(w.counts.alive, 0);
}

TEST(InterleaveCombineTest, ItLivesAsLongAsOneOfTheAddedMayBringSomething) {
  world w;
  w.running.combine(interleave(w.more_exclusive(w.more)));
  w.stops.close();
  w.updates.close();
  w.queries.close();
  w.pool.run_all();
  EXPECT_TRUE(w.running.active());
  w.more.post(1);
  w.more.close();
  EXPECT_EQ(w.run_all(), "e1 ");
  EXPECT_FALSE(w.running.active());
  w.running.wait();
  EXPECT_EQ(w.counts.alive, 0);
}

// All its members have ended, but what they were given has not: that is early
// enough.
TEST(InterleaveCombineTest, WhatRunsOnlyToItsEndMayBeKeptGoing) {
  world w;
  w.updates.post(1);
  w.stops.close();
  w.updates.close();
  w.queries.close();
  EXPECT_TRUE(w.running.combine(interleave(w.more_exclusive(w.more))));
  EXPECT_EQ(w.run_all(), "e1 ");
  w.more.post(2);
  EXPECT_EQ(w.run_all(), "e2 ");
  EXPECT_TRUE(w.running.active());
  w.more.close();
  EXPECT_FALSE(w.running.active());
}

TEST(InterleaveCombineTest, OnClosedPortsWhatIsAddedHasEndedAtOnce) {
  world w;
  w.more.close();
  EXPECT_TRUE(w.running.combine(
      interleave(w.more_exclusive(w.more),
                 concurrent(join(persist, w.more, w.queries, [](int, int) {}),
                            receive(w.more, [](int) {})))));
  w.updates.post(1);
  EXPECT_EQ(w.run_all(), "e1 ");
  w.stops.close();
  w.updates.close();
  w.queries.close();
  EXPECT_FALSE(w.running.active());
}

TEST(InterleaveCombineTest, AfterACancelItIsTooLate) {
  world w;
  w.running.cancel();
  w.expect_refusal();
}

TEST(InterleaveCombineTest, OnceTheTeardownIsDecidedItIsTooLate) {
  world w;
  w.stops.post(0);
  w.expect_refusal();
  EXPECT_EQ(w.run_all(), "T0 ");
  EXPECT_FALSE(w.more.closed());
  w.expect_refusal();
}

TEST(InterleaveCombineTest, InTheTeardownHandlerItIsTooLate) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> stops;
  port<int> more;
  activation running;
  bool added = true;
  running = activate(queue, interleave(teardown(receive(stops, [&](int) {
                       added = running.combine(interleave(
                           exclusive(receive(persist, more, [](int) {}))));
                     }))));
  stops.post(0);
  pool.run_all();
  EXPECT_FALSE(added);
  running.wait();
}

TEST(InterleaveCombineTest, AfterItsLastPortHasClosedItIsTooLate) {
  world w;
  w.stops.close();
  w.updates.close();
  w.queries.close();
  w.expect_refusal();
}

TEST(InterleaveCombineTest, AfterTheEndOfItsQueueItIsTooLate) {
  world w;
  w.queue.close();
  w.expect_refusal();
}

TEST(InterleaveCombineTest, WhatNeverBeganTakesNothing) {
  world w;
  dispatcher_queue closed{w.pool};
  closed.close();
  w.running = activate(closed, interleave(exclusive()));
  w.expect_refusal();
  w.running = activation{};
  w.expect_refusal();
}

// Misuse.

std::string refusal_of(activation a, const port<int>& p) {
  try {
    a.combine(interleave(exclusive(receive(persist, p, [](int) {}))));
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "none";
}

TEST(InterleaveCombineTest, AnythingElseIsMisuseEvenIfItHasEnded) {
  world w;
  const std::string sentence =
      "combine: what was activated on queue \"service\" is not an interleave";
  activation other = activate(w.queue, receive(persist, w.more, [](int) {}));
  EXPECT_EQ(refusal_of(other, w.more_stops), sentence);
  other.cancel();
  EXPECT_EQ(refusal_of(other, w.more_stops), sentence);
  EXPECT_EQ(
      refusal_of(activate(w.queue, receive(w.more, [](int) {})), w.more_stops),
      sentence);
  EXPECT_EQ(refusal_of(spawn(w.queue, [] {}), w.more_stops), sentence);
  w.more_stops.post(1);
  EXPECT_EQ(w.more_stops.try_take(), 1);
}

TEST(InterleaveCombineTest, AFairnessOfItsOwnIsMisuse) {
  world w;
  EXPECT_THROW(
      w.running.combine(
          interleave(w.more_exclusive(w.more)).fairness(fairness::bounded(16))),
      std::logic_error);
  EXPECT_EQ(w.counts.alive, 3);
  w.more.post(1);
  EXPECT_EQ(w.more.try_take(), 1);
}

TEST(InterleaveCombineTest, ADescriptionThatWasUsedIsMisuseAndAddsNothing) {
  world w;
  auto used = receive(persist, w.more, [](int) {});
  w.running.combine(interleave(exclusive(std::move(used))));
  EXPECT_THROW(w.running.combine(interleave(
                   w.more_concurrent(w.more_stops),
                   exclusive(std::move(used)))), // NOLINT: that is the point
               std::logic_error);
  EXPECT_EQ(w.counts.alive, 3);
  w.more_stops.post(1);
  EXPECT_EQ(w.more_stops.try_take(), 1);
  auto whole = interleave(exclusive());
  EXPECT_TRUE(w.running.combine(std::move(whole)));
  EXPECT_THROW(w.running.combine(std::move(whole)), // NOLINT
               std::logic_error);
}

TEST(InterleaveCombineTest, APredicateMayNotCallIt) {
  world w;
  port<std::exception_ptr> failures;
  w.queue.on_failure(failures);
  activate(w.queue, receive(persist, w.more, [](int) {}).when([&](int) {
    return w.running.combine(interleave(exclusive()));
  }));
  w.more.post(1);
  EXPECT_EQ(test::take_whats(failures),
            std::vector<std::string>{"a predicate runs under its port's lock "
                                     "and may call nothing of Wharf"});
}

} // namespace
} // namespace wharf

// Who goes first in an interleave: the rules of fairness.

#include <wharf/interleave.hpp>

#include "support/test_dispatcher.hpp"

#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <latch>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::test_dispatcher;

/// An interleave that writes down what starts: e and E for exclusives, c and C
/// for concurrents, the capitals with a high priority.
class scribe {
  // First, as its type is deduced.
  auto note(char letter) {
    return [this, letter](int) {
      log += letter;
      if (!next.empty()) {
        const char first = next.front();
        next.erase(0, 1);
        post({first});
      }
    };
  }

public:
  template <class... Rule>
  explicit scribe(Rule... rule) {
    auto described = interleave(
        exclusive(
            receive(persist, e, note('e')),
            receive(persist, urgent_e, note('E')).priority(priority::high)),
        concurrent(
            receive(persist, c, note('c')),
            receive(persist, urgent_c, note('C')).priority(priority::high)));
    if constexpr (sizeof...(Rule) == 0) {
      activate(queue, std::move(described));
    } else {
      activate(queue, std::move(described).fairness(rule...));
    }
  }

  /// Posts to the ports that the letters name.
  void post(const std::string& letters) {
    for (const char letter : letters) {
      port_of(letter).post(0);
    }
  }
  std::string run_all() {
    pool.run_all();
    return std::exchange(log, {});
  }

  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> e;
  port<int> urgent_e;
  port<int> c;
  port<int> urgent_c;
  std::string log;
  std::string next; // posted by the handlers, one letter each

private:
  port<int>& port_of(char letter) {
    switch (letter) {
    case 'e':
      return e;
    case 'E':
      return urgent_e;
    case 'c':
      return c;
    default:
      return urgent_c;
    }
  }
};

TEST(InterleaveFairnessTest, BoundedBySixteenUnlessSaidOtherwise) {
  scribe s;
  s.post("c");
  s.post(std::string(40, 'e'));
  s.post("cc");
  EXPECT_EQ(s.run_all(), std::string(16, 'e') + "ccc" + std::string(24, 'e'));
}

TEST(InterleaveFairnessTest, TheBoundIsWhatWasAskedFor) {
  scribe s{fairness::bounded(2)};
  s.post("eeeeecc");
  EXPECT_EQ(s.run_all(), "eecceee");
}

TEST(InterleaveFairnessTest, ABoundOfNoneIsMisuse) {
  EXPECT_THROW(fairness::bounded(0), std::invalid_argument);
}

TEST(InterleaveFairnessTest, WritersFirstHasNoBound) {
  scribe s{fairness::writers_first};
  s.post("cc");
  s.post(std::string(100, 'e'));
  EXPECT_EQ(s.run_all(), std::string(100, 'e') + "cc");
}

TEST(InterleaveFairnessTest, WritersFirstHoldsForWhoComesMeanwhile) {
  scribe s{fairness::writers_first};
  s.next = std::string(50, 'e'); // each handler brings another one
  s.post("cec");
  EXPECT_EQ(s.run_all(), std::string(51, 'e') + "cc");
}

TEST(InterleaveFairnessTest, WithWritersFirstConcurrentsGoOnWhenNoneWaits) {
  scribe s{fairness::writers_first};
  s.post("cc");
  EXPECT_TRUE(s.pool.run_one());
  s.post("e");
  EXPECT_EQ(s.run_all(), "cec");
}

TEST(InterleaveFairnessTest, ByArrivalNobodyPassesAnybody) {
  scribe s{fairness::arrival};
  s.post("cceececc");
  EXPECT_EQ(s.run_all(), "cceececc");
}

TEST(InterleaveFairnessTest, ByArrivalARowOfExclusivesIsNotCutShort) {
  scribe s{fairness::arrival};
  s.post(std::string(30, 'e') + "c" + std::string(30, 'e'));
  EXPECT_EQ(s.run_all(), std::string(30, 'e') + "c" + std::string(30, 'e'));
}

TEST(InterleaveFairnessTest, ByArrivalWhoComesMeanwhileGoesToTheEnd) {
  scribe s{fairness::arrival};
  s.next = "ec";
  s.post("cec");
  EXPECT_EQ(s.run_all(), "cecec");
}

TEST(InterleaveFairnessTest, ByArrivalOrderHoldsOverThePortsOfAGroup) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> exclusives[2];
  port<int> concurrents[2];
  std::vector<int> order;
  const auto note = [&](int n) { order.push_back(n); };
  activate(queue, interleave(exclusive(receive(persist, exclusives[0], note),
                                       receive(persist, exclusives[1], note)),
                             concurrent(receive(persist, concurrents[0], note),
                                        receive(persist, concurrents[1], note)))
                      .fairness(fairness::arrival));
  int n = 0;
  for (const std::size_t i : {0, 1, 1, 0}) {
    exclusives[i].post(n++);
    concurrents[i].post(n++);
    concurrents[1 - i].post(n++);
    exclusives[1 - i].post(n++);
  }
  pool.run_all();
  std::vector<int> expected(16);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

// What was there before the activation came in the order of the members.
TEST(InterleaveFairnessTest, ByArrivalWhatWasThereCountsMemberByMember) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> e;
  port<int> c;
  std::string log;
  c.post(0);
  e.post(0);
  c.post(0);
  activate(queue,
           interleave(exclusive(receive(persist, e, [&](int) { log += 'e'; })),
                      concurrent(receive(persist, c, [&](int) { log += 'c'; })))
               .fairness(fairness::arrival));
  pool.run_all();
  EXPECT_EQ(log, "ecc");
}

TEST(InterleaveFairnessTest, ByArrivalAnUrgentOneTakesTheNextTurnOfItsGroup) {
  scribe s{fairness::arrival};
  // The exclusives have the 2nd, 4th and 5th turn, whoever takes them.
  s.post("ceceE");
  EXPECT_EQ(s.run_all(), "cEcee");
  s.post("ececC");
  EXPECT_EQ(s.run_all(), "eCecc");
}

TEST(InterleaveFairnessTest, ByArrivalAnUrgentOnePassesNoOtherGroup) {
  scribe s{fairness::arrival};
  s.post("cEeC");
  EXPECT_EQ(s.run_all(), "CEec");
  s.post("eCcE");
  EXPECT_EQ(s.run_all(), "ECce");
}

// Until an exclusive came concurrents overlap; the next batch waits for it.
TEST(InterleaveFairnessTest, ByArrivalConcurrentsOverlapBetweenExclusives) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<int> e;
  port<int> c;
  std::latch first{2};
  std::latch second{2};
  std::atomic<int> inside{0};
  std::atomic<int> wrong{0};
  activate(queue, interleave(exclusive(receive(persist, e,
                                               [&](int) {
                                                 wrong += inside != 0;
                                                 inside = -100;
                                                 inside = 0;
                                               })),
                             concurrent(receive(
                                 persist, c,
                                 [&](int n) {
                                   ++inside;
                                   (n < 2 ? first : second).arrive_and_wait();
                                   wrong += inside <= 0;
                                   --inside;
                                 })))
                      .fairness(fairness::arrival));
  queue.suspend();
  c.post(0);
  c.post(1);
  e.post(0);
  c.post(2);
  c.post(3);
  queue.resume();
  pool.drain();
  EXPECT_TRUE(first.try_wait());
  EXPECT_TRUE(second.try_wait());
  EXPECT_EQ(wrong, 0);
}

TEST(InterleaveFairnessTest, ByArrivalWhatATeardownGaveBackHasNoTurn) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> stops;
  port<int> e;
  port<int> c;
  std::string log;
  const activation all = activate(
      queue,
      interleave(teardown(receive(stops, [&](int) { log += 't'; })),
                 exclusive(receive(persist, e, [&](int) { log += 'e'; })),
                 concurrent(receive(persist, c, [&](int) { log += 'c'; })))
          .fairness(fairness::arrival));
  c.post(0);
  e.post(1);
  c.post(2);
  EXPECT_TRUE(pool.run_one());
  stops.post(0);
  pool.run_all();
  EXPECT_EQ(log, "ct");
  EXPECT_EQ(e.try_take_all(), std::vector{1});
  EXPECT_EQ(c.try_take_all(), std::vector{2});
  all.wait();
}

} // namespace
} // namespace wharf

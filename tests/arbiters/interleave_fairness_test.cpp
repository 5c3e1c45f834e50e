// Who goes first in an interleave: the rules of fairness.

#include <wharf/interleave.hpp>

#include "support/test_dispatcher.hpp"

#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

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

} // namespace
} // namespace wharf

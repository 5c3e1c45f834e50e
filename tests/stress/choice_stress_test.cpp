// Branches that could fire at the same moment.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;
using namespace std::chrono_literals;

class ChoiceStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  /// A fresh queue and two fresh ports.
  void renew() {
    queue.reset();
    a.emplace();
    b.emplace();
    queue.emplace(pool);
    fired = 0;
  }
  void TearDown() override {
    queue.reset();
    a.reset();
    b.reset();
    EXPECT_EQ(counted::live(), 0);
  }
  auto fire() {
    return [this](counted) { ++fired; };
  }
  std::size_t left() const { return a->size() + b->size(); }

  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::optional<port<counted>> a;
  std::optional<port<counted>> b;
  std::atomic<std::size_t> fired{0};
};

// Goal: exactly one branch fires, and the loser's message stays in its port.
// Method: two threads post to the two ports at the same moment.
TEST_P(ChoiceStressTest, OfTwoPostsAtOnceOneWinsAndTheOtherStays) {
  activation choosing;
  test::race(
      2, scaled(20'000),
      [&](int) {
        renew();
        choosing =
            activate(*queue, choice(receive(*a, fire()), receive(*b, fire())));
      },
      [&](std::size_t racer) { (racer == 0 ? a : b)->post(counted{}); },
      [&] {
        choosing.wait();
        EXPECT_EQ(fired, 1U);
        EXPECT_EQ(left(), 1U);
      });
}

// Goal: the same with a timer as the third branch.
// Method: as above with after(0us), so that all three fire at once.
TEST_P(ChoiceStressTest, ATimerThatIsDueRacesWithThePosts) {
  activation choosing;
  std::atomic<std::size_t> timed_out{0};
  test::race(
      2, scaled(10'000),
      [&](int) {
        renew();
        timed_out = 0;
        choosing =
            activate(*queue, choice(receive(*a, fire()), receive(*b, fire()),
                                    after(0us, [&] { ++timed_out; })));
      },
      [&](std::size_t racer) { (racer == 0 ? a : b)->post(counted{}); },
      [&] {
        choosing.wait();
        EXPECT_EQ(fired + timed_out, 1U);
        EXPECT_EQ(left(), 2U - fired);
      });
}

// Goal: an activation that races with posts sees the message, or is seen.
// Method: one thread activates the choice while two others post.
TEST_P(ChoiceStressTest, AnActivationThatRacesWithPostsFiresOnce) {
  activation choosing;
  test::race(
      3, scaled(10'000), [&](int) { renew(); },
      [&](std::size_t racer) {
        if (racer == 0) {
          choosing = activate(
              *queue, choice(receive(*a, fire()), receive(*b, fire()),
                             join(*a, *b, [&](counted, counted) { ++fired; })));
        } else {
          (racer == 1 ? a : b)->post(counted{});
        }
      },
      [&] {
        choosing.wait();
        EXPECT_EQ(fired, 1U);
        // A receive leaves one message; the join, which comes last, can only
        // win against receives that are not registered yet, and takes both.
        EXPECT_LE(left(), 1U);
        EXPECT_EQ(counted::live(), static_cast<long>(left()));
      });
}

// Goal: many choices on the same ports take one message each.
// Method: two threads activate choices, two post, one cancels at random; what
// fired and what is left add up.
TEST_P(ChoiceStressTest, ManyChoicesOnTheSamePortsConserveMessages) {
  constexpr int each = 50;
  std::vector<std::vector<activation>> made(2);
  std::atomic<std::size_t> cancelled{0};
  test::race(
      4, scaled(400),
      [&](int) {
        renew();
        cancelled = 0;
        made.assign(2, {});
      },
      [&](std::size_t racer) {
        test::dice random{racer};
        for (int i = 0; i < each; ++i) {
          if (racer >= 2) {
            (racer == 2 ? a : b)->post(counted{i});
            continue;
          }
          auto nested = choice(receive(*b, fire()), after(1h, [] {}));
          made[racer].push_back(
              activate(*queue, choice(receive(*a, fire()), std::move(nested))));
          if (random.roll(4) == 0) {
            cancelled += made[racer][random.roll(made[racer].size())].cancel();
          }
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(fired + left(), 2U * each);
        EXPECT_LE(fired + cancelled, 2U * each);
        EXPECT_TRUE(left() == 0 || fired + cancelled == 2U * each);
      });
}

// Goal: branches die with their ports, from several threads, and the choice
// with the last one.
// Method: one thread closes one port, one the other, one posts.
TEST_P(ChoiceStressTest, PortsThatCloseAtOnceEndItOnce) {
  activation choosing;
  std::atomic<std::size_t> posted{0};
  test::race(
      3, scaled(5'000),
      [&](int) {
        renew();
        posted = 0;
        choosing =
            activate(*queue, choice(receive(*a, fire()), receive(*b, fire())));
      },
      [&](std::size_t racer) {
        if (racer == 2) {
          posted += a->post(counted{}) ? 1 : 0;
        } else {
          (racer == 0 ? a : b)->close();
        }
      },
      [&] {
        choosing.wait();
        EXPECT_EQ(fired, posted);
        EXPECT_EQ(left(), 0U);
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, ChoiceStressTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

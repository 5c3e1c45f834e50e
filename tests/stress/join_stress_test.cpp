// Joins that fight for the same ports.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::dice;
using test::scaled;

struct table {
  std::size_t workers;
  std::size_t seats;
};

class JoinRingStressTest : public ::testing::TestWithParam<table> {};

// Goal: joins on neighbours in a ring never stop, and keep the tokens.
// Method: each port has one token, each join posts its two tokens back; when a
// number of meals is eaten the joins are cancelled and the tokens are counted.
TEST_P(JoinRingStressTest, NeverStopsAndKeepsEveryToken) {
  const auto [workers, seats] = GetParam();
  const long meals = scaled(200'000);
  {
    dispatcher pool{{.threads = workers}};
    dispatcher_queue queue{pool};
    std::vector<port<counted>> forks;
    std::vector<std::atomic<long>> eaten(seats);
    std::atomic<long> all{0};
    std::latch sated{1};
    for (std::size_t i = 0; i < seats; ++i) {
      forks.emplace_back();
    }
    std::vector<activation> eaters;
    for (std::size_t i = 0; i < seats; ++i) {
      port<counted>& left = forks[i];
      port<counted>& right = forks[(i + 1) % seats];
      eaters.push_back(activate(
          queue, join(persist, left, right, [&, i](counted l, counted r) {
            ++eaten[i];
            if (++all == meals) {
              sated.count_down();
            }
            left.post(std::move(l));
            right.post(std::move(r));
          })));
    }
    test::race(2, [&](std::size_t half) {
      for (std::size_t i = half; i < seats; i += 2) {
        forks[i].post(counted{});
      }
    });
    sated.wait();
    for (activation& each : eaters) {
      EXPECT_TRUE(each.cancel());
      each.wait();
    }
    for (const port<counted>& fork : forks) {
      EXPECT_EQ(fork.size(), 1U);
    }
    EXPECT_EQ(counted::live(), static_cast<long>(seats));
    EXPECT_EQ(std::accumulate(eaten.begin(), eaten.end(), 0L), all);
  }
  EXPECT_EQ(counted::live(), 0);
}

INSTANTIATE_TEST_SUITE_P(Tables, JoinRingStressTest,
                         ::testing::Values(table{1, 5}, table{4, 5},
                                           table{8, 5}, table{16, 5},
                                           table{1, 20}, table{4, 20},
                                           table{16, 20}));

class JoinStressTest : public ::testing::TestWithParam<std::size_t> {};

// Goal: whatever sets of ports joins name, one port twice included, each
// message is taken once or is still there.
// Method: random joins of one to four of six ports, half of them persistent,
// while three outside threads post; then every join is cancelled. What the
// handlers had and what is left must add up to what was posted.
TEST_P(JoinStressTest, RandomSetsOverSharedPortsConserveMessages) {
  constexpr std::size_t ports = 6;
  constexpr int each = 200;
  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::vector<port<counted>> all;
  std::vector<activation> joins;
  std::atomic<std::size_t> handled{0};
  test::race(
      4, scaled(200),
      [&](int) {
        queue.emplace(pool);
        all.clear();
        joins.clear();
        handled = 0;
        for (std::size_t i = 0; i < ports; ++i) {
          all.emplace_back();
        }
      },
      [&](std::size_t racer) {
        dice random{racer + handled};
        if (racer == 0) {
          for (int i = 0; i < 20; ++i) {
            std::vector<port<counted>> set;
            for (std::size_t n = random.roll(4) + 1; n != 0; --n) {
              set.push_back(all[random.roll(ports)]);
            }
            const auto take = [&](std::vector<counted> unit) {
              handled += unit.size();
            };
            joins.push_back(random.roll(2) == 0
                                ? activate(*queue, join(set, take))
                                : activate(*queue, join(persist, set, take)));
          }
          for (activation& one : joins) {
            test::linger(random.roll(2'000));
            one.cancel();
          }
          return;
        }
        for (int i = 0; i < each; ++i) {
          all[random.roll(ports)].post(counted{i});
        }
      },
      [&] {
        for (const activation& one : joins) {
          one.wait();
        }
        std::size_t left = 0;
        for (const port<counted>& p : all) {
          left += p.size();
        }
        EXPECT_EQ(handled + left, 3U * each);
        EXPECT_EQ(counted::live(), static_cast<long>(left));
        queue.reset();
      });
  all.clear();
  EXPECT_EQ(counted::live(), 0);
}

// Goal: nothing sleeps: joins that could commit have committed.
// Method: joins on (a,b), (b,c) and (c,a) against three posters. At the end no
// join has all that it needs.
TEST_P(JoinStressTest, NoCompleteSetIsLeftBehind) {
  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::vector<port<int>> p;
  std::atomic<std::size_t> taken{0};
  test::race(
      3, scaled(1'000),
      [&](int) {
        queue.emplace(pool);
        p.clear();
        taken = 0;
        for (int i = 0; i < 3; ++i) {
          p.emplace_back();
        }
        for (std::size_t i = 0; i < 3; ++i) {
          activate(*queue, join(persist, p[i], p[(i + 1) % 3],
                                [&](int, int) { taken += 2; }));
        }
      },
      [&](std::size_t racer) {
        for (int i = 0; i < 30; ++i) {
          p[racer].post(i);
        }
      },
      [&] {
        pool.drain();
        std::size_t left = 0;
        int holding = 0;
        for (const port<int>& each : p) {
          left += each.size();
          holding += each.empty() ? 0 : 1;
        }
        EXPECT_EQ(taken + left, 90U);
        EXPECT_LE(holding, 1); // of two there would be a pair
        queue.reset();
      });
}

// Goal: a close races with posts and commits, and everything has one fate.
// Method: persistent and one-time joins on three ports; one thread closes a
// port at a random moment. The joins that need it end; all others go on.
TEST_P(JoinStressTest, AClosingPortEndsItsJoinsAndLosesNothing) {
  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::vector<port<counted>> p;
  std::atomic<std::size_t> taken{0};
  std::atomic<std::size_t> posted{0};
  std::vector<activation> doomed;
  activation survivor;
  std::size_t pause = 0;
  dice random{1};
  test::race(
      3, scaled(1'000),
      [&](int) {
        queue.emplace(pool);
        p.clear();
        doomed.clear();
        taken = posted = 0;
        pause = random.roll(3'000);
        for (int i = 0; i < 3; ++i) {
          p.emplace_back();
        }
        const auto two = [&](counted, counted) { taken += 2; };
        doomed.push_back(activate(*queue, join(persist, p[0], p[1], two)));
        doomed.push_back(activate(*queue, join(persist, p[1], p[0], two)));
        for (int i = 0; i < 5; ++i) {
          doomed.push_back(activate(*queue, join(p[2], p[0], two)));
        }
        survivor = activate(*queue, join(persist, p[1], p[2], two));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          p[0].close();
          return;
        }
        for (int i = 0; i < 30; ++i) {
          for (port<counted>& each : p) {
            posted += each.post(counted{i}) ? 1 : 0;
          }
        }
      },
      [&] {
        // What is left in the closed port may still complete a set.
        const std::size_t wanted = p[0].size();
        for (std::size_t i = 0; i <= wanted; ++i) {
          posted += p[1].post(counted{}) ? 1 : 0;
          posted += p[2].post(counted{}) ? 1 : 0;
        }
        while (p[0].try_take()) {
          ++taken;
        }
        for (const activation& each : doomed) {
          each.wait();
        }
        EXPECT_TRUE(survivor.active());
        pool.drain();
        std::size_t left = 0;
        for (const port<counted>& each : p) {
          left += each.size();
        }
        EXPECT_EQ(taken + left, posted);
        queue.reset();
      });
  p.clear();
  EXPECT_EQ(counted::live(), 0);
}

INSTANTIATE_TEST_SUITE_P(Workers, JoinStressTest, ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

// Gathers that are complete, or lost, at the same moment.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;

struct other : counted {
  using counted::counted;
};
using response = port_set<counted, other>;

class GatherStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void renew() {
    queue.reset();
    replies.emplace();
    queue.emplace(pool);
    gathered = 0;
  }
  void TearDown() override {
    queue.reset();
    replies.reset();
    EXPECT_EQ(counted::live(), 0);
  }
  auto take() {
    return [this](std::vector<counted> x, std::vector<other> y) {
      gathered += x.size() + y.size();
    };
  }
  std::size_t left() const {
    return replies->get<counted>().size() + replies->get<other>().size();
  }

  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::optional<response> replies;
  std::atomic<std::size_t> gathered{0};
};

// Goal: a gather that loses at the moment in which it is complete either has
// all or gives all back.
// Method: it is a branch beside a receive; two threads bring its last replies,
// one posts to the receive.
TEST_P(GatherStressTest, ALoserGivesEverythingBackAndAWinnerHasItAll) {
  activation choosing;
  std::optional<port<int>> stop;
  std::atomic<int> stopped{0};
  test::race(
      3, scaled(10'000),
      [&](int) {
        renew();
        stop.emplace();
        stopped = 0;
        choosing =
            activate(*queue, choice(gather(*replies, 4, take()),
                                    receive(*stop, [&](int) { ++stopped; })));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          stop->post(1);
        } else if (racer == 1) {
          replies->post(counted{1});
          replies->post(counted{2});
        } else {
          replies->post(other{1});
          replies->post(other{2});
        }
      },
      [&] {
        choosing.wait();
        EXPECT_EQ(gathered, stopped == 1 ? 0U : 4U);
        EXPECT_EQ(left(), 4U - gathered);
        EXPECT_EQ(stop->size(), stopped == 1 ? 0U : 1U);
        int last = 0; // given back to its place
        for (const counted& each : replies->get<counted>().try_take_all()) {
          EXPECT_GT(each.value, last);
          last = each.value;
        }
      });
}

// Goal: what a cancelled gather gives back reaches those who wait there.
// Method: a gather that asks too much is cancelled while replies come in, with
// receivers registered behind it: in the end they have served themselves.
TEST_P(GatherStressTest, WhatACancelledOneGivesBackReachesTheNext) {
  activation greedy;
  std::atomic<std::size_t> received{0};
  test::race(
      3, scaled(5'000),
      [&](int) {
        renew();
        received = 0;
        greedy = activate(*queue, gather(*replies, 100, take()));
        for (int i = 0; i < 10; ++i) {
          activate(*queue, receive(replies->get<counted>(),
                                   [&](const counted&) { ++received; }));
        }
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          EXPECT_TRUE(greedy.cancel());
          return;
        }
        for (int i = 0; i < 6; ++i) {
          replies->post(counted{i});
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(received, 10U);
        EXPECT_EQ(left(), 2U);
        EXPECT_EQ(gathered, 0U);
      });
}

// Goal: several gathers on the same ports share what comes; each has exactly
// its number.
// Method: two threads activate gathers of 3, two post. The surplus stays.
TEST_P(GatherStressTest, SeveralOnTheSamePortsHaveExactlyTheirNumber) {
  std::atomic<std::size_t> wrong{0};
  test::race(
      4, scaled(1'000), [&](int) { renew(); },
      [&](std::size_t racer) {
        for (int i = 0; i < 10; ++i) {
          if (racer < 2) {
            activate(*queue,
                     gather(*replies, 3,
                            [&](std::vector<counted> x, std::vector<other> y) {
                              wrong += x.size() + y.size() != 3;
                              gathered += x.size() + y.size();
                            }));
          } else {
            replies->post(counted{i});
            replies->post(other{i});
          }
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(wrong, 0U);
        EXPECT_EQ(gathered + left(), 40U);
        EXPECT_EQ(gathered % 3, 0U);
      });
}

// Goal: ports that close while the last replies come end a gather once.
// Method: one thread closes both ports, one posts.
TEST_P(GatherStressTest, ClosingPortsEndItOrItIsComplete) {
  activation gathering;
  std::atomic<std::size_t> posted{0};
  test::race(
      2, scaled(5'000),
      [&](int) {
        renew();
        posted = 0;
        gathering = activate(*queue, gather(*replies, 2, take()));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          replies->close();
        } else {
          posted += replies->post(counted{1}) ? 1 : 0;
          posted += replies->post(other{1}) ? 1 : 0;
        }
      },
      [&] {
        gathering.wait();
        EXPECT_EQ(gathered, posted == 2 ? 2U : 0U);
        EXPECT_EQ(gathered + left(), posted);
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, GatherStressTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

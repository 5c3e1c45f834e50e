// Interleaves under storms of messages, and their ends at any moment.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/exclusion.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::exclusion;
using test::scaled;

class InterleaveStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  /// Everything anew: an interleave with a member of each kind.
  void renew(bool then_close) {
    finish();
    queries.emplace();
    updates.emplace();
    pairs.emplace();
    once.emplace();
    stop.emplace();
    rule.emplace();
    queue.emplace(pool);
    handled = posted = 0;
    auto reading = concurrent(
        receive(persist, *queries, [this](counted) { read(1); }),
        join(persist, *pairs, 2, [this](std::vector<counted>) { read(2); }),
        choice(receive(*once, [this](counted) { read(1); }),
               gather(*pairs, 3, [this](std::vector<counted>) { read(3); })));
    auto writing = exclusive(
        receive(persist, *updates, [this](counted) { write(1); }),
        receive(persist, *queries, [this](counted) { write(1); })
            .when([](const counted& m) { return m.value % 7 == 0; })
            .priority(priority::high),
        receive(*once, [this](counted) { write(1); }),
        join(*once, *updates, [this](counted, counted) { write(2); }));
    auto ending =
        teardown(receive(*stop, [this](counted) { rule->tear_down(); }));
    running = activate(
        *queue, then_close ? interleave(std::move(ending).then_close(),
                                        std::move(writing), std::move(reading))
                           : interleave(std::move(ending), std::move(writing),
                                        std::move(reading)));
  }

  void finish() {
    queue.reset();
    queries.reset();
    updates.reset();
    pairs.reset();
    once.reset();
    stop.reset();
    EXPECT_EQ(counted::live(), 0);
  }
  void TearDown() override { finish(); }

  void post_all(int n) {
    for (int i = 0; i < n; ++i) {
      posted += queries->post(counted{i}) ? 1 : 0;
      posted += updates->post(counted{i}) ? 1 : 0;
      posted += pairs->post(counted{i}) ? 1 : 0;
      posted += once->post(counted{i}) ? 1 : 0;
    }
  }
  std::size_t left() const {
    return queries->size() + updates->size() + pairs->size() + once->size();
  }
  void expect_conserved() {
    EXPECT_EQ(rule->violations(), 0);
    EXPECT_EQ(handled + left(), posted);
    EXPECT_EQ(counted::live(), static_cast<long>(left() + stop->size()));
  }

  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::optional<port<counted>> queries;
  std::optional<port<counted>> updates;
  std::optional<port<counted>> pairs;
  std::optional<port<counted>> once;
  std::optional<port<counted>> stop;
  std::optional<exclusion> rule;
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> posted{0};
  activation running;
  test::dice random{GetParam()};

private:
  void read(std::size_t n) {
    rule->read();
    handled += n;
  }
  void write(std::size_t n) {
    rule->write();
    handled += n;
  }
};

// Goal: nothing overlaps a writer, and nothing is lost.
// Method: three threads post to all ports; each handler checks the signed
// counter; then everything is drained and counted.
TEST_P(InterleaveStressTest, AStormNeverOverlapsAWriter) {
  test::race(
      3, scaled(100), [&](int) { renew(false); },
      [&](std::size_t) { post_all(200); },
      [&] {
        pool.drain();
        expect_conserved();
        EXPECT_TRUE(updates->empty());
        EXPECT_TRUE(queries->empty());
      });
}

// Goal: a teardown at any moment runs once, alone, last, and gives back.
// Method: one thread posts it, twice, at a random moment of the storm.
TEST_P(InterleaveStressTest, ATeardownAtAnyMomentIsLastAndGivesBack) {
  std::size_t pause = 0;
  test::race(
      3, scaled(2'000),
      [&](int) {
        renew(false);
        pause = random.roll(10'000);
      },
      [&](std::size_t racer) {
        if (racer != 0) {
          post_all(20);
          return;
        }
        test::linger(pause);
        stop->post(counted{});
        stop->post(counted{});
      },
      [&] {
        running.wait();
        EXPECT_EQ(rule->teardowns(), 1);
        EXPECT_EQ(stop->size(), 1U);
        expect_conserved();
      });
}

// Goal: with then_close nothing is left anywhere.
// Method: as before.
TEST_P(InterleaveStressTest, ThenCloseAtAnyMomentLeavesNothing) {
  std::size_t pause = 0;
  test::race(
      3, scaled(2'000),
      [&](int) {
        renew(true);
        pause = random.roll(10'000);
      },
      [&](std::size_t racer) {
        if (racer != 0) {
          post_all(20);
          return;
        }
        test::linger(pause);
        stop->post(counted{});
      },
      [&] {
        running.wait();
        EXPECT_EQ(rule->teardowns(), 1);
        EXPECT_EQ(rule->violations(), 0);
        EXPECT_LE(handled, posted);
        EXPECT_EQ(left(), 0U);
        EXPECT_EQ(counted::live(), 0);
        EXPECT_FALSE(updates->post(counted{}));
      });
}

// Goal: the end of the queue at any moment, in a race with the teardown: what
// has not started is given back, a teardown that was decided is discarded or
// has run.
// Method: one thread closes the queue, one posts stop, one posts messages.
TEST_P(InterleaveStressTest, TheEndOfItsQueueAtAnyMomentGivesBack) {
  std::size_t pause = 0;
  test::race(
      3, scaled(2'000),
      [&](int) {
        renew(false);
        pause = random.roll(5'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          queue->close();
        } else if (racer == 1) {
          post_all(20);
          test::linger(random.roll(100));
          stop->post(counted{});
        } else {
          post_all(20);
        }
      },
      [&] {
        running.wait();
        expect_conserved();
        EXPECT_EQ(static_cast<std::size_t>(rule->teardowns()) +
                      queue->discarded() + stop->size(),
                  1U);
      });
}

// Goal: a cancel at any moment gives back and is answered truthfully.
// Method: as before, with cancel() and stop in a race: one of them wins.
TEST_P(InterleaveStressTest, ACancelAtAnyMomentGivesBack) {
  bool cancelled = false;
  test::race(
      3, scaled(2'000), [&](int) { renew(false); },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(2'000);
          cancelled = running.cancel();
        } else if (racer == 1) {
          post_all(20);
          stop->post(counted{});
        } else {
          post_all(20);
        }
      },
      [&] {
        running.wait();
        expect_conserved();
        EXPECT_EQ(rule->teardowns(), cancelled ? 0 : 1);
        EXPECT_EQ(stop->size(), cancelled ? 1U : 0U);
      });
}

// Goal: an activation in the middle of a storm misses nothing.
// Method: two threads post while one activates; another interleave on the same
// ports comes and goes.
TEST_P(InterleaveStressTest, AnotherOneThatComesAndGoesSharesThePorts) {
  test::race(
      3, scaled(500), [&](int) { renew(false); },
      [&](std::size_t racer) {
        if (racer != 0) {
          post_all(30);
          return;
        }
        for (int i = 0; i < 5; ++i) {
          exclusion other;
          activation visitor = activate(
              *queue,
              interleave(concurrent(receive(persist, *queries,
                                            [&](counted) {
                                              other.read();
                                              ++handled;
                                            })
                                        .priority(priority::high)),
                         exclusive(receive(persist, *updates, [&](counted) {
                                     other.write();
                                     ++handled;
                                   }).priority(priority::high))));
          test::linger(500);
          EXPECT_TRUE(visitor.cancel());
          visitor.wait();
          EXPECT_EQ(other.violations(), 0);
        }
      },
      [&] {
        pool.drain();
        expect_conserved();
        EXPECT_TRUE(updates->empty());
        EXPECT_TRUE(queries->empty());
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, InterleaveStressTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

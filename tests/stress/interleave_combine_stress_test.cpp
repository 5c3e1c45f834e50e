// Interleaves that take further arbiters in the middle of a storm, and end at
// any moment of it.

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

class InterleaveCombineStressTest
    : public ::testing::TestWithParam<std::size_t> {
protected:
  /// Everything anew: an interleave with one member a group.
  void renew() {
    finish();
    for (std::optional<port<counted>>* each : all()) {
      each->emplace();
    }
    rule.emplace();
    queue.emplace(pool);
    handled = posted = taken_in = refused = 0;
    running = activate(
        *queue, interleave(teardown(receive(
                               *stop, [this](counted) { rule->tear_down(); })),
                           exclusive(receive(persist, *updates,
                                             [this](counted) { write(1); })),
                           concurrent(receive(persist, *queries,
                                              [this](counted) { read(1); }))));
  }

  /// A member of each kind for ports that have messages already.
  auto more() {
    return interleave(
        teardown(receive(*more_stop, [this](counted) { rule->tear_down(); })),
        exclusive(receive(persist, *extra, [this](counted) { write(1); }),
                  receive(*updates, [this](counted) { write(1); }),
                  join(*pairs, *extra, [this](counted, counted) { write(2); })),
        concurrent(
            join(persist, *pairs, 2, [this](std::vector<counted>) { read(2); }),
            gather(*pairs, 3, [this](std::vector<counted>) { read(3); }),
            choice(receive(*extra, [this](counted) { read(1); }),
                   receive(*queries, [this](counted) { read(1); }))));
  }
  void combine(int times) {
    for (int i = 0; i < times; ++i) {
      const bool done = running.combine(more());
      EXPECT_FALSE(done && refused != 0); // the end is for good
      ++(done ? taken_in : refused);
    }
  }

  void finish() {
    queue.reset();
    for (std::optional<port<counted>>* each : all()) {
      each->reset();
    }
    EXPECT_EQ(counted::live(), 0);
  }
  void TearDown() override { finish(); }

  void post_all(int n) {
    for (int i = 0; i < n; ++i) {
      for (const auto* each : {&queries, &updates, &extra, &pairs}) {
        posted += (*each)->post(counted{i}) ? 1 : 0;
      }
    }
  }
  std::size_t left() const {
    return queries->size() + updates->size() + extra->size() + pairs->size();
  }
  std::size_t stops_left() const { return stop->size() + more_stop->size(); }
  void expect_conserved() {
    EXPECT_EQ(rule->violations(), 0);
    EXPECT_EQ(handled + left(), posted);
    EXPECT_EQ(counted::live(), static_cast<long>(left() + stops_left()));
  }
  /// After its end nothing is held any more.
  void expect_all_given_back() {
    expect_conserved();
    const std::size_t before = left();
    std::size_t took = 0;
    for (const auto* each : {&queries, &updates, &extra, &pairs}) {
      took += (*each)->try_take_all().size();
    }
    EXPECT_EQ(took, before);
  }

  void read(std::size_t n) {
    rule->read();
    handled += n;
  }
  void write(std::size_t n) {
    rule->write();
    handled += n;
  }

  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::optional<port<counted>> queries;
  std::optional<port<counted>> updates;
  std::optional<port<counted>> extra;
  std::optional<port<counted>> pairs;
  std::optional<port<counted>> stop;
  std::optional<port<counted>> more_stop;
  std::optional<exclusion> rule;
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> posted{0};
  int taken_in = 0; // of the combining racer
  int refused = 0;
  activation running;
  test::dice random{GetParam()};

private:
  std::vector<std::optional<port<counted>>*> all() {
    return {&queries, &updates, &extra, &pairs, &stop, &more_stop};
  }
};

// Goal: what is added shares the exclusion with what was there, and no message
// is lost or handled twice.
// Method: two threads post to all ports while one adds members; each handler
// checks the signed counter; then everything is drained and counted.
TEST_P(InterleaveCombineStressTest, AStormNeverOverlapsAWriter) {
  test::race(
      3, scaled(200), [&](int) { renew(); },
      [&](std::size_t racer) {
        if (racer == 0) {
          combine(10);
        } else {
          post_all(100);
        }
      },
      [&] {
        EXPECT_EQ(taken_in, 10);
        pool.drain();
        expect_conserved();
        EXPECT_TRUE(updates->empty());
        EXPECT_TRUE(queries->empty());
        EXPECT_TRUE(extra->empty());
      });
}

// Goal: a teardown, of the first or of an added one, runs once, alone and last
// though members register at that moment, and all is given back.
// Method: one thread adds, one posts messages, one posts to both stops.
TEST_P(InterleaveCombineStressTest, ATeardownAtAnyMomentIsLastAndGivesBack) {
  std::size_t pause = 0;
  test::race(
      3, scaled(2'000),
      [&](int) {
        renew();
        post_all(2);
        pause = random.roll(10'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          combine(4);
        } else if (racer == 1) {
          test::linger(pause);
          more_stop->post(counted{});
          test::linger(pause / 4);
          stop->post(counted{});
        } else {
          post_all(10);
        }
      },
      [&] {
        running.wait();
        EXPECT_EQ(rule->teardowns(), 1);
        EXPECT_EQ(stops_left(), 1U);
        expect_all_given_back();
      });
}

// Goal: a cancel at any moment is answered truthfully, and all is given back.
// Method: as before; one of cancel and stop wins.
TEST_P(InterleaveCombineStressTest, ACancelAtAnyMomentGivesBack) {
  std::size_t pause = 0;
  bool cancelled = false;
  test::race(
      3, scaled(2'000),
      [&](int round) {
        renew();
        post_all(2);
        if (round % 2 == 0) {
          more_stop->post(counted{}); // what is added may end it at once
        }
        pause = random.roll(5'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          combine(4);
        } else if (racer == 1) {
          test::linger(pause);
          cancelled = running.cancel();
        } else {
          post_all(10);
        }
      },
      [&] {
        running.wait();
        EXPECT_EQ(rule->teardowns(), cancelled ? 0 : 1);
        expect_all_given_back();
      });
}

// Goal: the end of the queue at any moment gives all back; a teardown that was
// decided has run or is discarded.
// Method: as before, with the end of the queue in the place of the cancel.
TEST_P(InterleaveCombineStressTest, TheEndOfItsQueueAtAnyMomentGivesBack) {
  std::size_t pause = 0;
  test::race(
      3, scaled(2'000),
      [&](int) {
        renew();
        post_all(2);
        pause = random.roll(5'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          combine(2);
          more_stop->post(counted{});
          combine(2);
        } else if (racer == 1) {
          test::linger(pause);
          queue->close();
        } else {
          post_all(10);
        }
      },
      [&] {
        running.wait();
        EXPECT_EQ(static_cast<std::size_t>(rule->teardowns()) +
                      queue->discarded() + stops_left(),
                  1U);
        expect_all_given_back();
      });
}

// Goal: members that come and go by the thousand are let go of neither too
// early nor in the midst of a registration.
// Method: three threads and the handlers themselves add arbiters for ports that
// close at once; what they were given is handled to the last message.
TEST_P(InterleaveCombineStressTest, WhatComesAndGoesHandlesAllThatItWasGiven) {
  const auto come_and_go = [&](int kind) {
    port<counted> own;
    switch (kind % 4) {
    case 0:
      running.combine(interleave(
          concurrent(receive(persist, own, [this](counted) { read(1); }))));
      break;
    case 1:
      running.combine(interleave(exclusive(
          join(persist, own, 2, [this](std::vector<counted>) { write(2); }))));
      break;
    case 2:
      running.combine(interleave(
          concurrent(gather(own, 2, [this](std::vector<counted>) { read(2); })),
          exclusive(receive(persist, own, [this](counted) { write(1); }))));
      break;
    default:
      running.combine(interleave(
          exclusive(
              receive(own, [this](counted) { write(1); }).priority(kind % 7)),
          concurrent(receive(own, [this](counted) { read(1); }))));
    }
    posted += own.post(counted{}) ? 1 : 0;
    posted += own.post(counted{}) ? 1 : 0;
  };
  test::race(
      3, scaled(100),
      [&](int) {
        renew();
        running.combine(
            interleave(concurrent(receive(persist, *extra, [&](counted m) {
              come_and_go(m.value);
              read(1);
            }))));
      },
      [&](std::size_t racer) {
        for (int i = 0; i < 50; ++i) {
          come_and_go(i + static_cast<int>(racer));
          posted += extra->post(counted{i}) ? 1 : 0;
        }
      },
      [&] {
        pool.drain();
        expect_conserved();
        EXPECT_EQ(left(), 0U);
        EXPECT_TRUE(running.cancel());
        running.wait();
        EXPECT_EQ(counted::live(), 0);
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, InterleaveCombineStressTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

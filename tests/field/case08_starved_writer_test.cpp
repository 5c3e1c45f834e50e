// Readers that never stop do not starve the writer, nor the other way round.

#include <wharf/wharf.hpp>

#include "support/gate.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <string>

namespace wharf {
namespace {

using test::test_dispatcher;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

class StarvedWriterTest : public ::testing::TestWithParam<std::size_t> {};

void work_for(clock::duration span) {
  const auto until = clock::now() + span;
  while (clock::now() < until) {
  }
}

// Scenario: concurrent handlers that each post two more of themselves, 64
// queued at most, and then one exclusive message. It runs after those that had
// started when it was posted: at most one more for each worker, which may have
// picked its message before and started after the post.
TEST_P(StarvedWriterTest, TheWriterRunsAfterTheReadersThatHadStarted) {
  for (int round = 0; round < 20; ++round) {
    dispatcher pool{{.threads = GetParam()}};
    dispatcher_queue queue{pool};
    port<int> queries;
    port<int> updates;
    std::atomic<int> queued{1};
    std::atomic<int> inside{0};
    std::atomic<int> ran{0};
    std::atomic<bool> posted{false};
    std::atomic<bool> written{false};
    std::atomic<int> overtakers{0};
    std::latch warm{1};
    std::latch wrote{1};
    activate(queue, interleave(concurrent(receive(persist, queries,
                                                  [&](int n) {
                                                    if (posted && !written) {
                                                      ++overtakers;
                                                    }
                                                    ++inside;
                                                    --queued;
                                                    work_for(20us);
                                                    for (int i = 0; i < 2;
                                                         ++i) {
                                                      if (++queued <= 64) {
                                                        queries.post(n);
                                                      } else {
                                                        --queued;
                                                      }
                                                    }
                                                    if (++ran == 100) {
                                                      warm.count_down();
                                                    }
                                                    --inside;
                                                  })),
                               exclusive(receive(persist, updates, [&](int) {
                                 EXPECT_EQ(inside, 0);
                                 written = true;
                                 wrote.count_down();
                               }))));
    queries.post(0);
    warm.wait();
    updates.post(1);
    posted = true;
    wrote.wait();
    EXPECT_LE(overtakers, static_cast<int>(GetParam()));
    queue.close();
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, StarvedWriterTest,
                         ::testing::Values(1, 4, 8, 16));

// With a gate: while the exclusive message waits for the reader that is
// inside, no further reader starts, though workers are free.
TEST(StarvedWriterRulesTest, NoReaderStartsWhileAWriterWaits) {
  dispatcher pool{{.threads = 4}};
  dispatcher_queue queue{pool};
  port<int> queries;
  port<int> updates;
  test::gate gate;
  std::string order; // the gate and the rule itself order the handlers
  activate(queue, interleave(concurrent(receive(persist, queries,
                                                [&](int n) {
                                                  if (n == 0) {
                                                    gate.pass();
                                                    order += 'r';
                                                  }
                                                })),
                             exclusive(receive(persist, updates,
                                               [&](int) { order += 'w'; }))));
  queries.post(0);
  gate.wait_for(1);
  updates.post(0);
  for (int i = 1; i <= 16; ++i) {
    queries.post(i);
  }
  // The free workers had every chance to start one of them.
  dispatcher_queue other{pool};
  std::latch idle{64};
  for (int i = 0; i < 64; ++i) {
    spawn(other, [&idle] { idle.count_down(); });
  }
  idle.wait();
  EXPECT_EQ(queries.size(), 16U);
  gate.open();
  pool.drain();
  EXPECT_EQ(order, "rw");
  EXPECT_TRUE(queries.empty());
}

/// Runs what was posted while the queue was suspended, as one string of r and
/// w.
class posted_at_once {
public:
  posted_at_once() {
    activate(queue_,
             interleave(concurrent(receive(persist, queries,
                                           [this](int) { order += 'r'; })),
                        exclusive(receive(persist, updates,
                                          [this](int) { order += 'w'; }))));
    queue_.suspend();
  }
  void write(int n) {
    for (int i = 0; i < n; ++i) {
      updates.post(i);
    }
  }
  void read(int n) {
    for (int i = 0; i < n; ++i) {
      queries.post(i);
    }
  }
  void run() {
    queue_.resume();
    world_.run_all();
  }

  port<int> queries;
  port<int> updates;
  std::string order;

private:
  test_dispatcher world_;
  dispatcher_queue queue_{world_};
};

// The opposite: 1000 exclusive messages, one concurrent in the middle. The rule
// is that at most 16 run in a row while a reader waits.
TEST(StarvedWriterRulesTest, ALoneReaderWaitsForSixteenWritersAtMost) {
  posted_at_once service;
  service.write(500);
  service.read(1);
  service.write(500);
  service.run();
  EXPECT_EQ(service.order.size(), 1001U);
  EXPECT_EQ(service.order.find('r'), 16U);
}

// And the readers that wait then run as one batch, after which the writers
// have their sixteen again.
TEST(StarvedWriterRulesTest, ReadersThatWaitRunAsOneBatch) {
  posted_at_once service;
  service.write(40);
  service.read(3);
  service.run();
  std::string expected(16, 'w');
  expected.append(3, 'r').append(24, 'w');
  EXPECT_EQ(service.order, expected);
}

// Readers that come while the batch runs do not join it: each posts another.
TEST(StarvedWriterRulesTest, LaterReadersDoNotJoinTheBatch) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> queries;
  port<int> updates;
  std::string order;
  activate(queue, interleave(concurrent(receive(persist, queries,
                                                [&](int n) {
                                                  order += 'r';
                                                  if (n != 0) {
                                                    queries.post(n - 1);
                                                  }
                                                })),
                             exclusive(receive(persist, updates,
                                               [&](int) { order += 'w'; }))));
  queue.suspend();
  for (int i = 0; i < 40; ++i) {
    updates.post(i);
  }
  queries.post(5);
  queue.resume();
  world.run_all();
  const std::string row(16, 'w');
  EXPECT_EQ(order, row + 'r' + row + 'r' + std::string(8, 'w') + "rrrr");
}

// Writers that never stop either: each posts the next. The reader gets in.
TEST(StarvedWriterRulesTest, WritersThatNeverStopDoNotStarveTheReader) {
  dispatcher pool{{.threads = 4}};
  dispatcher_queue queue{pool};
  port<int> queries;
  port<int> updates;
  std::latch read{1};
  activate(queue,
           interleave(concurrent(receive(persist, queries,
                                         [&](int) { read.count_down(); })),
                      exclusive(receive(persist, updates,
                                        [&](int n) { updates.post(n); }))));
  for (int i = 0; i < 8; ++i) {
    updates.post(i);
  }
  queries.post(0);
  read.wait();
  queue.close();
}

// Readers that are coroutines hold their turn across awaits: the writer runs
// when those that had started have ended, and before those that came later.
TEST(StarvedWriterRulesTest, ReadersThatAwaitDoNotStarveTheWriter) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> queries;
  port<int> updates;
  int inside = 0;
  int started = 0;
  int started_before = -1;
  const auto reads = [&](int n) -> task<void> {
    ++inside;
    ++started;
    queries.post(n + 1); // two more of itself, 64 of them at most
    if (queries.size() < 64) {
      queries.post(n + 1);
    }
    co_await sleep_for(1ms);
    --inside;
  };
  activate(queue, interleave(concurrent(receive(persist, queries, reads)
                                            .when([](int n) { return n < 8; })),
                             exclusive(receive(persist, updates, [&](int) {
                               EXPECT_EQ(inside, 0);
                               started_before = started;
                             }))));
  queries.post(5);
  world.run_one();
  world.run_one();
  const int had_started = started;
  EXPECT_GE(had_started, 1);
  updates.post(1);
  world.run_all();
  EXPECT_EQ(started_before, -1);
  world.advance(1ms);
  world.run_all();
  EXPECT_EQ(started_before, had_started);
  world.advance(1ms);
  world.run_all();
  EXPECT_GT(started, had_started); // the readers go on
}

} // namespace
} // namespace wharf

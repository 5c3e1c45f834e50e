// Handlers of an interleave that wait for their own group. The documentation
// names both traps: docs/guide.md, "Its traps", and docs/coroutines.md.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

using log = std::vector<std::string>;

/// Something for an interleave to do, and where its answer goes.
struct job {
  std::string name;
  port<int> answer;
  counted probe{};
};

/// A service that asks itself. Its steps write into `order`.
class service {
public:
  activation start(dispatcher_queue& queue) {
    const auto write = [this](job j) -> task<void> {
      co_await run(std::move(j));
    };
    const auto read = [this](job j) -> task<void> {
      co_await run(std::move(j));
    };
    return activate(queue,
                    interleave(exclusive(receive(persist, writes, write)),
                               concurrent(receive(persist, reads, read))));
  }

  port<job> writes{"writes"};
  port<job> reads{"reads"};
  port<job> asks; // which port a job of the name "ask" asks
  port<int> go;   // what "held" waits for
  log order;      // by hand: one thread

private:
  task<void> run(job j) {
    order.push_back(j.name);
    if (j.name == "held") {
      co_await receive(go);
    }
    if (j.name == "held" || j.name == "ask") {
      const port<int> reply;
      asks.post(job{"asked", reply});
      const auto outcome = co_await choice(receive(reply), after(200ms));
      order.push_back(outcome.index() == 0 ? "answered" : "late");
    } else if (j.name == "for ever") {
      const port<int> reply;
      asks.post(job{"asked", reply});
      co_await receive(reply);
    } else if (j.name == "post") {
      asks.post(job{"asked", j.answer});
      co_await sleep_for(1ms); // it has not ended yet
      order.push_back("posted");
    }
    j.answer.post(1);
    order.push_back(j.name + " over");
  }
};

class OwnGroupTest : public ::testing::Test {
protected:
  void TearDown() override {
    s.writes.clear();
    s.reads.clear();
    EXPECT_EQ(counted::live(), 0);
  }
  /// Moves the time to just before the time-out, and then to it.
  void almost_time_out() {
    world.advance(199ms);
    world.run_all();
  }
  void time_out() {
    world.advance(1ms);
    world.run_all();
  }

  test_dispatcher world;
  dispatcher_queue queue{world};
  service s;
  port<int> answers;
};

// (a) An exclusive handler posts to its own group and awaits the reply: the
// time-out fires on time, and gives the slot back, so that the service goes on,
// with the very message that it waited for first.
TEST_F(OwnGroupTest, AnExclusiveHandlerThatAsksItsGroupTimesOutAndGoesOn) {
  s.start(queue);
  s.asks = s.writes;
  s.writes.post(job{"ask", answers});
  s.writes.post(job{"next", answers});
  s.reads.post(job{"read", answers});
  world.run_all();
  almost_time_out();
  EXPECT_EQ(s.order, (log{"ask"}));
  time_out();
  EXPECT_EQ(s.order, (log{"ask", "late", "ask over", "next", "next over",
                          "asked", "asked over", "read", "read over"}));
  EXPECT_EQ(world.pending_timers(), 0U);
  EXPECT_EQ(answers.size(), 3U);
}

// So it is if it asks the concurrent group.
TEST_F(OwnGroupTest, AnExclusiveHandlerThatAsksTheReadersTimesOutAndGoesOn) {
  s.start(queue);
  s.asks = s.reads;
  s.writes.post(job{"ask", answers});
  world.run_all();
  almost_time_out();
  EXPECT_EQ(s.order, (log{"ask"}));
  time_out();
  EXPECT_EQ(s.order, (log{"ask", "late", "ask over", "asked", "asked over"}));
}

// (b) Concurrent A is held, exclusive E pending, A awaits a reply from
// concurrent B of the same interleave: B is behind E, E waits for A.
TEST_F(OwnGroupTest, AReaderThatAsksAReaderBehindAWriterTimesOutAndGoesOn) {
  s.start(queue);
  s.asks = s.reads;
  s.reads.post(job{"held", answers});
  world.run_all();
  s.writes.post(job{"write", answers});
  s.go.post(1);
  world.run_all();
  almost_time_out();
  EXPECT_EQ(s.order, (log{"held"}));
  time_out();
  EXPECT_EQ(s.order, (log{"held", "late", "held over", "write", "write over",
                          "asked", "asked over"}));
  s.reads.post(job{"again", answers});
  world.run_all();
  EXPECT_EQ(s.order.back(), "again over");
}

// Without the writer it works, which is what makes the trap a trap.
TEST_F(OwnGroupTest, AReaderThatAsksAReaderIsAnsweredWhileNoWriterWaits) {
  s.start(queue);
  s.asks = s.reads;
  s.reads.post(job{"ask", answers});
  world.run_all();
  EXPECT_EQ(s.order,
            (log{"ask", "asked", "asked over", "answered", "ask over"}));
  EXPECT_EQ(world.pending_timers(), 0U);
}

// (c) An exclusive handler posts to its own group and does not wait: the
// message runs after the handler, which for a coroutine is after its end.
TEST_F(OwnGroupTest, AnExclusiveHandlerThatPostsToItsGroupIsFollowedByThat) {
  s.start(queue);
  s.asks = s.writes;
  s.writes.post(job{"post", answers});
  world.run_all();
  EXPECT_EQ(s.order, (log{"post"}));
  world.advance(1ms);
  world.run_all();
  EXPECT_EQ(s.order,
            (log{"post", "posted", "post over", "asked", "asked over"}));
}

TEST_F(OwnGroupTest, AFunctionThatPostsToItsGroupIsFollowedByThat) {
  port<int> numbers;
  std::vector<int> order;
  activate(queue, interleave(exclusive(receive(persist, numbers, [&](int n) {
             if (n > 0) {
               numbers.post(n - 1);
             }
             order.push_back(n);
           }))));
  numbers.post(3);
  world.run_all();
  EXPECT_EQ(order, (std::vector{3, 2, 1, 0}));
}

// Without a time-out it waits until somebody cancels it or the program ends;
// then the report of the shutdown names the queue and the port in question.
TEST_F(OwnGroupTest, OneThatWaitsForEverIsNamedByTheShutdown) {
  dispatcher_queue named{world, "orders"};
  s.start(named);
  s.asks = s.writes;
  s.writes.post(job{"for ever", answers});
  world.run_all();
  const shutdown_report report = world.pool().shutdown(0s);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(s.order, (log{"for ever"}));
  const std::string text = report.text();
  EXPECT_NE(text.find("queue \"orders\""), std::string::npos) << text;
  EXPECT_NE(text.find("port \"writes\": 1 message left"), std::string::npos)
      << text;
}

class OwnGroupWorkersTest : public ::testing::TestWithParam<std::size_t> {};

// (a) and (b) on workers and their clock: while such a handler waits, no thread
// does; another service on the same workers answers. Afterwards this one does.
TEST_P(OwnGroupWorkersTest, AThreadIsStuckInNeitherTrap) {
  manual_clock clock;
  dispatcher pool{{.threads = GetParam(), .clock = &clock}};
  dispatcher_queue queue{pool};
  port<int> writes;
  port<int> reads;
  port<int> others;
  std::atomic<int> waiting{0};
  std::atomic<int> late{0};
  std::atomic<int> ran{0};
  std::atomic<int> other{0};
  // A negative number asks, others are the questions.
  const auto handler = [&](const port<int>& own) {
    return [&, own](int n) -> task<void> {
      ++ran;
      if (n < 0) {
        const port<int> reply;
        writes.post(1); // (b): a writer is pending
        own.post(1);
        ++waiting;
        const auto outcome = co_await choice(receive(reply), after(200ms));
        late += outcome.index() == 1 ? 1 : 0;
      }
    };
  };
  activate(queue,
           interleave(exclusive(receive(persist, writes, handler(writes))),
                      concurrent(receive(persist, reads, handler(reads)))));
  activate(queue, receive(persist, others, [&](int) { ++other; }));
  const int rounds = test::scaled(200);
  for (int round = 1; round <= rounds && !HasFailure(); ++round) {
    (round % 2 == 0 ? writes : reads).post(-1);
    pool.drain();
    EXPECT_EQ(waiting, round);
    EXPECT_EQ(late, round - 1);
    EXPECT_EQ(ran, 3 * round - 2); // the two posted messages wait
    for (int i = 0; i < 10; ++i) {
      others.post(i);
    }
    clock.advance(199ms);
    pool.drain();
    EXPECT_EQ(other, 10 * round);
    EXPECT_EQ(late, round - 1);
    clock.advance(1ms);
    pool.drain();
    EXPECT_EQ(late, round);
    EXPECT_EQ(ran, 3 * round);
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, OwnGroupWorkersTest,
                         ::testing::Values(1, 4, 8, 16));

} // namespace
} // namespace wharf

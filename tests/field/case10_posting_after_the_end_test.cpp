// Posting while a dispatcher ends, and after it has ended.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

namespace wharf {
namespace {

using test::counted;
using test::scaled;

class PostingAfterTheEndTest : public ::testing::TestWithParam<std::size_t> {};

// (a) After the end a post is accepted and countable in its port, no handler
// runs, and the messages die with the port.
TEST_P(PostingAfterTheEndTest, MessagesStayCountableInTheirPort) {
  {
    port<counted> numbers;
    std::atomic<int> handled{0};
    std::optional<dispatcher> pool{dispatcher_options{.threads = GetParam()}};
    dispatcher_queue queue{*pool};
    const activation receiver =
        activate(queue, receive(persist, numbers, [&](counted) { ++handled; }));
    numbers.post(counted{0});
    pool->drain();
    pool.reset();
    EXPECT_FALSE(receiver.active());
    EXPECT_TRUE(queue.closed());

    test::race(2, [&](std::size_t) {
      for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(numbers.post(counted{i}));
      }
    });
    EXPECT_EQ(handled, 1);
    EXPECT_EQ(numbers.size(), 1'000U);
    EXPECT_EQ(counted::live(), 1'000);
    // What is activated or spawned now is refused, and says so.
    EXPECT_FALSE(activate(queue, receive(numbers, [](counted) {})).active());
    EXPECT_FALSE(spawn(queue, [probe = counted{1}] {}).active());
    EXPECT_EQ(numbers.size(), 1'000U);
    EXPECT_EQ(counted::live(), 1'000);
  }
  EXPECT_EQ(counted::live(), 0);
}

// The same for a queue that is closed while its dispatcher goes on.
TEST_P(PostingAfterTheEndTest, AClosedQueueIsAnEndToo) {
  {
    port<counted> numbers;
    dispatcher pool{{.threads = GetParam()}};
    dispatcher_queue queue{pool};
    activate(queue, receive(persist, numbers, [](counted) {}));
    queue.close();
    test::race(2, [&](std::size_t) {
      for (int i = 0; i < 500; ++i) {
        EXPECT_TRUE(numbers.post(counted{i}));
      }
    });
    EXPECT_EQ(numbers.size(), 1'000U);
  }
  EXPECT_EQ(counted::live(), 0);
}

// (b) A tree of functions, each of which spawns two, is growing when the
// destructor starts: it returns, and each function ran or was discarded.
TEST_P(PostingAfterTheEndTest, AGrowingTreeOfFunctionsDoesNotHoldUpTheEnd) {
  for (int round = 0; round < scaled(60); ++round) {
    std::atomic<long> ran{0};
    std::optional<dispatcher> pool{dispatcher_options{.threads = GetParam()}};
    dispatcher_queue queue{*pool};
    std::atomic<long> spawned{1};
    struct node {
      dispatcher_queue& queue;
      std::atomic<long>& spawned;
      std::atomic<long>& ran;
      void operator()(int depth, counted) const {
        ++ran;
        for (int i = 0; i < 2 && depth != 0; ++i) {
          ++spawned;
          spawn(queue, *this, depth - 1, counted{depth});
        }
      }
    };
    spawn(queue, node{queue, spawned, ran}, 16, counted{0});
    while (ran < (round % 8) * 1'000) {
      std::this_thread::yield();
    }
    pool.reset();
    EXPECT_EQ(ran + static_cast<long>(queue.discarded()), spawned);
    EXPECT_EQ(counted::live(), 0);
  }
}

// (c) Threads post in a loop while another one destroys: posted = handled +
// still in the port.
TEST_P(PostingAfterTheEndTest, PostsThatRaceWithTheEndAreAccountedFor) {
  std::optional<port<counted>> numbers;
  std::optional<dispatcher> pool;
  std::optional<dispatcher_queue> queue;
  std::atomic<std::size_t> posted{0};
  std::atomic<std::size_t> handled{0};
  test::dice dice{GetParam()};
  std::size_t pause = 0;
  test::race(
      3, scaled(1'000),
      [&](int) {
        numbers.emplace();
        pool.emplace(dispatcher_options{.threads = GetParam()});
        queue.emplace(*pool);
        posted = handled = 0;
        pause = dice.roll(20'000);
        activate(*queue,
                 receive(persist, *numbers, [&](counted) { ++handled; }));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          pool.reset();
          return;
        }
        for (int i = 0; i < 100; ++i) {
          posted += numbers->post(counted{i}) ? 1 : 0;
        }
      },
      [&] {
        EXPECT_EQ(posted, 200U);
        EXPECT_EQ(handled + numbers->size(), posted);
        queue.reset();
        numbers.reset();
        EXPECT_EQ(counted::live(), 0);
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, PostingAfterTheEndTest,
                         ::testing::Values(1, 4, 8, 16));

/// Each spawns two, and awaits something before and behind it.
task<void> grow(dispatcher_queue& queue, int depth, std::atomic<long>& ran,
                std::atomic<long>& spawned, counted) {
  ++ran;
  for (int i = 0; i < 2 && depth != 0; ++i) {
    co_await sleep_for(std::chrono::seconds{0});
    ++spawned;
    spawn(queue, grow, std::ref(queue), depth - 1, std::ref(ran),
          std::ref(spawned), counted{depth});
  }
}

// (b) for coroutines, ended by a shutdown without time: it returns, each began
// or was discarded, and the report says so.
TEST_P(PostingAfterTheEndTest, TheReportOfAShutdownAccountsForAGrowingTree) {
  for (int round = 0; round < scaled(60); ++round) {
    std::atomic<long> ran{0};
    std::atomic<long> spawned{1};
    dispatcher pool{{.threads = GetParam()}};
    dispatcher_queue queue{pool, "tree"};
    spawn(queue, grow, std::ref(queue), 16, std::ref(ran), std::ref(spawned),
          counted{0});
    while (ran < (round % 8) * 500) {
      std::this_thread::yield();
    }
    const shutdown_report report = pool.shutdown(std::chrono::seconds{0});
    queue.close();
    while (!report.finished && counted::live() != 0) {
      std::this_thread::yield(); // what ran at the deadline ends by itself
    }
    EXPECT_EQ(ran + static_cast<long>(queue.discarded()), spawned);
    EXPECT_EQ(counted::live(), 0);
    EXPECT_FALSE(spawn(queue, [probe = counted{1}] {}).active());
    if (report.finished) {
      std::uint64_t discarded = 0;
      for (const shutdown_report::queue& each : report.queues) {
        EXPECT_EQ(each.name, "tree");
        discarded += each.discarded;
      }
      EXPECT_LE(discarded, queue.discarded());
    }
  }
}

// (a) The report names the ports whose messages nobody will handle.
TEST(PostingAfterShutdownTest, MessagesStayCountableAndAreNamed) {
  {
    port<counted> numbers{"numbers"};
    port<int> never{"never"};
    dispatcher pool{{.threads = 2}};
    dispatcher_queue queue{pool, "service"};
    activate(queue, join(persist, numbers, never, [](counted, int) {}));
    numbers.post(counted{1});
    const shutdown_report report = pool.shutdown(std::chrono::seconds{10});
    EXPECT_TRUE(report.finished);
    ASSERT_EQ(report.ports.size(), 1U);
    EXPECT_EQ(report.ports[0].name, "port \"numbers\"");
    EXPECT_EQ(report.ports[0].messages, 1U);
    EXPECT_TRUE(numbers.post(counted{2}));
    EXPECT_EQ(numbers.size(), 2U);
  }
  EXPECT_EQ(counted::live(), 0);
}

} // namespace
} // namespace wharf

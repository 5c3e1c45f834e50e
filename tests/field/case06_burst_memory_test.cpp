// What a burst takes is given back.

#include <wharf/wharf.hpp>

#include "allocation_count.hpp"
#include "bursts.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

namespace wharf {
namespace {

using test::live_bytes;
using test::scaled;
using test::ten_bursts;
using test::test_dispatcher;
using namespace std::chrono_literals;

using kilobyte = std::array<char, 1024>;

// Scenario: messages of 1 KiB to a port without a receiver, then taken.
TEST(BurstMemoryTest, OfLargeMessagesIsGivenBackWhenTheyAreTaken) {
  port<kilobyte> messages;
  ten_bursts(
      [&] {
        for (int i = 0; i < scaled(100'000); ++i) {
          messages.post(kilobyte{});
        }
      },
      [&] {
        while (messages.try_take()) {
        }
      });
}

TEST(BurstMemoryTest, OfLargeMessagesIsGivenBackWhenTheyAreCleared) {
  port<kilobyte> messages;
  ten_bursts(
      [&] {
        for (int i = 0; i < scaled(100'000); ++i) {
          messages.post(kilobyte{});
        }
      },
      [&] { messages.clear(); });
}

// Small messages pass through the caches of nodes, which are bounded.
TEST(BurstMemoryTest, OfSmallMessagesIsGivenBack) {
  port<int> messages;
  ten_bursts(
      [&] {
        for (int i = 0; i < 100'000; ++i) {
          messages.post(i);
        }
      },
      [&] { messages.clear(); });
}

// Handled on workers: nodes are made on one thread and released on others.
TEST(BurstMemoryTest, OfHandledMessagesIsGivenBack) {
  dispatcher pool{{.threads = 4}};
  dispatcher_queue queue{pool};
  port<int> messages;
  std::atomic<int> sum{0};
  activate(queue, receive(persist, messages, [&](int) { ++sum; }));
  ten_bursts(
      [&] {
        queue.suspend();
        for (int i = 0; i < 100'000; ++i) {
          messages.post(i);
        }
      },
      [&] {
        queue.resume();
        pool.drain();
      });
  EXPECT_EQ(sum, 1'000'000);
}

// Waiters: arbiters that are served, and arbiters that are cancelled.
TEST(BurstMemoryTest, OfWaitersIsGivenBackWhenTheyAreServed) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> messages;
  const int waiters = 20'000;
  ten_bursts(
      [&] {
        for (int i = 0; i < waiters; ++i) {
          activate(queue, receive(messages, [](int) {}));
        }
      },
      [&] {
        for (int i = 0; i < waiters; ++i) {
          messages.post(i);
        }
        world.run_all();
      });
}

TEST(BurstMemoryTest, OfWaitersIsGivenBackWhenTheyAreCancelled) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  std::vector<activation> waiters;
  waiters.reserve(20'000);
  ten_bursts(
      [&] {
        for (int i = 0; i < 20'000; ++i) {
          waiters.push_back(activate(queue, join(a, b, [](int, int) {})));
        }
      },
      [&] {
        for (activation& each : waiters) {
          each.cancel();
        }
        waiters.clear();
      });
}

// Timers, then cancelled.
TEST(BurstMemoryTest, OfTimersIsGivenBack) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  std::vector<activation> timers;
  timers.reserve(static_cast<std::size_t>(scaled(100'000)));
  ten_bursts(
      [&] {
        for (int i = 0; i < scaled(100'000); ++i) {
          timers.push_back(activate(queue, after(1h, [] {})));
        }
        EXPECT_EQ(world.pending_timers(), timers.size());
      },
      [&] {
        for (activation& each : timers) {
          each.cancel();
        }
        timers.clear();
        EXPECT_EQ(world.pending_timers(), 0U);
      });
}

// Work that waits in an interleave, and functions in line.
TEST(BurstMemoryTest, OfQueuedWorkIsGivenBack) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> updates;
  port<int> others;
  port<int> queries;
  activate(queue,
           interleave(exclusive(receive(persist, updates, [](int) {}),
                                receive(persist, others, [](int) {})),
                      concurrent(receive(persist, queries, [](int) {}))));
  ten_bursts(
      [&] {
        for (int i = 0; i < 10'000; ++i) {
          updates.post(i);
          others.post(i);
          queries.post(i);
          spawn(queue, [] {});
        }
      },
      [&] { world.run_all(); });
}

// Scenario: a service adds a one-time receiver for each reply, for as long as
// it lives. There is no burst: the level stays.
TEST(BurstMemoryTest, OfWhatAnInterleaveTookInIsGivenBack) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> updates;
  int got = 0;
  activation running = activate(
      queue, interleave(exclusive(receive(persist, updates, [](int) {}))));
  const std::ptrdiff_t level = live_bytes();
  constexpr int rounds = 5'000;
  for (int i = 0; i < rounds; ++i) {
    port<int> reply;
    running.combine(
        interleave(exclusive(receive(reply, [&](int n) { got += n; }))));
    reply.post(1);
    pool.run_all();
  }
  EXPECT_EQ(got, rounds);
  EXPECT_LE(live_bytes() - level, test::near_level);
}

} // namespace
} // namespace wharf

// Storms of functions, and drain() in the middle of them.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <utility>

namespace wharf {
namespace {

using test::counted;
using test::scaled;

class SpawnStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }
};

// Goal: each function runs once, whoever spawns it.
// Method: four threads spawn functions of which each spawns two more.
TEST_P(SpawnStressTest, EachFunctionRunsOnce) {
  const int each = scaled(20'000);
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  std::atomic<int> ran{0};
  test::race(4, [&](std::size_t) {
    for (int i = 0; i < each; ++i) {
      spawn(
          queue,
          [&](counted c) {
            ++ran;
            spawn(queue, [&] { ++ran; });
            spawn(queue, [&](counted) { ++ran; }, std::move(c));
          },
          counted{i});
    }
  });
  pool.drain();
  EXPECT_EQ(ran, 4 * each * 3);
}

// Goal: a cancelled function has not run and will not; one that is too late to
// cancel has run or will.
// Method: two threads spawn and cancel at once.
TEST_P(SpawnStressTest, ACancelIsAnsweredTruthfully) {
  const int each = scaled(50'000);
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  std::atomic<int> ran{0};
  std::atomic<int> cancelled{0};
  test::race(2, [&](std::size_t racer) {
    test::dice random{racer};
    for (int i = 0; i < each; ++i) {
      activation mine = spawn(queue, [&, c = counted{}] { ++ran; });
      test::linger(random.roll(200));
      cancelled += mine.cancel() ? 1 : 0;
    }
  });
  pool.drain();
  EXPECT_EQ(ran + cancelled, 2 * each);
}

// Goal: drain() returns after what its caller has done before is done.
// Method: three threads each spawn onto their own queue and drain, over and
// over, beside each other.
TEST_P(SpawnStressTest, DrainWaitsForWhatTheCallerStarted) {
  dispatcher pool{{.threads = GetParam()}};
  const int rounds = scaled(2'000);
  test::race(3, [&](std::size_t) {
    dispatcher_queue queue{pool};
    std::atomic<int> ran{0};
    for (int i = 1; i <= rounds; ++i) {
      spawn(queue, [&] { spawn(queue, [&] { ++ran; }); });
      pool.drain();
      EXPECT_EQ(ran, i);
    }
  });
}

// Goal: a close in the middle of a storm: each function ran or was discarded.
// Method: two threads spawn, one closes.
TEST_P(SpawnStressTest, ACloseDiscardsWhatHasNotStarted) {
  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::atomic<std::size_t> ran{0};
  test::race(
      3, scaled(2'000),
      [&](int) {
        queue.emplace(pool);
        ran = 0;
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(5'000);
          queue->close();
          return;
        }
        for (int i = 0; i < 50; ++i) {
          spawn(*queue, [&, c = counted{}] { ++ran; });
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(ran + queue->discarded(), 100U);
        queue.reset();
        EXPECT_EQ(counted::live(), 0);
      });
}

// Goal: failures that nobody takes may come first on several threads at once.
// Method: two dispatchers fail beside each other; ThreadSanitizer looks on.
TEST_P(SpawnStressTest, TheFirstFailuresAreLoggedSideBySide) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher other{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  dispatcher_queue others{other};
  for (int i = 0; i < 5; ++i) {
    spawn(queue, [] { throw std::runtime_error{"one"}; });
    spawn(others, [] { throw std::runtime_error{"another"}; });
  }
  pool.drain();
  other.drain();
  EXPECT_EQ(pool.unhandled_failures(), 5U);
  EXPECT_EQ(other.unhandled_failures(), 5U);
}

INSTANTIATE_TEST_SUITE_P(Workers, SpawnStressTest, ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

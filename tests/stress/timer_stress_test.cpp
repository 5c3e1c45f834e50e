// Timers that are armed and cancelled while they fire.

#include <wharf/detail/dispatcher_access.hpp>
#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;
using namespace std::chrono_literals;
using std::chrono::microseconds;

class TimerStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void TearDown() override {
    EXPECT_EQ(detail::dispatcher_access::pending_timers(pool), 0U);
    EXPECT_EQ(counted::live(), 0);
  }

  dispatcher pool{{.threads = GetParam()}};
};

// Goal: a timer fires once or was cancelled, never both, never neither.
// Method: two threads arm timers of 0 to 50 us and cancel them after a random,
// short time; those that were too late to cancel are waited for.
TEST_P(TimerStressTest, FiresOnceOrWasCancelled) {
  dispatcher_queue queue{pool};
  const int each = scaled(20'000);
  std::atomic<int> fired{0};
  std::atomic<int> cancelled{0};
  test::race(2, [&](std::size_t racer) {
    test::dice random{racer};
    std::vector<activation> late;
    for (int i = 0; i < each; ++i) {
      activation timer =
          activate(queue, after(microseconds{random.roll(51)},
                                [&, c = counted{}] { ++fired; }));
      test::linger(random.roll(20'000));
      if (timer.cancel()) {
        ++cancelled;
      } else {
        late.push_back(timer);
      }
    }
    for (const activation& timer : late) {
      timer.wait();
    }
  });
  EXPECT_EQ(fired + cancelled, 2 * each);
}

// Goal: nobody is forgotten.
// Method: three threads arm timers of 0 to 2 ms, and all of them are waited
// for: a lost wake-up of the timers' keeper is a hang.
TEST_P(TimerStressTest, NobodyIsForgotten) {
  dispatcher_queue queue{pool};
  const int each = scaled(5'000);
  std::atomic<int> fired{0};
  test::race(3, [&](std::size_t racer) {
    test::dice random{racer};
    std::vector<activation> armed;
    for (int i = 0; i < each; ++i) {
      armed.push_back(activate(
          queue, after(microseconds{random.roll(2'000)}, [&] { ++fired; })));
    }
    for (const activation& timer : armed) {
      timer.wait();
    }
  });
  EXPECT_EQ(fired, 3 * each);
}

// Goal: after the end of a periodic timer nothing ticks.
// Method: cancel at a random moment, wait, and look whether its handler is
// gone.
TEST_P(TimerStressTest, APeriodicTimerIsGoneWhenItHasEnded) {
  dispatcher_queue queue{pool};
  const int rounds = scaled(5'000);
  test::race(2, [&](std::size_t racer) {
    test::dice random{racer};
    for (int i = 0; i < rounds; ++i) {
      std::atomic<bool> gone{false};
      std::atomic<int> inside{0};
      activation ticking =
          activate(queue, every(microseconds{random.roll(20) + 1}, [&] {
                     EXPECT_FALSE(gone);
                     EXPECT_EQ(inside.fetch_add(1), 0);
                     inside.fetch_sub(1);
                   }));
      test::linger(random.roll(20'000));
      EXPECT_TRUE(ticking.cancel());
      ticking.wait();
      gone = true;
    }
  });
}

// Goal: time-outs and answers at the same moment: one of them.
// Method: each request is a choice of its answer and a timer that is due about
// when the answer comes.
TEST_P(TimerStressTest, AnAnswerAndItsTimeoutAreOneOutcome) {
  dispatcher_queue queue{pool};
  const int each = scaled(10'000);
  std::atomic<int> answered{0};
  std::atomic<int> timed_out{0};
  std::atomic<int> left{0};
  test::race(2, [&](std::size_t racer) {
    test::dice random{racer};
    for (int i = 0; i < each; ++i) {
      port<counted> reply;
      const activation request = activate(
          queue,
          choice(receive(reply, [&](counted) { ++answered; }),
                 after(microseconds{random.roll(10)}, [&] { ++timed_out; })));
      test::linger(random.roll(10'000));
      reply.post(counted{i});
      request.wait();
      left += static_cast<int>(reply.size());
    }
  });
  EXPECT_EQ(answered + timed_out, 2 * each);
  EXPECT_EQ(left, timed_out);
}

// Goal: queues that end take their timers with them.
// Method: timers are armed by two threads while a third one closes the queue.
TEST_P(TimerStressTest, TheEndOfAQueueTakesItsTimers) {
  std::optional<dispatcher_queue> queue;
  std::vector<std::vector<activation>> armed(2);
  test::race(
      3, scaled(2'000),
      [&](int) {
        queue.emplace(pool);
        armed.assign(2, {});
      },
      [&](std::size_t racer) {
        if (racer == 2) {
          test::linger(3'000);
          queue->close();
          return;
        }
        for (int i = 0; i < 10; ++i) {
          armed[racer].push_back(
              activate(*queue, after(1us * i, [c = counted{}] {})));
          armed[racer].push_back(
              activate(*queue, every(5us, [c = counted{}] {})));
        }
      },
      [&] {
        for (const auto& of_one : armed) {
          for (const activation& each : of_one) {
            each.wait();
          }
        }
        queue.reset();
        EXPECT_EQ(detail::dispatcher_access::pending_timers(pool), 0U);
        EXPECT_EQ(counted::live(), 0);
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, TimerStressTest, ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

// A message never sleeps until the next one arrives.

#include <wharf/detail/dispatcher_access.hpp>
#include <wharf/wharf.hpp>

#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::scaled;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Two receivers with one message between them. Every 64 rounds the one who
/// has it pauses for up to 20 us, working, so that others may fall asleep.
class pair_of_players {
public:
  pair_of_players(dispatcher_queue& queue, std::size_t number, int rounds,
                  std::latch& over)
      : dice_{number}, left_{rounds}, over_{over} {
    activate(queue, receive(persist, ping_, [this](int n) {
               pause();
               pong_.post(n + 1);
             }));
    activate(queue, receive(persist, pong_, [this](int n) {
               if (--left_ == 0) {
                 over_.count_down();
                 return;
               }
               ping_.post(n + 1);
             }));
  }

  void serve() { ping_.post(0); }
  bool idle() const { return ping_.empty() && pong_.empty(); }

private:
  void pause() {
    if (left_ % 64 == 0) {
      const auto until =
          clock::now() + std::chrono::microseconds{dice_.roll(21)};
      while (clock::now() < until) {
      }
    }
  }

  port<int> ping_;
  port<int> pong_;
  test::dice dice_;
  int left_; // the one message orders the handlers
  std::latch& over_;
};

/// Plays with nobody else posting; returns what it took.
clock::duration play(std::size_t workers, std::size_t pairs, int rounds,
                     bool sentinel) {
  dispatcher pool{{.threads = workers}};
  detail::dispatcher_access::set_sentinel(pool, sentinel);
  dispatcher_queue queue{pool};
  std::latch over{static_cast<std::ptrdiff_t>(pairs)};
  std::vector<std::unique_ptr<pair_of_players>> players;
  for (std::size_t i = 0; i < pairs; ++i) {
    players.push_back(
        std::make_unique<pair_of_players>(queue, i, rounds, over));
  }
  const auto start = clock::now();
  for (const auto& each : players) {
    each->serve();
  }
  over.wait();
  const auto took = clock::now() - start;
  pool.drain();
  for (const auto& each : players) {
    EXPECT_TRUE(each->idle());
  }
  return took;
}

class LostWakeupTest
    : public ::testing::TestWithParam<std::tuple<std::size_t, bool>> {};

// Scenario: 100 pairs, one message in flight in each, and again without the
// rationing of wake-ups, so that a lost one is a hang. All rounds finish with
// no outside nudge.
TEST_P(LostWakeupTest, AHundredPairsFinishAllRounds) {
  const auto [workers, sentinel] = GetParam();
  play(workers, 100, scaled(10'000), sentinel);
}

// The same with few pairs: most workers sleep most of the time.
TEST_P(LostWakeupTest, AFewPairsFinishAllRounds) {
  const auto [workers, sentinel] = GetParam();
  for (const std::size_t pairs : {1U, 2U, 3U}) {
    play(workers, pairs, scaled(30'000), sentinel);
  }
}

// The rate shows no polling interval: a watcher looks again after a
// millisecond, and a round takes a small part of that.
TEST_P(LostWakeupTest, RoundsDoNotPileUpAtAPollingInterval) {
  const auto [workers, sentinel] = GetParam();
  const int rounds = scaled(20'000);
  EXPECT_LT(play(workers, 1, rounds, sentinel) / rounds, 250us);
}

// Every hop crosses to a worker of another dispatcher, which is asleep.
TEST_P(LostWakeupTest, PlayersOnTwoDispatchersFinishAllRounds) {
  const auto [workers, sentinel] = GetParam();
  dispatcher here{{.threads = workers}};
  dispatcher there{{.threads = workers}};
  detail::dispatcher_access::set_sentinel(here, sentinel);
  detail::dispatcher_access::set_sentinel(there, sentinel);
  dispatcher_queue near{here};
  dispatcher_queue far{there};
  port<int> ping;
  port<int> pong;
  std::latch over{1};
  int left = scaled(20'000);
  activate(far, receive(persist, ping, [&](int n) { pong.post(n); }));
  activate(near, receive(persist, pong, [&](int n) {
             if (--left == 0) {
               over.count_down();
             } else {
               ping.post(n);
             }
           }));
  ping.post(1);
  over.wait();
  here.drain();
  there.drain();
  EXPECT_TRUE(ping.empty() && pong.empty());
}

// All workers sleep until a timer of 0 to 20 us wakes one.
TEST_P(LostWakeupTest, ShortTimersWakeASleepingPool) {
  const auto [workers, sentinel] = GetParam();
  dispatcher pool{{.threads = workers}};
  detail::dispatcher_access::set_sentinel(pool, sentinel);
  dispatcher_queue queue{pool};
  std::latch over{1};
  port<int> next;
  test::dice dice{1};
  int left = scaled(5'000);
  activate(queue, receive(persist, next, [&](int n) {
             if (--left == 0) {
               over.count_down();
               return;
             }
             activate(queue, after(std::chrono::microseconds{dice.roll(21)},
                                   [&next, n] { next.post(n); }));
           }));
  next.post(1);
  over.wait();
  pool.drain();
  EXPECT_TRUE(next.empty());
}

task<void> returns(port<int> from, port<int> to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    const int n = co_await receive(from);
    to.post(n + 1);
  }
}

// Players that are coroutines: a hop is a suspension and a resumption.
TEST_P(LostWakeupTest, CoroutinesFinishAllRounds) {
  const auto [workers, sentinel] = GetParam();
  dispatcher pool{{.threads = workers}};
  detail::dispatcher_access::set_sentinel(pool, sentinel);
  dispatcher_queue queue{pool};
  const int rounds = scaled(5'000);
  std::vector<std::pair<port<int>, port<int>>> pairs(20);
  std::vector<activation> players;
  for (const auto& [ping, pong] : pairs) {
    players.push_back(spawn(queue, returns, ping, pong, rounds));
    players.push_back(spawn(queue, returns, pong, ping, rounds));
    ping.post(0);
  }
  for (const activation& each : players) {
    each.wait();
  }
  for (const auto& [ping, pong] : pairs) {
    EXPECT_EQ(ping.try_take(), 2 * rounds); // the last one comes back
    EXPECT_TRUE(pong.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(WorkersAndSentinel, LostWakeupTest,
                         ::testing::Combine(::testing::Values(1, 2, 8, 16),
                                            ::testing::Bool()));

} // namespace
} // namespace wharf

#pragma once

// Rounds of a race: everything is made anew, all racers start at the same
// moment, and when they are through the round is looked at.

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace wharf::test {

/// In each round `setup(round)` runs on the calling thread, then `racer(i)` on
/// `threads` threads at once (i = 0 is the calling one), then `check()` on the
/// calling thread. Stops after the first round with a failure, and when the
/// machine is so busy that the rounds take longer than a second in all.
template <class Setup, class Racer, class Check>
void race(std::size_t threads, int rounds, Setup setup, Racer racer,
          Check check) {
  bool over = false; // ordered by the barriers
  std::barrier start{static_cast<std::ptrdiff_t>(threads)};
  std::barrier finish{static_cast<std::ptrdiff_t>(threads)};
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back([&, i] {
      for (;;) {
        start.arrive_and_wait();
        if (over) {
          return;
        }
        racer(i);
        finish.arrive_and_wait();
      }
    });
  }
  using clock = std::chrono::steady_clock;
  const auto enough = clock::now() + std::chrono::seconds{1};
  for (int round = 0; round < rounds && clock::now() < enough &&
                      !::testing::Test::HasFailure();
       ++round) {
    setup(round);
    start.arrive_and_wait();
    racer(std::size_t{0});
    finish.arrive_and_wait();
    check();
  }
  over = true;
  start.arrive_and_wait();
}

/// One race: `racer(i)` on `threads` threads at once; returns when all ended.
template <class Racer>
void race(std::size_t threads, Racer racer) {
  race(threads, 1, [](int) {}, racer, [] {});
}

/// A random number generator that costs nothing beside what is tested.
class dice {
public:
  explicit dice(std::uint64_t seed) noexcept
      : state_{(seed + 1) * 0x9e3779b97f4a7c15U} {}

  /// From 0 to `sides` - 1.
  std::size_t roll(std::size_t sides) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ >> 33) % sides;
  }

private:
  std::uint64_t state_;
};

/// Passes a random, short time, so that races meet at different points.
inline void linger(std::size_t steps) noexcept {
  for (std::size_t i = 0; i < steps; ++i) {
    asm volatile("" ::: "memory");
  }
}

} // namespace wharf::test

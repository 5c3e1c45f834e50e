#pragma once

// Bursts, and the memory that they must give back.

#include "allocation_count.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace wharf::test {

inline constexpr std::ptrdiff_t near_level = 300 * 1024;

/// Ten times: `fill` makes the burst and `drain` ends it. The level comes back
/// each time, and the tenth peak equals the first. Returns the first peak.
template <class Fill, class Drain>
std::ptrdiff_t ten_bursts(Fill fill, Drain drain) {
  const std::ptrdiff_t level = live_bytes();
  std::ptrdiff_t first_peak = 0;
  for (int burst = 1; burst <= 10; ++burst) {
    fill();
    const std::ptrdiff_t peak = live_bytes() - level;
    first_peak = burst == 1 ? peak : first_peak;
    EXPECT_NEAR(static_cast<double>(peak), static_cast<double>(first_peak),
                near_level)
        << "peak of burst " << burst;
    drain();
    EXPECT_LE(live_bytes() - level, near_level) << "after burst " << burst;
  }
  EXPECT_GT(first_peak, 2 * near_level); // there was a burst to give back
  return first_peak;
}

} // namespace wharf::test

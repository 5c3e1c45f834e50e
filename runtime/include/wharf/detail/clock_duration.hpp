#pragma once

// Durations as users write them, in the unit of the steady clock.

#include <wharf/detail/timers.hpp>

#include <chrono>
#include <stdexcept>
#include <type_traits>

namespace wharf::inline v1::detail {

/// Any duration in the clock's unit, held to the ends of its range.
template <class Rep, class Period>
duration clock_duration(std::chrono::duration<Rep, Period> d) {
  if constexpr (std::is_floating_point_v<Rep>) {
    if (d.count() != d.count()) {
      throw std::invalid_argument{"a duration must be a number"};
    }
  }
  // Compared in a type that holds every value of both; the cast below would
  // overflow, and unsigned or narrow representations would wrap.
  using wide = std::chrono::duration<long double, Period>;
  const wide length{static_cast<long double>(d.count())};
  if (length >= std::chrono::duration_cast<wide>(duration::max())) {
    return duration::max();
  }
  if (length <= std::chrono::duration_cast<wide>(duration::min())) {
    return duration::min();
  }
  return std::chrono::duration_cast<duration>(d);
}

} // namespace wharf::inline v1::detail

#pragma once

// The clock's units, and arithmetic in them that does not overflow.

#include <chrono>
#include <stdexcept>
#include <type_traits>

namespace wharf::inline v1::detail {

using time_point = std::chrono::steady_clock::time_point;
using duration = std::chrono::steady_clock::duration;

/// When a timer is due that is never due. max() itself means "no timer".
inline constexpr time_point never = time_point::max() - duration{1};

/// `now + delay`, held to the ends of the clock's range: a huge delay is
/// "never", a negative one "now".
time_point due_after(time_point now, duration delay) noexcept;

/// Any duration in the clock's unit, held to the ends of its range.
/// Throws std::invalid_argument for one that is not a number.
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

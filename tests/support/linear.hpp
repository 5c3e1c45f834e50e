#pragma once

// Whether twice the work costs twice as much.

#include <algorithm>
#include <array>
#include <cstddef>
#include <ctime>

namespace wharf::test {

/// The processor time of the calling thread so far, in seconds.
inline double thread_seconds() noexcept {
  std::timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) +
         1e-9 * static_cast<double>(spent.tv_nsec);
}

/// What work(2n) costs the calling thread, as a multiple of what work(n) does:
/// the medians of three runs each. 2 is linear, 4 quadratic.
template <class Work>
double growth(Work work, int n) {
  const auto cost = [&work](int size) {
    const double start = thread_seconds();
    work(size);
    return thread_seconds() - start;
  };
  cost(2 * n); // memory and caches are warm from here on
  std::array<double, 3> once{};
  std::array<double, 3> twice{};
  for (std::size_t i = 0; i < once.size(); ++i) {
    once[i] = cost(n);
    twice[i] = cost(2 * n);
  }
  std::sort(once.begin(), once.end());
  std::sort(twice.begin(), twice.end());
  return twice[1] / std::max(once[1], 1e-9);
}

/// With a wide margin for caches, and for a machine that does other things.
inline constexpr double linear = 3.0;

} // namespace wharf::test

#pragma once

// A dispatcher that the test cranks by hand: one thread, one handler at a
// time, and a clock that stands still until the test moves it.

#include <wharf/detail/dispatcher_access.hpp>
#include <wharf/dispatcher.hpp>

#include <chrono>
#include <cstddef>

namespace wharf::test {

class test_dispatcher {
public:
  test_dispatcher();

  /// What queues are made on.
  operator dispatcher&() noexcept { return pool_; }
  dispatcher& pool() noexcept { return pool_; }

  /// Fires due timers and runs one work item. False: there was none.
  bool run_one();

  /// Runs until nothing is ready; returns how many work items it ran.
  std::size_t run_all();

  /// Moves the clock, without running anything.
  void advance(std::chrono::steady_clock::duration by);
  std::chrono::steady_clock::time_point now() const;

  std::size_t pending_timers() const;

private:
  dispatcher pool_;
};

} // namespace wharf::test

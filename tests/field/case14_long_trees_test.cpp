// Deep awaits and trees of tasks take no stack, whether they run, fail, are cut
// short or are never started. Every thread here has 256 KiB.

#include <wharf/wharf.hpp>

#include "small_world.hpp"
#include "support/counted.hpp"
#include "support/failures.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;

const int many = scaled(100'000);

class LongTreesTest : public test::SmallWorldTest {};

INSTANTIATE_TEST_SUITE_P(Workers, LongTreesTest, ::testing::Values(0, 1, 4));

/// Awaits itself so often, then a message.
task<int> down(int depth, port<int> numbers, counted own) {
  if (depth == 0) {
    co_return co_await receive(numbers);
  }
  const int below = co_await down(depth - 1, numbers, counted{});
  co_return below + 1 + 0 * own.value;
}

TEST_P(LongTreesTest, OfAwaits) {
  run([](dispatcher&, dispatcher_queue& queue) {
    const auto awaits = [&](int depth) {
      port<int> numbers;
      numbers.post(5);
      EXPECT_EQ(sync_wait(queue, down(depth, numbers, counted{})), depth + 5);
    };
    expect_linear(awaits, many);
  });
}

task<void> falls(int depth, port<int> numbers, counted own) {
  if (depth != 0) {
    co_await falls(depth - 1, numbers, std::move(own));
    co_return;
  }
  const int n = co_await receive(numbers);
  if (n == 0) {
    throw std::runtime_error{"from the depth"};
  }
}

// A failure passes every level.
TEST_P(LongTreesTest, OfAwaitsThatFail) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    port<std::exception_ptr> failures;
    queue.on_failure(failures);
    const auto fails = [&](int depth) {
      port<int> numbers;
      spawn(queue, falls, depth, numbers, counted{});
      pool.drain();
      numbers.post(0);
      pool.drain();
      EXPECT_EQ(test::take_whats(failures),
                (std::vector<std::string>{"from the depth"}));
    };
    expect_linear(fails, many / 4);
  });
}

// So do a cancel, a port that closes, and the end of the queue.
TEST_P(LongTreesTest, OfAwaitsThatAreCutShort) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    port<std::exception_ptr> failures;
    queue.on_failure(failures);
    for (const int way : {0, 1, 2}) {
      port<int> numbers;
      activation running = spawn(queue, falls, many, numbers, counted{});
      pool.drain();
      EXPECT_TRUE(running.active());
      if (way == 0) {
        EXPECT_TRUE(running.cancel());
      } else if (way == 1) {
        numbers.close();
      } else {
        queue.close();
      }
      running.wait();
      EXPECT_EQ(failures.size(), way == 1 ? 1U : 0U);
      failures.clear();
    }
  });
}

/// A task that awaits another one, that was made before it.
task<void> around(task<void> inner, counted) {
  co_await std::move(inner);
}

task<void> chain_of_tasks(int length) {
  port<int> numbers;
  numbers.post(1);
  task<void> outermost = falls(0, numbers, counted{});
  for (int i = 0; i < length; ++i) {
    outermost = around(std::move(outermost), counted{});
  }
  return outermost;
}

// A chain that was built from its inner end: run, discarded in line, and never
// started at all.
TEST_P(LongTreesTest, OfTasksThatHoldTasks) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    const auto runs = [&](int length) {
      sync_wait(queue, chain_of_tasks(length));
    };
    expect_linear(runs, many);
    const auto never = [](int length) {
      const task<void> unused = chain_of_tasks(length);
      EXPECT_EQ(counted::live(), length + 1);
    };
    expect_linear(never, many);
    pool.drain();
    queue.suspend();
    activation running = spawn(queue, chain_of_tasks(many));
    EXPECT_TRUE(running.cancel());
    spawn(queue, chain_of_tasks(many));
    queue.close();
    EXPECT_EQ(queue.discarded(), 1U);
  });
}

task<int> wait_for(port<int> numbers, counted) {
  co_return co_await receive(numbers);
}

/// A choice tree of coroutines: at each level one that never fires, beside the
/// next level.
task<int> any_below(int depth, port<int> deepest, port<int> silent) {
  if (depth == 0) {
    co_return co_await receive(deepest);
  }
  std::vector<task<int>> sides;
  sides.push_back(wait_for(silent, counted{}));
  sides.push_back(any_below(depth - 1, deepest, silent));
  const auto first = co_await when_any(std::move(sides));
  co_return first.second;
}

// (e) for coroutines: the innermost fires, and all that wait beside it go.
TEST_P(LongTreesTest, OfWhenAnyInWhenAny) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    const auto fires = [&](int depth) {
      port<int> deepest;
      port<int> silent;
      std::atomic<int> got{0};
      const auto top = [&got](int levels, port<int> d,
                              port<int> s) -> task<void> {
        got = co_await any_below(levels, d, s);
      };
      const activation running = spawn(queue, top, depth, deepest, silent);
      pool.drain();
      EXPECT_EQ(counted::live(), depth);
      deepest.post(7);
      pool.drain();
      EXPECT_EQ(got, 7);
      EXPECT_FALSE(running.active());
      EXPECT_EQ(counted::live(), 0);
      silent.post(1); // nobody is left there
      EXPECT_EQ(silent.size(), 1U);
    };
    expect_linear(fires, many / 4);
  });
}

// The same cut short from the top, and by the end of the queue.
TEST_P(LongTreesTest, OfWhenAnyThatAreCutShort) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    const auto top = [](int levels, port<int> d) -> task<void> {
      co_await any_below(levels, d, port<int>{});
    };
    for (const bool cancels : {true, false}) {
      port<int> deepest;
      activation running = spawn(queue, top, many / 4, deepest);
      pool.drain();
      EXPECT_EQ(counted::live(), many / 4);
      if (cancels) {
        EXPECT_TRUE(running.cancel());
      } else {
        queue.close();
      }
      running.wait();
      EXPECT_EQ(counted::live(), 0);
    }
  });
}

/// A binary tree of so many leaves.
task<int> leaves(int count) {
  if (count == 1) {
    co_return 1;
  }
  const auto [left, right] =
      co_await when_all(leaves(count / 2), leaves(count - count / 2));
  co_return left + right;
}

/// A chain: at each level a leaf beside the next level.
task<int> all_below(int depth) {
  if (depth == 0) {
    co_return 1;
  }
  const auto [leaf, below] = co_await when_all(leaves(1), all_below(depth - 1));
  co_return leaf + below;
}

TEST_P(LongTreesTest, OfWhenAll) {
  run([](dispatcher&, dispatcher_queue& queue) {
    const auto wide = [&](int count) {
      EXPECT_EQ(sync_wait(queue, leaves(count)), count);
    };
    expect_linear(wide, many / 2);
    const auto deep = [&](int depth) {
      EXPECT_EQ(sync_wait(queue, all_below(depth)), depth + 1);
    };
    expect_linear(deep, many / 4);
  });
}

// One when_all of so many.
TEST_P(LongTreesTest, OfWhenAllOfARange) {
  run([](dispatcher&, dispatcher_queue& queue) {
    const auto wide = [&](int count) {
      std::vector<task<int>> all;
      for (int i = 0; i < count; ++i) {
        all.push_back(leaves(1));
      }
      const std::vector<int> ones = sync_wait(queue, when_all(std::move(all)));
      EXPECT_EQ(ones.size(), static_cast<std::size_t>(count));
    };
    expect_linear(wide, many / 2);
  });
}

} // namespace
} // namespace wharf

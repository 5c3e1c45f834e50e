#pragma once

// A dispatcher where every stack is small, cranked by hand or with workers.

#include <wharf/dispatcher.hpp>
#include <wharf/dispatcher_queue.hpp>

#include "support/counted.hpp"
#include "support/linear.hpp"
#include "support/small_stack.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace wharf::test {

/// So many workers; 0: the thread of the test cranks.
class SmallWorldTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  /// Runs body(pool, queue) where every stack has 256 KiB.
  template <class Body>
  static void run(Body body) {
    on_small_stacks([&body] {
      if (by_hand()) {
        test_dispatcher world;
        dispatcher_queue queue{world};
        body(world.pool(), queue);
      } else {
        dispatcher pool{{.threads = GetParam()}};
        dispatcher_queue queue{pool};
        body(pool, queue);
      }
    });
  }

  /// Runs work(2n). By hand, where one thread does it all, it must not cost
  /// much more than two work(n).
  template <class Work>
  static void expect_linear(Work work, int n) {
    if (by_hand()) {
      EXPECT_LT(growth(work, n), linear);
    } else {
      work(2 * n);
    }
  }

private:
  static bool by_hand() { return GetParam() == 0; }
};

} // namespace wharf::test

// Long chains take no stack and linear time. Every thread here has 256 KiB: a
// step that took the smallest of frames would not get a tenth of the way.

#include <wharf/wharf.hpp>

#include "small_world.hpp"
#include "support/counted.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::scaled;

const int million = scaled(1'000'000);
const int many = scaled(100'000);

class LongChainsTest : public test::SmallWorldTest {};

INSTANTIATE_TEST_SUITE_P(Workers, LongChainsTest, ::testing::Values(0, 1, 4));

// (a) A coroutine awaits a port that already holds so many messages.

task<long> sum_of(port<int> numbers, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += co_await receive(numbers);
  }
  co_return sum;
}

TEST_P(LongChainsTest, OfReadyMessages) {
  run([](dispatcher&, dispatcher_queue& queue) {
    const auto receives = [&](int count) {
      port<int> numbers;
      for (int i = 0; i < count; ++i) {
        numbers.post(1);
      }
      EXPECT_EQ(sync_wait(queue, sum_of(numbers, count)), count);
    };
    expect_linear(receives, million / 2);
  });
}

task<long> choices_of(port<int> numbers, port<int> silent, int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto which =
        co_await choice(receive(silent), receive(numbers), after(1h));
    sum += std::get<1>(which);
  }
  co_return sum;
}

TEST_P(LongChainsTest, OfReadyChoices) {
  run([](dispatcher&, dispatcher_queue& queue) {
    port<int> numbers;
    for (int i = 0; i < many; ++i) {
      numbers.post(1);
    }
    EXPECT_EQ(sync_wait(queue, choices_of(numbers, port<int>{}, many)), many);
  });
}

// (b) Awaits of a child that finishes at once.

task<int> one() {
  co_return 1;
}

task<long> sum_of_ones(int count) {
  long sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += co_await one();
  }
  co_return sum;
}

TEST_P(LongChainsTest, OfChildrenThatFinishAtOnce) {
  run([](dispatcher&, dispatcher_queue& queue) {
    const auto awaits = [&](int count) {
      EXPECT_EQ(sync_wait(queue, sum_of_ones(count)), count);
    };
    expect_linear(awaits, million / 2);
  });
}

task<int> fails() {
  throw std::runtime_error{"at once"};
  co_return 0;
}

task<int> failures_of(int count) {
  int caught = 0;
  for (int i = 0; i < count; ++i) {
    try {
      co_await fails();
    } catch (const std::runtime_error&) {
      ++caught;
    }
  }
  co_return caught;
}

TEST_P(LongChainsTest, OfChildrenThatFailAtOnce) {
  run([](dispatcher&, dispatcher_queue& queue) {
    EXPECT_EQ(sync_wait(queue, failures_of(many)), many);
  });
}

// (c) Coroutines wait for one permit, and each releases it straight away. The
// permit is a message; on a semaphore this comes with semaphores.

task<void> takes_a_turn(port<counted> permit, std::atomic<int>& turns) {
  counted mine = co_await receive(permit);
  ++turns;
  permit.post(std::move(mine));
}

TEST_P(LongChainsTest, OfHoldersThatReleaseAtOnce) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    const auto turns_of = [&](int count) {
      port<counted> permit;
      std::atomic<int> turns{0};
      for (int i = 0; i < count; ++i) {
        spawn(queue, takes_a_turn, permit, std::ref(turns));
      }
      pool.drain();
      permit.post(counted{1});
      pool.drain();
      EXPECT_EQ(turns, count);
      EXPECT_EQ(permit.size(), 1U);
    };
    expect_linear(turns_of, many);
  });
}

// (d) A chain of handlers where each posts the next; where each activates the
// next; where each is a coroutine.

TEST_P(LongChainsTest, OfHandlersThatPostTheNext) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    port<int> numbers;
    std::atomic<int> last{-1};
    activate(queue, receive(persist, numbers, [numbers, &last](int n) {
               last = n;
               if (n != 0) {
                 numbers.post(n - 1);
               }
             }));
    const auto posts = [&](int count) {
      numbers.post(count);
      pool.drain();
      EXPECT_EQ(last, 0);
    };
    expect_linear(posts, million / 2);
    numbers.close(); // its handler holds it
  });
}

/// Activates itself for the next number, until that is zero.
struct relay {
  dispatcher_queue& queue;
  port<int> numbers;
  std::atomic<int>& last;
  void operator()(int n) const {
    last = n;
    if (n != 0) {
      activate(queue, receive(numbers, *this));
      numbers.post(n - 1);
    }
  }
};

TEST_P(LongChainsTest, OfHandlersThatActivateTheNext) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    port<int> numbers;
    std::atomic<int> last{-1};
    const auto activates = [&](int count) {
      activate(queue, receive(numbers, relay{queue, numbers, last}));
      numbers.post(count);
      pool.drain();
      EXPECT_EQ(last, 0);
    };
    expect_linear(activates, million / 4);
  });
}

TEST_P(LongChainsTest, OfCoroutineHandlersThatPostTheNext) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    port<int> numbers;
    std::atomic<int> last{-1};
    const auto handler = [numbers, &last](int n) -> task<void> {
      last = n;
      co_await one();
      if (n != 0) {
        numbers.post(n - 1);
      }
    };
    activate(queue, receive(persist, numbers, handler));
    const auto posts = [&](int count) {
      numbers.post(count);
      pool.drain();
      EXPECT_EQ(last, 0);
    };
    expect_linear(posts, million / 4);
    numbers.close();
  });
}

/// Each spawns the next one.
task<void> spawns(dispatcher_queue& queue, int n, std::atomic<int>& last) {
  last = n;
  if (n != 0) {
    spawn(queue, spawns, std::ref(queue), n - 1, std::ref(last));
  }
  co_return;
}

TEST_P(LongChainsTest, OfCoroutinesThatSpawnTheNext) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    std::atomic<int> last{-1};
    spawn(queue, spawns, std::ref(queue), million / 4, std::ref(last));
    pool.drain();
    EXPECT_EQ(last, 0);
  });
}

// (e) A choice tree, built at run time, of which the innermost fires.

choice_of_list tree_of(int depth, const port<int>& shallow,
                       const port<int>& deepest, std::string& got) {
  std::vector<branch> level;
  level.emplace_back(
      receive(deepest, [&got, own = counted{}](int) { got += "deepest"; }));
  for (int i = 0; i < depth; ++i) {
    std::vector<branch> outer;
    outer.emplace_back(
        receive(shallow, [&got, own = counted{}](int) { got += "shallow"; }));
    outer.emplace_back(choice(std::move(level)));
    level = std::move(outer);
  }
  return choice(std::move(level));
}

TEST_P(LongChainsTest, OfChoicesInChoices) {
  run([](dispatcher& pool, dispatcher_queue& queue) {
    const auto fires = [&](int depth) {
      port<int> shallow;
      port<int> deepest;
      std::string got;
      const activation tree =
          activate(queue, tree_of(depth, shallow, deepest, got));
      EXPECT_TRUE(tree.active());
      deepest.post(1);
      shallow.post(1);
      pool.drain();
      EXPECT_EQ(got, "deepest");
      EXPECT_EQ(shallow.size(), 1U);
      static_cast<void>(tree_of(depth, shallow, deepest, got)); // unused
    };
    expect_linear(fires, many);
  });
}

} // namespace
} // namespace wharf

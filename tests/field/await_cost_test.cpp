// What awaits cost: no allocation, few bytes for one who waits, linear time,
// and everything is given back.

#include <wharf/wharf.hpp>

#include "allocation_count.hpp"
#include "bursts.hpp"
#include "support/counted.hpp"
#include "support/linear.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::allocations;
using test::counted;
using test::growth;
using test::linear;
using test::live_bytes;
using test::near_level;
using test::scaled;
using test::ten_bursts;
using test::test_dispatcher;

const int many = scaled(100'000);
constexpr int warm_up = 1'000;
constexpr int measured = 10'000;
// What a coroutine with a port and a number takes while it waits.
constexpr std::ptrdiff_t bytes_max = 1024;

class AwaitCostTest : public ::testing::Test {
protected:
  /// Steps until the coroutine has ended. Returns how often the steps of its
  /// later rounds allocated; what the post of a message takes is not theirs.
  template <class Post>
  std::size_t allocated(task<void> rounds, Post post) {
    const activation running = spawn(queue, std::move(rounds));
    std::size_t total = 0;
    for (int i = 0; running.active(); ++i) {
      post();
      const std::size_t before = allocations();
      world.run_all();
      world.advance(1ms);
      world.run_all();
      if (i >= warm_up && running.active()) {
        total += allocations() - before;
      }
    }
    return total;
  }

  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
};

task<void> ready_awaits(port<int> a, port<int> b, std::size_t& allocated) {
  std::size_t before = 0;
  for (int i = 0; i < warm_up + measured; ++i) {
    if (i == warm_up) {
      before = allocations();
    }
    co_await receive(a);
    co_await choice(receive(b), receive(a));
    co_await choice(receive(b), receive(a), after(1h));
    co_await sleep_for(0ms);
    co_await after(0ms);
  }
  allocated = allocations() - before;
}

// Messages that are there already.
TEST_F(AwaitCostTest, AReadyAwaitAllocatesNothing) {
  for (int i = 0; i < 3 * (warm_up + measured); ++i) {
    a.post(i);
  }
  std::size_t allocated = 1;
  spawn(queue, ready_awaits, a, b, std::ref(allocated));
  world.run_all();
  EXPECT_EQ(allocated, 0U);
  EXPECT_TRUE(a.empty());
}

// Awaits that have to wait.
TEST_F(AwaitCostTest, AnAwaitedReceiveAllocatesNothing) {
  const auto rounds = [](port<int> in) -> task<void> {
    for (int i = 0; i < warm_up + measured; ++i) {
      co_await receive(in);
    }
  };
  EXPECT_EQ(allocated(rounds(a), [&] { a.post(1); }), 0U);
}

TEST_F(AwaitCostTest, AnAwaitedChoiceAllocatesNothing) {
  const auto rounds = [](port<int> in, port<int> other) -> task<void> {
    for (int i = 0; i < warm_up + measured; ++i) {
      co_await choice(receive(in), receive(other));
    }
  };
  EXPECT_EQ(allocated(rounds(b, a), [&] { a.post(1); }), 0U);
}

TEST_F(AwaitCostTest, AnAwaitedChoiceWithATimeOutAllocatesNothing) {
  const auto rounds = [](port<int> in) -> task<void> {
    for (int i = 0; i < warm_up + measured; ++i) {
      co_await choice(receive(in), after(i % 2 == 0 ? 1h : 0h));
    }
  };
  EXPECT_EQ(allocated(rounds(a), [&] { a.post(1); }), 0U);
}

TEST_F(AwaitCostTest, ASleepAllocatesNothing) {
  const auto rounds = []() -> task<void> {
    for (int i = 0; i < warm_up + measured; ++i) {
      co_await sleep_for(1ms);
      co_await after(1ms);
    }
  };
  EXPECT_EQ(allocated(rounds(), [] {}), 0U);
}

// Coroutines that wait.

task<void> waits_for_message(port<int> in, counted) {
  co_await receive(in);
}
task<void> waits_for_time(port<int>, counted) {
  co_await sleep_for(1h);
}
task<void> waits_for_either(port<int> in, counted) {
  co_await choice(receive(in), after(1h));
}

using waiter = task<void> (*)(port<int>, counted);

/// Parks so many, then ends their waits.
class ParkedTest
    : public ::testing::TestWithParam<std::pair<const char*, waiter>> {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  void park(int count) {
    for (int i = 0; i < count; ++i) {
      parked.push_back(spawn(queue, GetParam().second(in, counted{})));
    }
    world.run_all();
    EXPECT_EQ(counted::live(), count);
  }
  void serve(int count) {
    for (int i = 0; i < count; ++i) {
      in.post(i);
    }
    world.advance(1h);
    world.run_all();
    EXPECT_EQ(counted::live(), 0);
    EXPECT_EQ(world.pending_timers(), 0U);
    parked.clear();
    in.clear();
  }
  void cancel() {
    for (activation& each : parked) {
      EXPECT_TRUE(each.cancel());
    }
    world.run_all();
    EXPECT_EQ(counted::live(), 0);
    EXPECT_EQ(world.pending_timers(), 0U);
    parked.clear();
  }

  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> in;
  std::vector<activation> parked;
};

// 10^5 at once: what each of them takes, frame, root and arguments included.
TEST_P(ParkedTest, TakeFewBytesEach) {
  parked.reserve(static_cast<std::size_t>(many));
  park(warm_up);
  cancel();
  const std::ptrdiff_t level = live_bytes();
  park(many);
  const std::ptrdiff_t each = (live_bytes() - level) / many;
  RecordProperty("bytes_per_parked_coroutine", static_cast<int>(each));
  EXPECT_LE(each, bytes_max);
  serve(many);
  EXPECT_LE(live_bytes() - level, near_level);
}

// Ten bursts, served and cancelled in turns.
TEST_P(ParkedTest, GiveTheirMemoryBack) {
  const int burst = std::max(scaled(20'000), 2'000);
  parked.reserve(static_cast<std::size_t>(burst));
  bool cancels = false;
  ten_bursts([&] { park(burst); },
             [&] {
               cancels = !cancels;
               cancels ? cancel() : serve(burst);
             });
}

// The end of their queue gives it back too.
TEST_P(ParkedTest, GiveTheirMemoryBackWithTheirQueue) {
  parked.reserve(static_cast<std::size_t>(many));
  const std::ptrdiff_t level = live_bytes();
  park(many);
  queue.close();
  world.run_all();
  parked.clear();
  EXPECT_LE(live_bytes() - level, near_level);
  EXPECT_EQ(world.pending_timers(), 0U);
}

TEST_P(ParkedTest, CostLinearTime) {
  const auto served = [&](int count) {
    park(count);
    serve(count);
  };
  EXPECT_LT(growth(served, many / 2), linear);
  const auto cancelled = [&](int count) {
    park(count);
    cancel();
  };
  EXPECT_LT(growth(cancelled, many / 2), linear);
}

INSTANTIATE_TEST_SUITE_P(
    On, ParkedTest,
    ::testing::Values(std::pair{"message", &waits_for_message},
                      std::pair{"time", &waits_for_time},
                      std::pair{"either", &waits_for_either}),
    [](const auto& on) { return std::string{on.param.first}; });

} // namespace
} // namespace wharf

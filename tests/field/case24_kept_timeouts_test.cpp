// Time-outs kept after the answer has come, and waiters kept after the
// time-out.

#include <wharf/detail/dispatcher_access.hpp>
#include <wharf/wharf.hpp>

#include "allocation_count.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::live_bytes;
using test::scaled;
using test::test_dispatcher;

using kilobyte = std::array<char, 1024>;
using response = port_set<kilobyte, std::exception_ptr>;

// Far less than what one kilobyte a round would come to.
constexpr std::ptrdiff_t near = 64 * 1024;

struct request {
  reply<kilobyte> answer;
};

/// What a round has come to.
struct outcome {
  int answers = 0;
  int timeouts = 0;
};

// The ways to wait for an answer until a time-out.

struct with_handlers {
  static void wait(dispatcher_queue& queue, const response& from,
                   std::chrono::milliseconds limit, outcome& to) {
    activate(queue, choice(receive(from.get<kilobyte>(),
                                   [&to](const kilobyte&) { ++to.answers; }),
                           receive(from.get<std::exception_ptr>(),
                                   [](const std::exception_ptr&) {
                                     ADD_FAILURE() << "a reply was dropped";
                                   }),
                           after(limit, [&to] { ++to.timeouts; })));
  }
};

struct with_awaits {
  static task<void> step(response from, std::chrono::milliseconds limit,
                         outcome& to) {
    const auto which =
        co_await choice(receive(from.get<kilobyte>()),
                        receive(from.get<std::exception_ptr>()), after(limit));
    to.answers += which.index() == 0 ? 1 : 0;
    to.timeouts += which.index() == 2 ? 1 : 0;
  }
  static void wait(dispatcher_queue& queue, const response& from,
                   std::chrono::milliseconds limit, outcome& to) {
    spawn(queue, step(from, limit, to));
  }
};

/// Whether anybody is registered on the port: a message that is posted finds
/// him, and is no longer there afterwards.
template <class T>
bool has_receivers(const port<T>& p, T probe) {
  p.post(std::move(probe));
  return !p.try_take().has_value();
}

template <class Way>
class KeptTimeoutsTest : public ::testing::Test {
protected:
  /// Runs what is ready. The level is that of a world that has run before.
  void warm_up() {
    for (int i = 0; i < 100; ++i) {
      const response here;
      Way::wait(queue, here, 1ms, result);
      world.run_all();
      reply<kilobyte>{here}.post(kilobyte{});
      world.run_all();
    }
    result = {};
    level = live_bytes();
  }
  void expect_start_level(int round) {
    EXPECT_EQ(world.pending_timers(), 0U) << round;
    EXPECT_LE(live_bytes() - level, near) << round;
  }

  test_dispatcher world;
  dispatcher_queue queue{world};
  outcome result;
  std::ptrdiff_t level = 0;
};
using ways = ::testing::Types<with_handlers, with_awaits>;
TYPED_TEST_SUITE(KeptTimeoutsTest, ways);

// Scenario: 10^5 rounds, each choice(reply, timer 1 h) with a reply of 1 KiB.
// Right behaviour: back to the start level as soon as the choice is decided.
TYPED_TEST(KeptTimeoutsTest, AnAnswerTakesItsTimerAlong) {
  this->warm_up();
  const int rounds = scaled(100'000);
  for (int i = 1; i <= rounds && !this->HasFailure(); ++i) {
    const response here;
    TypeParam::wait(this->queue, here, 1h, this->result);
    this->world.run_all();
    EXPECT_EQ(this->world.pending_timers(), 1U);
    reply<kilobyte>{here}.post(kilobyte{});
    EXPECT_EQ(this->world.pending_timers(), 0U); // decided, not yet handled
    EXPECT_FALSE(has_receivers(here.get<std::exception_ptr>(), {}));
    this->world.run_all();
    EXPECT_EQ(this->result.answers, i);
    if (i % 1'000 == 0) {
      this->expect_start_level(i);
    }
  }
  this->expect_start_level(rounds);
  EXPECT_EQ(this->result.timeouts, 0);
}

// The same on one port for all rounds, where what is kept would add up.
TYPED_TEST(KeptTimeoutsTest, AnAnswerOnASharedPortTakesItsTimerAlong) {
  const response shared;
  this->warm_up();
  const int rounds = scaled(100'000);
  for (int i = 1; i <= rounds && !this->HasFailure(); ++i) {
    TypeParam::wait(this->queue, shared, 1h, this->result);
    this->world.run_all();
    reply<kilobyte>{shared}.post(kilobyte{});
    this->world.run_all();
    EXPECT_EQ(this->world.pending_timers(), 0U);
  }
  EXPECT_EQ(this->result.answers, rounds);
  EXPECT_FALSE(has_receivers(shared.get<kilobyte>(), kilobyte{}));
  EXPECT_FALSE(has_receivers(shared.get<std::exception_ptr>(), {}));
  this->expect_start_level(rounds);
}

// Scenario: 10^5 rounds with a timer of 1 ms and no reply, the reply coming
// later on. Right behaviour: no receiver is left; the late reply is in its
// port, triggers nothing, and is destroyed with the port.
TYPED_TEST(KeptTimeoutsTest, ATimeoutTakesItsReceiversAlong) {
  this->warm_up();
  const int rounds = scaled(100'000);
  for (int i = 1; i <= rounds && !this->HasFailure(); ++i) {
    const response here;
    reply<kilobyte> late{here};
    TypeParam::wait(this->queue, here, 1ms, this->result);
    this->world.run_all();
    this->world.advance(1ms);
    this->world.run_all();
    EXPECT_EQ(this->result.timeouts, i);
    EXPECT_EQ(this->world.pending_timers(), 0U);
    EXPECT_FALSE(has_receivers(here.get<kilobyte>(), kilobyte{}));
    EXPECT_FALSE(has_receivers(here.get<std::exception_ptr>(), {}));
    EXPECT_TRUE(late.post(kilobyte{}));
    EXPECT_EQ(this->world.run_all(), 0U);
    EXPECT_EQ(here.get<kilobyte>().size(), 1U);
    if (i % 1'000 == 0) {
      this->expect_start_level(i);
    }
  }
  this->expect_start_level(rounds);
  EXPECT_EQ(this->result.answers, 0);
}

// Shared again: late replies pile up in the port until they are cleared, and
// nothing else does.
TYPED_TEST(KeptTimeoutsTest, ATimeoutOnASharedPortLeavesNoReceiver) {
  const response shared;
  this->warm_up();
  const int rounds = scaled(100'000);
  for (int i = 1; i <= rounds && !this->HasFailure(); ++i) {
    TypeParam::wait(this->queue, shared, 1ms, this->result);
    this->world.run_all();
    this->world.advance(1ms);
    this->world.run_all();
  }
  EXPECT_EQ(this->result.timeouts, rounds);
  this->expect_start_level(rounds);
  EXPECT_FALSE(has_receivers(shared.get<kilobyte>(), kilobyte{}));
  EXPECT_FALSE(has_receivers(shared.get<std::exception_ptr>(), {}));
}

task<int> ask_often(port<request> service, int rounds,
                    std::chrono::milliseconds limit) {
  int late = 0;
  for (int i = 0; i < rounds; ++i) {
    try {
      const kilobyte answer = co_await ask<request>(service, limit);
      EXPECT_EQ(answer[0], 0);
    } catch (const timed_out&) {
      ++late;
    }
  }
  co_return late;
}

// The same by ask(), between threads and by their clock.
TEST(KeptTimeoutsAskTest, AnswersTakeTheirTimersAlong) {
  manual_clock clock;
  dispatcher pool{{.threads = 2, .clock = &clock}};
  dispatcher_queue queue{pool};
  port<request> service;
  activate(queue, receive(persist, service,
                          [](request r) { r.answer.post(kilobyte{}); }));
  EXPECT_EQ(sync_wait(queue, ask_often(service, 1'000, 1h)), 0);
  pool.drain();
  const std::ptrdiff_t level = live_bytes();
  EXPECT_EQ(sync_wait(queue, ask_often(service, scaled(20'000), 1h)), 0);
  pool.drain();
  EXPECT_EQ(detail::dispatcher_access::pending_timers(pool), 0U);
  EXPECT_LE(live_bytes() - level, near);
}

TEST(KeptTimeoutsAskTest, LateRepliesAreRefused) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<request> service;
  const int rounds = scaled(20'000);
  std::ptrdiff_t level = live_bytes();
  std::optional<int> late;
  const auto run = [](port<request> to, int n,
                      std::optional<int>& result) -> task<void> {
    result = co_await ask_often(to, n, 1ms);
  };
  spawn(queue, run, service, rounds, std::ref(late));
  world.run_all();
  for (int i = 0; i < rounds && !HasFailure(); ++i) {
    std::optional<request> r = service.try_take();
    ASSERT_TRUE(r.has_value());
    world.advance(1ms);
    world.run_all(); // the next question has been asked
    EXPECT_FALSE(r->answer.post(kilobyte{}));
    level = i == 100 ? live_bytes() : level;
  }
  EXPECT_EQ(late, rounds);
  EXPECT_EQ(world.pending_timers(), 0U);
  EXPECT_LE(live_bytes() - level, near);
}

} // namespace
} // namespace wharf

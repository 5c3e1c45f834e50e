// Storms over coroutines: cancels, ends and migrations that meet messages.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/exclusion.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::exclusion;
using test::scaled;

class CoroutineStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void TearDown() override {
    end();
    a.reset();
    b.reset();
    EXPECT_EQ(counted::live(), 0);
  }

  void end() {
    queue.reset();
    other.reset();
    pool.reset();
  }
  /// Everything anew.
  void renew() {
    end();
    pool.emplace(dispatcher_options{.threads = GetParam()});
    pool->on_failure(failures);
    queue.emplace(*pool, "queue");
    other.emplace(*pool, "other");
    a.emplace("a");
    b.emplace("b");
    running.clear();
    got = 0;
    posted = 0;
  }

  /// Takes messages until it is cancelled or its port is closed.
  task<void> take(port<counted> from) {
    try {
      for (;;) {
        co_await receive(from);
        ++got;
      }
    } catch (const port_closed&) {
    }
  }
  /// Takes one of a, or one of each, or has a pause.
  task<void> choose() {
    const port<counted> first = *a;
    const port<counted> second = *b;
    for (;;) {
      const auto outcome =
          co_await choice(receive(first), join(first, second), after(50us));
      got += outcome.index() == 2 ? 0U : outcome.index() + 1;
    }
  }
  /// Two at once, one of which is always about to be cancelled.
  task<void> compete() {
    const port<counted> first = *a;
    const port<counted> second = *b;
    for (;;) {
      co_await when_any(take_one(first), take_one(second));
    }
  }
  task<void> take_one(port<counted> from) {
    co_await receive(from);
    ++got;
  }
  /// Goes to the other queue and back.
  task<void> migrate() {
    const port<counted> from = *b;
    const auto step = [this, from]() -> task<void> { co_await take_one(from); };
    for (;;) {
      co_await run_on(*other, step);
    }
  }

  void start_all() {
    for (int i = 0; i < 2; ++i) {
      running.push_back(spawn(*queue, take(*a)));
      running.push_back(spawn(*queue, choose()));
      running.push_back(spawn(*other, compete()));
      running.push_back(spawn(*queue, migrate()));
    }
  }
  void post_all(int each) {
    for (int i = 0; i < each; ++i) {
      posted += a->post(counted{i}) ? 1 : 0;
      posted += b->post(counted{i}) ? 1 : 0;
    }
  }
  void wait_for_all() {
    for (activation& each : running) {
      each.wait();
    }
  }
  void expect_conserved() { EXPECT_EQ(got + a->size() + b->size(), posted); }

  std::optional<dispatcher> pool;
  std::optional<dispatcher_queue> queue;
  std::optional<dispatcher_queue> other;
  std::optional<port<counted>> a;
  std::optional<port<counted>> b;
  const port<std::exception_ptr> failures; // where an end is one to somebody
  std::vector<activation> running;
  std::atomic<std::size_t> got{0};
  std::atomic<std::size_t> posted{0};
  test::dice random{GetParam()};
};

// Goal: a cancelled coroutine takes no message that it does not get.
// Method: posts of two threads meet cancels of all kinds of waits; what was got
// and what is left is what was posted.
TEST_P(CoroutineStressTest, ACancelLosesNoMessage) {
  std::size_t pause = 0;
  test::race(
      3, scaled(2'000),
      [&](int) {
        renew();
        start_all();
        pause = random.roll(20'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          for (activation& each : running) {
            each.cancel();
          }
        } else {
          post_all(20);
        }
      },
      [&] {
        wait_for_all();
        expect_conserved();
      });
}

// Goal: the end of a queue, of its dispatcher, or of a port cuts every wait and
// loses nothing that was not taken.
// Method: as before, with an end in the place of the cancels.
TEST_P(CoroutineStressTest, AnEndOfAnyKindLosesNoMessage) {
  std::size_t pause = 0;
  int kind = 0;
  test::race(
      3, scaled(2'000),
      [&](int round) {
        renew();
        start_all();
        pause = random.roll(20'000);
        kind = round % 5;
      },
      [&](std::size_t racer) {
        if (racer != 0) {
          post_all(20);
          return;
        }
        test::linger(pause);
        switch (kind) {
        case 0:
          queue->close();
          break;
        case 1:
          other.reset();
          break;
        case 2:
          pool->shutdown(random.roll(2) * 1ms);
          break;
        case 3:
          a->close();
          break;
        default:
          end();
        }
      },
      [&] {
        end();
        wait_for_all();
        expect_conserved();
      });
}

// Goal: the slot of an interleave is held over awaits, and comes back however
// the handler ends.
// Method: handlers check the exclusion on both sides of an await; some throw,
// and at last the interleave is cancelled or torn down with all of them cut.
TEST_P(CoroutineStressTest, ASlotIsHeldOverAwaitsAndComesBack) {
  struct stop {};
  std::optional<exclusion> rule;
  std::optional<port<stop>> stops;
  const auto write = [&](counted m) -> task<void> {
    rule->begin_write();
    try {
      co_await sleep_for(m.value % 3 == 0 ? 1us : 0us);
    } catch (const cancelled&) {
      rule->end_write();
      throw;
    }
    ++got;
    rule->end_write();
    if (m.value % 5 == 0) {
      throw m.value;
    }
  };
  const auto read = [&](counted m) -> task<void> {
    rule->begin_read();
    try {
      co_await sleep_for(m.value % 3 == 0 ? 1us : 0us);
    } catch (const cancelled&) {
      rule->end_read();
      throw;
    }
    ++got;
    rule->end_read();
  };
  std::size_t pause = 0;
  test::race(
      3, scaled(1'000),
      [&](int round) {
        renew();
        rule.emplace();
        stops.emplace("stop");
        running.push_back(activate(
            *queue,
            interleave(
                teardown(receive(*stops, [&](stop) { rule->tear_down(); }))
                    .cancelling(),
                exclusive(receive(persist, *a, write)),
                concurrent(receive(persist, *b, read)))));
        pause = round % 3 == 0 ? 0 : random.roll(50'000);
      },
      [&](std::size_t racer) {
        if (racer != 0) {
          post_all(20);
          return;
        }
        test::linger(pause);
        if (pause % 2 == 0) {
          stops->post(stop{});
        } else {
          running.front().cancel();
        }
      },
      [&] {
        wait_for_all();
        EXPECT_EQ(rule->violations(), 0);
        EXPECT_TRUE(rule->idle());
        EXPECT_LE(got + a->size() + b->size(), posted); // some were cut
      });
}

// Goal: an answer reaches the question that it is for, or nobody.
// Method: a service answers at random moments round the deadline of those who
// ask.
TEST_P(CoroutineStressTest, ALateAnswerReachesNobody) {
  struct query {
    std::size_t number;
    reply<std::size_t> answer;
  };
  renew();
  port<query> service{"service"};
  activate(*queue, receive(persist, service, [](query q) -> task<void> {
    co_await sleep_for(q.number % 3 * 40us);
    q.answer.post(q.number);
  }));
  const std::size_t each = static_cast<std::size_t>(scaled(2'000));
  std::atomic<std::size_t> answered{0};
  std::atomic<std::size_t> late{0};
  const auto client = [&]() -> task<void> {
    for (std::size_t i = 0; i < each; ++i) {
      try {
        const std::size_t n = co_await ask<query>(service, 50us, i);
        EXPECT_EQ(n, i);
        ++answered;
      } catch (const timed_out&) {
        ++late;
      }
    }
  };
  for (int i = 0; i < 4; ++i) {
    running.push_back(spawn(*other, client));
  }
  wait_for_all();
  EXPECT_EQ(answered + late, 4 * each);
}

// Goal: when_all ends when all have, whoever throws or is cancelled.
// Method: families of tasks on two queues, cancelled at random moments; each
// member says that it is alive by a counter in its frame.
TEST_P(CoroutineStressTest, NoChildOutlivesItsParent) {
  std::atomic<int> alive{0};
  struct life {
    explicit life(std::atomic<int>& of) : of_{of} { ++of_; }
    ~life() { --of_; }
    life(const life&) = delete;
    life& operator=(const life&) = delete;
    std::atomic<int>& of_;
  };
  const auto child = [&](int n) -> task<void> {
    const life mine{alive};
    co_await sleep_for(n % 3 * 10us);
    if (n % 7 == 6) {
      throw n;
    }
    co_await take(*a);
  };
  const auto parent = [&](int n) -> task<void> {
    const life mine{alive};
    std::vector<task<void>> children;
    for (int i = 0; i < 5; ++i) {
      children.push_back(child(n + i));
    }
    try {
      co_await when_all(std::move(children));
    } catch (int) {
      // One of them threw; all are gone.
    }
    EXPECT_GE(alive, 1);
  };
  std::size_t pause = 0;
  test::race(
      2, scaled(1'000),
      [&](int round) {
        renew();
        for (int i = 0; i < 4; ++i) {
          running.push_back(
              spawn(i % 2 == 0 ? *queue : *other, parent, round + i));
        }
        pause = random.roll(100'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          for (activation& each : running) {
            each.cancel();
          }
        } else {
          post_all(10);
        }
      },
      [&] {
        wait_for_all();
        EXPECT_EQ(alive, 0);
        expect_conserved();
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, CoroutineStressTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

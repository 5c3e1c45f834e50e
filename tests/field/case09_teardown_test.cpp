// Teardown leaves nobody without an answer and nothing unaccounted for.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/gate.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;
using test::test_dispatcher;
using namespace std::chrono_literals;

struct get {
  port<int> reply;
  counted probe{};
};
struct update {
  int value = 0;
  counted probe{};
};
struct stop {};

using service_ports = port_set<get, update, stop>;

/// Get is concurrent, Update exclusive, Stop teardown.
class service {
public:
  explicit service(bool then_close) : closes_{then_close} {}

  activation start(dispatcher_queue& queue) {
    auto updating = exclusive(receive(persist, ports.get<update>(),
                                      [this](update) { run(updates); }));
    auto getting = concurrent(receive(persist, ports.get<get>(), [this](get g) {
      run(gets);
      g.reply.post(updates.load());
    }));
    auto stopping = teardown(receive(ports.get<stop>(), [this](stop) {
      EXPECT_EQ(inside, 0);
      ++stops;
    }));
    return activate(
        queue, closes_ ? interleave(std::move(stopping).then_close(),
                                    std::move(updating), std::move(getting))
                       : interleave(std::move(stopping), std::move(updating),
                                    std::move(getting)));
  }

  service_ports ports;
  std::atomic<int> gets{0};
  std::atomic<int> updates{0};
  std::atomic<int> stops{0};
  std::atomic<int> inside{0};

private:
  void run(std::atomic<int>& count) {
    EXPECT_EQ(stops, 0); // nothing runs after Stop
    ++inside;
    ++count;
    --inside;
  }

  const bool closes_;
};

// Scenario and the documented order: Stop overtakes the 100 Updates, runs once
// although it is posted twice, and every request is in its port, where the
// owner counts it and can answer with a failure.
TEST(TeardownTest, OvertakesWhatWaitsAndLeavesEveryRequestInItsPort) {
  {
    test_dispatcher world;
    dispatcher_queue queue{world};
    service s{false};
    const activation running = s.start(queue);
    for (int i = 0; i < 100; ++i) {
      s.ports.post(update{i});
    }
    s.ports.post(stop{});
    s.ports.post(stop{});
    int answered = 0;
    int failed = 0;
    int late = 0;
    for (int i = 0; i < 100; ++i) {
      const port_set<int, stop> response;
      s.ports.post(get{response.get<int>()});
      activate(queue,
               choice(receive(response.get<int>(),
                              [&](int n) { ++(n < 0 ? failed : answered); }),
                      after(1s, [&] { ++late; })));
    }
    world.run_all();
    EXPECT_FALSE(running.active());
    EXPECT_EQ(s.stops, 1);
    EXPECT_EQ(s.updates, 0);
    EXPECT_EQ(s.gets, 0);
    EXPECT_EQ(s.ports.get<update>().size(), 100U);
    EXPECT_EQ(s.ports.get<get>().size(), 100U);
    EXPECT_EQ(s.ports.get<stop>().size(), 1U);

    int expected = 0;
    for (const update& left : s.ports.get<update>().try_take_all()) {
      EXPECT_EQ(left.value, expected++); // given back in order
    }
    for (int i = 0; i < 60; ++i) {
      std::optional<get> request = s.ports.get<get>().try_take();
      ASSERT_TRUE(request);
      request->reply.post(-1);
    }
    world.run_all();
    EXPECT_EQ(failed, 60);
    // Nobody waits for ever: the others have their time-out.
    world.advance(1s);
    world.run_all();
    EXPECT_EQ(answered, 0);
    EXPECT_EQ(late, 40);
    EXPECT_EQ(world.pending_timers(), 0U);
  }
  EXPECT_EQ(counted::live(), 0);
}

// With then_close what is left is destroyed, so a caller who leaves the reply
// port to the request sees it close, and later posts are refused.
TEST(TeardownTest, ThenCloseEndsTheWaitOfEachCaller) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  service s{true};
  s.start(queue);
  std::vector<activation> callers;
  int answered = 0;
  queue.suspend();
  for (int i = 0; i < 100; ++i) {
    port<int> reply;
    callers.push_back(
        activate(queue, receive(reply, [&](int) { ++answered; })));
    s.ports.post(get{std::move(reply)});
    s.ports.post(update{i});
  }
  s.ports.post(stop{});
  queue.resume();
  world.run_all();
  EXPECT_EQ(s.stops, 1);
  EXPECT_EQ(answered, 0);
  for (const activation& caller : callers) {
    EXPECT_FALSE(caller.active());
  }
  EXPECT_EQ(counted::live(), 0);
  EXPECT_FALSE(s.ports.post(update{1}));
  EXPECT_FALSE(s.ports.post(get{port<int>{}}));
  EXPECT_FALSE(s.ports.post(stop{}));
}

// Stop waits for the handler that runs, and runs alone and last; a slow
// backlog is not chewed through first.
TEST(TeardownTest, WaitsForWhatRunsAndForNothingElse) {
  dispatcher pool{{.threads = 4}};
  dispatcher_queue queue{pool};
  service_ports ports;
  test::gate gate;
  std::atomic<int> updates{0};
  std::atomic<bool> stopped{false};
  std::latch over{1};
  const activation running =
      activate(queue, interleave(exclusive(receive(persist, ports.get<update>(),
                                                   [&](update) {
                                                     ++updates;
                                                     gate.pass();
                                                     EXPECT_FALSE(stopped);
                                                   })),
                                 teardown(receive(ports.get<stop>(), [&](stop) {
                                   stopped = true;
                                   over.count_down();
                                 }))));
  for (int i = 0; i < 100; ++i) {
    ports.post(update{i});
  }
  gate.wait_for(1);
  ports.post(stop{});
  // Decided before post returned: what had not started is back.
  EXPECT_EQ(ports.get<update>().size(), 99U);
  EXPECT_EQ(ports.get<update>().try_take()->value, 1);
  EXPECT_FALSE(stopped);
  gate.open();
  over.wait();
  running.wait();
  EXPECT_EQ(updates, 1);
}

// What is given back goes to its place by its number, also when it comes from
// somebody who had been given an older message after newer ones.
TEST(TeardownTest, WhatIsGivenBackTwiceGoesToItsPlace) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> numbers;
  activation ones = activate(queue, receive(persist, numbers, [](int) {
                                    }).when([](int n) {
                                        return n == 1;
                                      }).priority(priority::high));
  activation rest = activate(queue, receive(persist, numbers, [](int) {
                                    }).when([](int n) { return n != 0; }));
  for (int i = 0; i <= 3; ++i) {
    numbers.post(i);
  }
  EXPECT_TRUE(ones.cancel()); // its 1 goes to the other, who has 2 and 3
  EXPECT_TRUE(rest.cancel());
  EXPECT_EQ(numbers.try_take_all(), (std::vector{0, 1, 2, 3}));
}

// A one-time member that waits for its turn has its messages counted.
TEST(TeardownTest, MessagesOfAOneTimeMemberAreCountedUntilItStarts) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> a;
  port<int> b;
  activate(queue, interleave(exclusive(receive(a, [](int) {}),
                                       join(b, b, [](int, int) {}))));
  a.post(1);
  b.post(1);
  b.post(2);
  EXPECT_EQ(a.size(), 1U);
  EXPECT_EQ(b.size(), 2U);
  world.run_all();
  EXPECT_EQ(a.size() + b.size(), 0U);
}

class TeardownStormTest : public ::testing::TestWithParam<std::size_t> {};

// The Scenario against running workers, many rounds, with and without
// then_close: each request is handled, in its port, refused or destroyed.
TEST_P(TeardownStormTest, AccountsForEveryRequest) {
  for (const bool then_close : {false, true}) {
    std::optional<dispatcher> pool;
    pool.emplace(dispatcher_options{.threads = GetParam()});
    std::optional<dispatcher_queue> queue;
    std::unique_ptr<service> s;
    activation running;
    std::atomic<int> posted{0};
    std::atomic<int> refused{0};
    test::race(
        3, scaled(300),
        [&](int) {
          queue.emplace(*pool);
          s = std::make_unique<service>(then_close);
          running = s->start(*queue);
          posted = refused = 0;
        },
        [&](std::size_t racer) {
          const auto count = [&](bool accepted) {
            ++(accepted ? posted : refused);
          };
          if (racer == 0) {
            for (int i = 0; i < 50; ++i) {
              count(s->ports.post(update{i}));
            }
            s->ports.post(stop{});
            s->ports.post(stop{});
          }
          for (int i = 0; i < 50; ++i) {
            count(racer == 1 ? s->ports.post(update{i})
                             : s->ports.post(get{port<int>{}}));
          }
        },
        [&] {
          running.wait();
          EXPECT_EQ(s->stops, 1);
          const auto left = static_cast<int>(s->ports.get<get>().size() +
                                             s->ports.get<update>().size());
          const int handled = s->gets + s->updates;
          if (then_close) {
            EXPECT_EQ(left, 0);
            EXPECT_LE(handled, posted);
          } else {
            EXPECT_EQ(handled + left, posted);
            EXPECT_EQ(refused, 0);
          }
          s.reset();
          queue.reset();
          EXPECT_EQ(counted::live(), 0);
        });
  }
}

INSTANTIATE_TEST_SUITE_P(Workers, TeardownStormTest,
                         ::testing::Values(1, 4, 8, 16));

struct question {
  int number = 0;
  reply<int> answer;
};

/// How the askers came out.
struct outcomes {
  std::atomic<int> answered{0};
  std::atomic<int> refused{0};
  std::atomic<int> dropped{0};
  std::atomic<int> late{0};
};

task<void> asks(port<question> service, outcomes& all, counted) {
  try {
    co_await ask<question>(service, 1s, 7);
    ++all.answered;
  } catch (const port_closed&) {
    ++all.refused;
  } catch (const unanswered&) {
    ++all.dropped;
  } catch (const timed_out&) {
    ++all.late;
  }
}

// Callers that are coroutines: no await is without an end, whether the request
// was in the interleave, in its port, or came later; with then_close at once,
// without it at the time-out.
TEST(TeardownTest, EndsTheAwaitOfEachCaller) {
  for (const bool closes : {true, false}) {
    test_dispatcher world;
    dispatcher_queue queue{world};
    port<question> questions;
    port<stop> stops;
    port<int> go;
    const auto answers = [go](question q) -> task<void> {
      co_await receive(go);
      q.answer.post(q.number);
    };
    auto stopping = teardown(receive(stops, [](stop) {}));
    auto asking = exclusive(receive(persist, questions, answers));
    activate(queue, closes
                        ? interleave(std::move(stopping).then_close(),
                                     std::move(asking))
                        : interleave(std::move(stopping), std::move(asking)));
    outcomes all;
    for (int i = 0; i < 100; ++i) {
      spawn(queue, asks, questions, std::ref(all), counted{});
    }
    world.run_all(); // one is at work, 99 wait
    stops.post(stop{});
    spawn(queue, asks, questions, std::ref(all), counted{});
    world.run_all();
    go.post(1); // the one at work finishes, and then Stop runs
    world.run_all();
    EXPECT_EQ(all.answered, 1);
    if (closes) {
      EXPECT_EQ(all.dropped + all.refused, 100);
      spawn(queue, asks, questions, std::ref(all), counted{});
      world.run_all();
      EXPECT_GE(all.refused, 1);
    } else {
      EXPECT_EQ(questions.size(), 100U);
      world.advance(1s);
      world.run_all();
      EXPECT_EQ(all.late, 100);
    }
    EXPECT_EQ(counted::live(), 0);
    EXPECT_EQ(world.pending_timers(), 0U);
  }
}

// A cancelling teardown ends a handler that would never end by itself; its
// caller is told too.
TEST(TeardownTest, ThatCancelsDropsTheRequestAtWork) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<question> questions;
  port<stop> stops;
  port<int> never;
  const auto answers = [never](question q) -> task<void> {
    co_await receive(never);
    q.answer.post(q.number);
  };
  int stopped = 0;
  activate(queue, interleave(teardown(receive(stops, [&](stop) { ++stopped; }))
                                 .then_close()
                                 .cancelling(),
                             exclusive(receive(persist, questions, answers))));
  outcomes all;
  for (int i = 0; i < 3; ++i) {
    spawn(queue, asks, questions, std::ref(all), counted{});
  }
  world.run_all();
  stops.post(stop{});
  world.run_all();
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(all.dropped, 3);
  EXPECT_EQ(counted::live(), 0);
}

} // namespace
} // namespace wharf

// Handlers that post to each other for ever leave the others their turn.

#include <wharf/wharf.hpp>

#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <vector>

namespace wharf {
namespace {

using test::scaled;
using test::test_dispatcher;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr long some_hundreds = 500;

/// Two handlers that post to each other until they are told to stop. Each hop
/// is counted; `each_hop` is called in the handler.
template <class EachHop>
class tennis {
public:
  tennis(dispatcher_queue& queue, EachHop each_hop) : each_hop_{each_hop} {
    activate(queue, receive(persist, here_, [this](int n) { hop(there_, n); }));
    activate(queue, receive(persist, there_, [this](int n) { hop(here_, n); }));
  }
  void serve(int balls = 1) {
    for (int i = 0; i < balls; ++i) {
      here_.post(i);
    }
  }
  long hops() const { return hops_; }

private:
  void hop(port<int>& next, int n) {
    ++hops_;
    if (each_hop_(hops_)) {
      next.post(n);
    }
  }

  port<int> here_;
  port<int> there_;
  long hops_ = 0; // one worker
  EachHop each_hop_;
};

// Scenario, posted from within so that only hops count: a message for another
// queue and an ordinary one for this queue run within some hundreds of hops.
TEST(SelfPostingHandlerTest, OtherMessagesRunWithinSomeHundredsOfHops) {
  for (const int balls : {1, 2, 50}) {
    dispatcher pool{{.threads = 1}};
    dispatcher_queue a{pool, "a"};
    dispatcher_queue b{pool, "b"};
    port<int> to_b;
    port<int> to_a;
    long hops = 0;
    std::vector<long> waited_a;
    std::vector<long> waited_b;
    long posted_at = 0;
    int rounds = 200;
    std::latch over{1};
    tennis game{a, [&](long n) {
                  hops = n;
                  if (rounds != 0 && posted_at == 0 && n % 64 == rounds % 64) {
                    posted_at = n;
                    to_b.post(1);
                    to_a.post(1);
                  }
                  if (posted_at != 0 && waited_a.size() == waited_b.size() &&
                      !waited_a.empty() &&
                      waited_a.size() ==
                          static_cast<std::size_t>(201 - rounds)) {
                    posted_at = 0;
                    if (--rounds == 0) {
                      over.count_down();
                    }
                  }
                  return rounds != 0;
                }};
    activate(a, receive(persist, to_a,
                        [&](int) { waited_a.push_back(hops - posted_at); }));
    activate(b, receive(persist, to_b,
                        [&](int) { waited_b.push_back(hops - posted_at); }));
    game.serve(balls);
    over.wait();
    pool.drain();
    ASSERT_EQ(waited_a.size(), 200U);
    ASSERT_EQ(waited_b.size(), 200U);
    for (std::size_t i = 0; i < waited_a.size(); ++i) {
      EXPECT_LE(waited_a[i], some_hundreds + balls);
      EXPECT_LE(waited_b[i], some_hundreds + balls);
    }
  }
}

// A timer of 5 ms runs within some hundreds of hops once it is due.
TEST(SelfPostingHandlerTest, ATimerRunsWithinSomeHundredsOfHops) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue a{pool, "a"};
  clock::time_point due = clock::time_point::max();
  long hops = 0;
  long due_at = 0;
  long fired_at = 0;
  std::latch over{1};
  tennis game{a, [&](long n) {
                hops = n;
                if (n == 1'000) {
                  activate(a, after(5ms, [&] { fired_at = hops; }));
                  due = clock::now() + 5ms;
                } else if (due_at == 0 && clock::now() >= due) {
                  due_at = n;
                }
                if (fired_at != 0) {
                  over.count_down();
                }
                return fired_at == 0;
              }};
  game.serve();
  over.wait();
  pool.drain();
  // Due a little before the handler could see it.
  EXPECT_LE(fired_at - (due_at != 0 ? due_at : fired_at), some_hundreds);
  EXPECT_GT(fired_at, 1'000);
}

// The same on a clock that is set by hand.
TEST(SelfPostingHandlerTest, ATimerThatIsDueIsNextInTurn) {
  test_dispatcher world;
  dispatcher_queue a{world, "a"};
  bool fired = false;
  tennis game{a, [&](long) { return !fired; }};
  activate(a, after(5ms, [&] { fired = true; }));
  game.serve();
  for (int i = 0; i < 100; ++i) {
    world.run_one();
  }
  EXPECT_FALSE(fired);
  world.advance(5ms);
  for (int i = 0; i < 5; ++i) {
    world.run_one();
  }
  EXPECT_TRUE(fired);
  world.run_all();
}

// Two queues, both loaded: their counts are within a factor of two, also when
// one has a hundred times as much to do.
TEST(SelfPostingHandlerTest, QueuesOfOneDispatcherShareItFairly) {
  for (const int balls : {1, 100}) {
    dispatcher pool{{.threads = 1}};
    dispatcher_queue a{pool, "a"};
    dispatcher_queue b{pool, "b"};
    const long enough = 400'000; // many turns, sanitizers or not
    long hops_a = 0;
    long hops_b = 0;
    std::latch over{1};
    bool stopped = false;
    const auto until_enough = [&] {
      if (!stopped && hops_a + hops_b >= enough) {
        stopped = true;
        over.count_down();
      }
      return !stopped;
    };
    tennis many{a, [&](long n) {
                  hops_a = n;
                  return until_enough();
                }};
    tennis few{b, [&](long n) {
                 hops_b = n;
                 return until_enough();
               }};
    spawn(a, [&] {
      few.serve(100);
      many.serve(100 * balls);
    });
    over.wait();
    pool.drain();
    EXPECT_LE(hops_a, 2 * hops_b);
    EXPECT_LE(hops_b, 2 * hops_a);
  }
}

// With several workers nobody starves either.
TEST(SelfPostingHandlerTest, WithSeveralWorkersEverybodyHasATurn) {
  for (const std::size_t workers : {4U, 8U, 16U}) {
    dispatcher pool{{.threads = workers}};
    dispatcher_queue a{pool, "a"};
    dispatcher_queue b{pool, "b"};
    port<int> busy;
    port<int> other;
    std::latch served{3};
    activate(a, receive(persist, busy, [&](int n) { busy.post(n); }));
    for (std::size_t i = 0; i < 2 * workers; ++i) {
      busy.post(1);
    }
    activate(b, receive(other, [&](int) { served.count_down(); }));
    other.post(1);
    activate(a, after(5ms, [&] { served.count_down(); }));
    spawn(a, [&] { served.count_down(); });
    served.wait();
    a.close();
  }
}

/// How many hops each of those waited who came in between.
struct waited {
  long in_a = -1; // not yet
  long in_b = -1;
  long for_timer = -1;
};

/// Awaits what it has posted itself, so that it is always ready.
task<void> hops_for_ever(dispatcher_queue& a, dispatcher_queue& b,
                         waited& others, long at) {
  port<int> mine;
  long hops = 0;
  bool over = false;
  while (!over) {
    if (++hops == at) {
      spawn(a, [&others, &hops, at] { others.in_a = hops - at; });
      spawn(b, [&others, &hops, at] { others.in_b = hops - at; });
      activate(
          a, after(0s, [&others, &hops, at] { others.for_timer = hops - at; }));
    }
    mine.post(1);
    co_await receive(mine);
    over = hops > at + some_hundreds + 100;
  }
}

// A coroutine whose awaits are always ready gives way as well.
TEST(SelfPostingHandlerTest, ACoroutineThatNeverHasToWaitGivesWay) {
  for (const long at : {100L, 1'000L, 1'033L}) {
    dispatcher pool{{.threads = 1}};
    dispatcher_queue a{pool, "a"};
    dispatcher_queue b{pool, "b"};
    waited others;
    spawn(a, hops_for_ever, std::ref(a), std::ref(b), std::ref(others), at)
        .wait();
    for (const long each : {others.in_a, others.in_b, others.for_timer}) {
      EXPECT_GE(each, 0);
      EXPECT_LE(each, some_hundreds);
    }
  }
}

} // namespace
} // namespace wharf

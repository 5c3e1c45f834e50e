// Causality on every path, exactly once per fault.
//
// Each clause under one causality, first where the order is certain, then on
// 4 and 8 workers.

#include <wharf/wharf.hpp>

#include "support/failures.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::take_whats;
using whats = std::vector<std::string>;

class CausalityPathsTest : public ::testing::TestWithParam<std::size_t> {
protected:
  CausalityPathsTest() { queue.on_failure(elsewhere); }

  // Every fault was told where it should, and nowhere else.
  ~CausalityPathsTest() override {
    pool.drain();
    EXPECT_EQ(take_whats(failures), whats{});
    EXPECT_EQ(take_whats(of_another), whats{});
    EXPECT_EQ(take_whats(elsewhere), whats{});
    EXPECT_EQ(pool.unhandled_failures(), 0U);
  }

  /// What was told there, when all is quiet; in no order.
  whats told(const port<std::exception_ptr>& where) {
    pool.drain();
    whats all = take_whats(where);
    std::sort(all.begin(), all.end());
    return all;
  }
  whats told() { return told(failures); }

  template <class Step>
  auto under_request(Step step) {
    const causality_scope scope{request};
    return step();
  }

  static auto fails(const char* as) {
    return [as](auto&&...) { throw std::runtime_error{as}; };
  }

  port<std::exception_ptr> failures{"failures"};
  port<std::exception_ptr> of_another{"of another"};
  port<std::exception_ptr> elsewhere{"elsewhere"};
  port<int> a{"a"};
  port<int> b{"b"};
  const causality request{"request 42", failures};
  const causality another{"another", of_another};
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
};

INSTANTIATE_TEST_SUITE_P(Workers, CausalityPathsTest,
                         ::testing::Values(1, 4, 8));

TEST_P(CausalityPathsTest, AHandlerTwoPostsAway) {
  activate(queue, receive(persist, a, [this](int n) { b.post(n); }));
  activate(queue, receive(persist, b, fails("two posts away")));
  under_request([&] { return a.post(1); });
  EXPECT_EQ(told(), whats{"two posts away"});
}

TEST_P(CausalityPathsTest, ASpawnedTask) {
  under_request([&] { return spawn(queue, fails("a function")); });
  under_request([&] {
    return spawn(queue, [this] { spawn(queue, fails("of a function")); });
  });
  EXPECT_EQ(told(), (whats{"a function", "of a function"}));
}

TEST_P(CausalityPathsTest, AJoinOfMessagesWithTheSameAndWithDifferentOnes) {
  activate(queue, join(persist, a, b, fails("joined")));
  under_request([&] { return a.post(1) && b.post(1); });
  EXPECT_EQ(told(), whats{"joined"});
  under_request([&] { return a.post(1); });
  {
    const causality_scope scope{another};
    b.post(1);
  }
  EXPECT_EQ(told(), whats{"joined"}); // merged: each of them, once
  EXPECT_EQ(told(of_another), whats{"joined"});
}

TEST_P(CausalityPathsTest, AGather) {
  activate(queue, gather(a, 3, fails("gathered")));
  a.post(1);
  under_request([&] { return a.post(2) && a.post(3); });
  EXPECT_EQ(told(), whats{"gathered"});
}

TEST_P(CausalityPathsTest, BothBranchesOfAChoice) {
  const auto choose = [&] {
    return activate(queue, choice(receive(a, fails("the first")),
                                  receive(b, fails("the second"))));
  };
  choose();
  under_request([&] { return a.post(1); });
  EXPECT_EQ(told(), whats{"the first"});
  choose();
  under_request([&] { return b.post(1); });
  EXPECT_EQ(told(), whats{"the second"});
}

TEST_P(CausalityPathsTest, EachGroupOfAnInterleave) {
  port<int> stop;
  port<int> once;
  const activation service = activate(
      queue, interleave(exclusive(receive(persist, a, fails("exclusive")),
                                  receive(once, fails("exclusive once"))),
                        concurrent(receive(persist, b, fails("concurrent")),
                                   join(persist, b, once, fails("joined"))),
                        teardown(receive(stop, fails("teardown")))));
  under_request([&] {
    for (int i = 0; i < 2; ++i) {
      a.post(i);
      b.post(i);
    }
    return once.post(0);
  });
  EXPECT_EQ(told(), (whats{"concurrent", "concurrent", "exclusive", "exclusive",
                           "exclusive once"}));
  under_request([&] { return stop.post(0); });
  EXPECT_EQ(told(), whats{"teardown"});
  EXPECT_FALSE(service.active());
}

TEST_P(CausalityPathsTest, ACoroutineBeforeAndAfterAnAwait) {
  const auto at_once = []() -> task<void> {
    throw std::runtime_error{"before"};
    co_return;
  };
  const auto later = [this]() -> task<void> {
    co_await receive(a);
    throw std::runtime_error{"after"};
  };
  under_request([&] { return spawn(queue, at_once); });
  EXPECT_EQ(told(), whats{"before"});
  under_request([&] { return spawn(queue, later); });
  pool.drain();
  a.post(1);
  EXPECT_EQ(told(), whats{"after"});
  // As a handler, under its message's.
  activate(queue, receive(persist, b, [this](int) -> task<void> {
             co_await receive(a);
             throw std::runtime_error{"a handler"};
           }));
  under_request([&] { return b.post(1); });
  pool.drain();
  a.post(1);
  EXPECT_EQ(told(), whats{"a handler"});
}

TEST_P(CausalityPathsTest, ATimer) {
  under_request([&] {
    return activate(queue, after(1ms, fails("after")));
  }).wait();
  EXPECT_EQ(told(), whats{"after"});
  std::atomic<int> ticks{0};
  activation ticking = under_request([&] {
    return activate(queue, every(1ms, [&] {
                      ++ticks;
                      ticks.notify_all();
                      throw std::runtime_error{"tick"};
                    }));
  });
  ticks.wait(0);
  ticking.cancel();
  ticking.wait();
  EXPECT_EQ(told().size(), static_cast<std::size_t>(ticks.load()));
}

TEST_P(CausalityPathsTest, APredicate) {
  under_request([&] {
    return activate(queue, receive(persist, a, [](int) {}).when([](int) {
      throw std::runtime_error{"a predicate"};
      return true;
    }));
  });
  a.post(1);
  EXPECT_EQ(told(), whats{"a predicate"});
}

TEST_P(CausalityPathsTest, TheFailureHandlerItself) {
  std::atomic<int> handled{0};
  activate(queue, receive(persist, of_another, [&](const std::exception_ptr&) {
             ++handled;
             throw std::runtime_error{"the failure handler"};
           }));
  under_request([&] {
    const causality_scope inner{another};
    return spawn(queue, fails("a function"));
  });
  EXPECT_EQ(told(), whats{"the failure handler"});
  EXPECT_EQ(handled, 1); // no loop
  const causality_scope alone{another};
  spawn(queue, fails("a function"));
  EXPECT_EQ(told(elsewhere), whats{"the failure handler"});
  EXPECT_EQ(handled, 2);
}

TEST_P(CausalityPathsTest, AMessageToAnotherDispatcher) {
  dispatcher other_pool{{.threads = GetParam()}};
  dispatcher_queue other_queue{other_pool};
  activate(queue, receive(persist, a, [this](int n) { b.post(n); }));
  const activation abroad =
      activate(other_queue, receive(b, fails("elsewhere")));
  under_request([&] { return a.post(1); });
  abroad.wait();
  EXPECT_EQ(told(), whats{"elsewhere"});
}

TEST_P(CausalityPathsTest, NestedOnesAndTheInnerOneRemoved) {
  activate(queue, receive(persist, a, fails("nested")));
  const auto post = [&] {
    const causality_scope inner{another};
    return a.post(1);
  };
  under_request(post);
  EXPECT_EQ(told(of_another), whats{"nested"}); // innermost first
  EXPECT_EQ(told(), whats{});
  under_request([&] {
    post();
    return a.post(2); // behind the inner scope
  });
  EXPECT_EQ(told(), whats{"nested"});
  EXPECT_EQ(told(of_another), whats{"nested"});
  of_another.close();
  under_request(post);
  EXPECT_EQ(told(), whats{"nested"});
}

TEST_P(CausalityPathsTest, TheReceiverGoneTheFaultIsNotLost) {
  activate(queue, receive(persist, a, fails("closed")));
  under_request([&] { return a.post(1); });
  EXPECT_EQ(told(), whats{"closed"});
  failures.close();
  under_request([&] { return a.post(1); });
  EXPECT_EQ(told(elsewhere), whats{"closed"});
  // A port of which nothing is left but the causality.
  const causality orphan{"orphan", port<std::exception_ptr>{}};
  const causality_scope scope{orphan};
  a.post(1);
  EXPECT_EQ(told(elsewhere), whats{"closed"});
}

TEST_P(CausalityPathsTest, CodeBehindTheScopeIsNotAffected) {
  activate(queue, receive(persist, a, fails("behind")));
  under_request([&] { return a.empty(); });
  a.post(1);
  EXPECT_EQ(told(elsewhere), whats{"behind"});
  // Nor is what the same worker runs next.
  activate(queue, receive(persist, b, [](int) {}));
  for (int i = 0; i < 100; ++i) {
    under_request([&] { return b.post(i); });
    spawn(queue, fails("next"));
  }
  EXPECT_EQ(told(elsewhere), whats(100, "next"));
}

// Goal: with many requests under way each fault is told once, to its own.
// Method: each request goes by a handler, a join with its own second message,
// and a coroutine with an await in a scope; all of them fail.
TEST_P(CausalityPathsTest, ManyRequestsAtOnceAreNotMixedUp) {
  const int requests = test::scaled(500);
  port<std::pair<int, port<int>>> calls;
  activate(queue, receive(persist, calls, [](std::pair<int, port<int>> call) {
             call.second.post(call.first);
             throw std::runtime_error{std::to_string(call.first)};
           }));
  const auto client = [this, calls](causality mine, int n) -> task<void> {
    const causality_scope scope{mine};
    port<int> reply;
    calls.post(std::pair<int, port<int>>{n, reply});
    co_await receive(reply);
    activate(queue, join(reply, 2, fails("joined")));
    reply.post(1);
    co_await sleep_for(0ms);
    calls.post(std::pair<int, port<int>>{n, reply});
  };
  std::vector<port<std::exception_ptr>> ports;
  std::vector<activation> running;
  for (int i = 0; i < requests; ++i) {
    const causality mine{"mine", ports.emplace_back()};
    running.push_back(spawn(queue, client, mine, i));
  }
  for (const activation& each : running) {
    each.wait();
  }
  pool.drain();
  for (int i = 0; i < requests; ++i) {
    whats mine = take_whats(ports[static_cast<std::size_t>(i)]);
    std::sort(mine.begin(), mine.end());
    const std::string n = std::to_string(i);
    ASSERT_EQ(mine, (whats{n, n, "joined"}));
  }
}

} // namespace
} // namespace wharf

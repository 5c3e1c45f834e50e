// Causalities: what carries them, and who is told of a failure.

#include <wharf/wharf.hpp>

#include "support/chain.hpp"
#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::take_whats;
using whats = std::vector<std::string>;
using failure_messages = port<std::exception_ptr>;

// Misuse that types can see.
static_assert(!std::is_default_constructible_v<causality>);
static_assert(!std::is_constructible_v<causality, const char*>);
static_assert(!std::is_constructible_v<causality, const char*, port<int>>);
static_assert(!std::is_move_constructible_v<causality_scope>);
template <class Scope>
concept made_by_new = requires(const causality& c) { new Scope{c}; };
static_assert(!made_by_new<causality_scope>);
template <class Receive>
concept brings_causality =
    requires(Receive r) { std::move(r).with_causality(); };
static_assert(!brings_causality<decltype(receive(
                  persist, std::declval<port<int>&>(), [](int) {}))>);

// Small messages come from the caches of nodes, which go up to 96 bytes.
static_assert(sizeof(detail::message<std::array<char, 48>>) <= 96);
static_assert(sizeof(detail::message_node) == 3 * sizeof(void*));

class CausalityTest : public ::testing::Test {
protected:
  CausalityTest() { queue.on_failure(of_queue); }
  ~CausalityTest() override {
    EXPECT_EQ(take_whats(of_queue), whats{});
    EXPECT_EQ(world.pool().unhandled_failures(), 0U);
  }

  /// What a service does that fails for every message.
  activation fail_at(const port<int>& where) {
    return activate(queue, receive(persist, where, [](int n) {
                      throw std::runtime_error{std::to_string(n)};
                    }));
  }
  void post_under(const causality& which, const port<int>& to, int n) {
    const causality_scope scope{which};
    to.post(n);
  }

  test::test_dispatcher world;
  dispatcher_queue queue{world};
  failure_messages of_queue{"of the queue"};
  failure_messages of_a{"a"};
  failure_messages of_b{"b"};
  failure_messages of_c{"c"};
  const causality a{"request a", of_a};
  const causality b{"request b", of_b};
  const causality c{"request c", of_c};
  port<int> service{"service"};
  port<int> other{"other"};
};

TEST_F(CausalityTest, IsAHandleWithAName) {
  const causality same = a;
  EXPECT_EQ(same, a);
  EXPECT_NE(a, b);
  EXPECT_EQ(same.name(), "request a");
  causality assigned = b;
  assigned = a;
  EXPECT_EQ(assigned, a);
  const causality alike{"request a", of_a};
  EXPECT_NE(alike, a);
}

TEST_F(CausalityTest, IsToldOfFailuresOfWhatFollows) {
  fail_at(service);
  activate(queue, receive(persist, other, [&](int n) { service.post(n); }));
  post_under(a, other, 1);
  other.post(2); // code behind the scope is not affected
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"1"});
  EXPECT_EQ(take_whats(of_queue), whats{"2"});
}

TEST_F(CausalityTest, OfAScopeIsNotThatOfTheCodeInside) {
  activate(queue, receive(persist, service, [&](int) {
             const causality_scope scope{b};
             throw std::runtime_error{"my own"};
           }));
  post_under(a, service, 1);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"my own"});
  EXPECT_TRUE(of_b.empty());
}

TEST_F(CausalityTest, DoesNotReachHandlersThatRunInsideAScopeByChance) {
  fail_at(service);
  service.post(1);
  const causality_scope scope{a};
  world.run_all();
  EXPECT_EQ(take_whats(of_queue), whats{"1"});
  service.post(2);
  const causality_scope none{no_causality};
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"2"});
}

// Nesting.

TEST_F(CausalityTest, InnermostIsToldAndOuterOnesIfItIsClosed) {
  fail_at(service);
  const auto post = [&](int n) {
    const causality_scope outermost{a};
    const causality_scope middle{b};
    const causality_scope innermost{c};
    service.post(n);
  };
  post(1);
  world.run_all();
  EXPECT_EQ(take_whats(of_c), whats{"1"});
  post(2);
  of_c.close();
  world.run_all();
  EXPECT_EQ(take_whats(of_b), whats{"2"});
  of_b.close();
  post(3);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"3"});
  of_a.close();
  post(4);
  world.run_all();
  EXPECT_EQ(take_whats(of_queue), whats{"4"});
}

TEST_F(CausalityTest, InnerScopeGivesWayToTheOuterOne) {
  fail_at(service);
  {
    const causality_scope outer{a};
    post_under(b, service, 1);
    service.post(2);
    {
      const causality_scope none{no_causality};
      service.post(3);
    }
    service.post(4);
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_b), whats{"1"});
  EXPECT_EQ(take_whats(of_a), (whats{"2", "4"}));
  EXPECT_EQ(take_whats(of_queue), whats{"3"});
}

TEST_F(CausalityTest, ReportCarriesTheOuterOnesOnly) {
  fail_at(service);
  const auto fail_again = [](const char* as) {
    return [as](const std::exception_ptr&) { throw std::runtime_error{as}; };
  };
  activate(queue, receive(persist, of_b, fail_again("again")));
  activate(queue, receive(persist, of_a, fail_again("and again")));
  {
    const causality_scope outer{a};
    post_under(b, service, 1);
  }
  EXPECT_LE(world.run_all(), 4U); // it does not go round
  EXPECT_EQ(take_whats(of_queue), whats{"and again"});
}

TEST_F(CausalityTest, FailureDoesNotComeBackToWhoeverReadsThatPort) {
  activate(queue, receive(persist, of_a, [](const std::exception_ptr&) {
             throw std::runtime_error{"the doctor is ill"};
           }));
  {
    const causality_scope scope{a};
    of_a.post(std::make_exception_ptr(42));
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_queue), whats{"the doctor is ill"});
}

// A handler on each hop that opens its own scope must not make the line longer
// for ever.
TEST_F(CausalityTest, ScopesInTurnsDoNotAddUp) {
  std::size_t longest = 0;
  const auto hop = [&](const causality& mine, const port<int>& to) {
    return [&, mine, to](int n) {
      const causality_scope scope{mine};
      std::size_t length = 0;
      for (auto at = detail::current_context(); at;
           at = detail::context_ref{at->at(0).outer()}) {
        ++length;
      }
      longest = std::max(longest, length);
      if (n != 0) {
        to.post(n - 1);
      }
    };
  };
  activate(queue, receive(persist, service, hop(b, other)));
  activate(queue, receive(persist, other, hop(c, service)));
  post_under(a, service, 100);
  world.run_all();
  EXPECT_EQ(longest, 3U);
}

TEST_F(CausalityTest, ALongLineEndsWithoutRecursion) {
  fail_at(service);
  activate(queue, receive(persist, other, [&](int n) {
             const causality deeper{"deeper", failure_messages{}};
             const causality_scope scope{deeper};
             n == 0 ? service.post(n) : other.post(n - 1);
           }));
  post_under(a, other, 3 * test::deep);
  world.run_all();
  // Nobody reads any of the ports in between.
  EXPECT_EQ(take_whats(of_a), whats{"0"});
}

// Unions.

TEST_F(CausalityTest, JoinRunsUnderThoseOfAllItsMessages) {
  activate(queue, join(persist, service, other, [](int n, int m) {
             throw std::runtime_error{std::to_string(n + m)};
           }));
  post_under(a, service, 1);
  post_under(b, other, 1);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"2"});
  EXPECT_EQ(take_whats(of_b), whats{"2"});

  post_under(a, service, 2); // twice the same: told once
  post_under(a, other, 2);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"4"});

  service.post(3);
  post_under(a, other, 3);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"6"});
}

TEST_F(CausalityTest, OneTimeArbitersRunUnderThoseOfTheirMessages) {
  const auto fail = [](auto&&...) { throw std::runtime_error{"failed"}; };
  activate(queue, join(service, other, fail));
  post_under(a, service, 1);
  post_under(b, other, 1);
  world.run_all();
  EXPECT_EQ(take_whats(of_a).size() + take_whats(of_b).size(), 2U);

  activate(queue, join(service, 3, fail));
  post_under(a, service, 1);
  post_under(b, service, 2);
  post_under(a, service, 3);
  world.run_all();
  EXPECT_EQ(take_whats(of_a).size() + take_whats(of_b).size(), 2U);

  port_set<int, std::string> set;
  activate(queue, gather(set, 2, fail));
  post_under(c, set.get<int>(), 1);
  {
    const causality_scope scope{b};
    set.post(std::string{"text"});
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_b).size() + take_whats(of_c).size(), 2U);

  std::vector<port<int>> ports(2);
  activate(queue, choice(ports, fail));
  post_under(c, ports[1], 1);
  world.run_all();
  EXPECT_EQ(take_whats(of_c).size(), 1U);
}

TEST_F(CausalityTest, EachLineOfAUnionGoesOutwardsByItself) {
  // b within a beside c within a: b and c are told; if they are closed, a is,
  // once; if only b is, then a for it, and c.
  activate(queue, join(persist, service, other,
                       [](int, int) { throw std::runtime_error{"failed"}; }));
  const auto both = [&] {
    const causality_scope outer{a};
    post_under(b, service, 1);
    post_under(c, other, 1);
  };
  both();
  world.run_all();
  EXPECT_EQ(take_whats(of_b).size() + take_whats(of_c).size(), 2U);
  EXPECT_TRUE(of_a.empty());
  of_b.close();
  both();
  world.run_all();
  EXPECT_EQ(take_whats(of_a).size() + take_whats(of_c).size(), 2U);
  of_c.close();
  both();
  world.run_all();
  EXPECT_EQ(take_whats(of_a).size(), 1U);
  of_a.close();
  both();
  world.run_all();
  EXPECT_EQ(take_whats(of_queue), whats{"failed"});
}

TEST_F(CausalityTest, IsToldOnceThoughItIsOutsideOfAnotherLineToo) {
  activate(queue, join(service, other,
                       [](int, int) { throw std::runtime_error{"failed"}; }));
  of_b.close();
  {
    const causality_scope outer{a};
    service.post(1);
    post_under(b, other, 1);
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"failed"});
}

TEST_F(CausalityTest, AScopeInsideAUnionHasAllOfItOutside) {
  fail_at(service);
  port<int> third;
  activate(queue, join(persist, other, third, [&](int n, int) {
             const causality_scope scope{c};
             service.post(n);
           }));
  post_under(a, other, 1);
  post_under(b, third, 1);
  world.run_all();
  EXPECT_EQ(take_whats(of_c), whats{"1"});
  of_c.close();
  post_under(a, other, 2);
  post_under(b, third, 2);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"2"});
  EXPECT_EQ(take_whats(of_b), whats{"2"});
}

TEST_F(CausalityTest, OfSeveralLinesTheReportCarriesAllThatIsOutside) {
  // c within a, and c within b: c is told once, and whoever fails over that is
  // told about at a and at b.
  activate(queue, join(service, other,
                       [](int, int) { throw std::runtime_error{"failed"}; }));
  activate(queue, receive(of_c, [](const std::exception_ptr&) {
             throw std::runtime_error{"failed again"};
           }));
  {
    const causality_scope outer{a};
    post_under(c, service, 1);
  }
  {
    const causality_scope outer{b};
    post_under(c, other, 1);
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"failed again"});
  EXPECT_EQ(take_whats(of_b), whats{"failed again"});
}

// What has no messages.

TEST_F(CausalityTest, TimersAndSpawnedFunctionsRunUnderTheirActivators) {
  activation ticking;
  {
    const causality_scope scope{a};
    spawn(queue, [] { throw std::runtime_error{"spawned"}; });
    activate(queue, after(1s, [] { throw std::runtime_error{"after"}; }));
    activate(queue, choice(receive(other, [](int) {}), after(1s, [] {
                             throw std::runtime_error{"late"};
                           })));
    ticking =
        activate(queue, every(1s, [] { throw std::runtime_error{"tick"}; }));
    activate(queue, gather(other, 0, [](std::vector<int>) {
               throw std::runtime_error{"gathered nothing"};
             }));
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_a), (whats{"spawned", "gathered nothing"}));
  for (int i = 0; i < 2; ++i) {
    world.advance(1s);
    world.run_all();
  }
  EXPECT_EQ(take_whats(of_a), (whats{"after", "late", "tick", "tick"}));
  ticking.cancel();
}

TEST_F(CausalityTest, PredicatesFailUnderTheirActivators) {
  const auto fail = [](int n) -> bool {
    throw std::runtime_error{std::to_string(n)};
  };
  {
    const causality_scope scope{a};
    activate(queue, receive(persist, service, [](int) {}).when(fail));
  }
  activate(queue, receive(persist, other, [](int) {}).when(fail));
  post_under(b, service, 1);
  post_under(b, other, 2);
  EXPECT_EQ(take_whats(of_a), whats{"1"});
  EXPECT_EQ(take_whats(of_queue), whats{"2"});
  EXPECT_TRUE(of_b.empty());
  const activation in_group = [&] {
    const causality_scope scope{c};
    return activate(queue, interleave(concurrent(
                               receive(persist, service, [](int) {}).when(fail),
                               receive(service, [](int) {}).when(fail))));
  }();
  EXPECT_EQ(take_whats(of_c), (whats{"1", "1"}));
}

// Their failure must not be put before the very predicate that failed.
TEST_F(CausalityTest, APredicateThatFailsOnFailuresDoesNotLoop) {
  {
    const causality_scope scope{a};
    activate(queue, receive(persist, of_a, [](const std::exception_ptr&) {
                    }).when([](const std::exception_ptr&) -> bool {
      throw std::runtime_error{"picky"};
    }));
  }
  of_a.post(std::make_exception_ptr(42));
  EXPECT_EQ(take_whats(of_queue), whats{"picky"});
  EXPECT_EQ(of_a.size(), 1U);
}

// The port.

TEST_F(CausalityTest, APortThatNobodyReadsIsPassedOver) {
  fail_at(service);
  auto forgotten = std::make_unique<failure_messages>("forgotten");
  const causality request{"request", *forgotten};
  post_under(request, service, 1);
  world.run_all();
  EXPECT_EQ(take_whats(*forgotten), whats{"1"});
  post_under(request, service, 2);
  forgotten.reset();
  world.run_all();
  EXPECT_EQ(take_whats(of_queue), whats{"2"});
}

TEST_F(CausalityTest, AReceiverIsServedUntilAllIsDone) {
  fail_at(service);
  whats heard;
  activation listening;
  {
    const failure_messages failures;
    listening = activate(
        queue, receive(persist, failures, [&](const std::exception_ptr& error) {
          heard.push_back(test::what(error));
        }));
    post_under(causality{"request", failures}, service, 1);
  }
  EXPECT_TRUE(listening.active());
  world.run_all();
  EXPECT_EQ(heard, whats{"1"});
  EXPECT_FALSE(listening.active());
}

TEST_F(CausalityTest, ActivationsAndTakenMessagesKeepNothingAlive) {
  std::optional<failure_messages> failures{std::in_place};
  whats heard;
  const activation listening = activate(
      queue, receive(persist, *failures, [](const std::exception_ptr&) {}));
  activation spawned;
  activation waiting;
  {
    const causality_scope scope{causality{"request", *failures}};
    spawned = spawn(queue, [] {});
    waiting = activate(queue, receive(other, [](int) {}));
    service.post(1);
  }
  failures.reset();
  waiting.cancel();
  world.run_all();
  EXPECT_TRUE(listening.active());
  EXPECT_EQ(service.try_take(), 1);
  EXPECT_FALSE(listening.active());
}

// Coroutines.

TEST_F(CausalityTest, ACoroutineRunsUnderItsSpawnersForAllItsLife) {
  fail_at(other);
  const auto client = [this]() -> task<void> {
    other.post(co_await receive(service));
    co_await sleep_for(1s);
    throw std::runtime_error{"at the end"};
  };
  {
    const causality_scope scope{a};
    spawn(queue, client);
  }
  world.run_all();
  post_under(b, service, 1);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"1"});
  world.advance(1s);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"at the end"});
  EXPECT_TRUE(of_b.empty());
}

TEST_F(CausalityTest, AScopeInACoroutineIsTheCoroutinesAcrossItsAwaits) {
  fail_at(other);
  const auto client = [this](causality mine, int offset) -> task<void> {
    {
      const causality_scope scope{mine};
      other.post(offset + co_await receive(service));
      co_await sleep_for(1s);
      other.post(offset + 10);
    }
    other.post(offset + 20);
  };
  {
    const causality_scope scope{c};
    spawn(queue, client, a, 100);
    spawn(queue, client, b, 200);
  }
  world.run_all();
  service.post(1);
  service.post(2);
  world.run_all();
  fail_at(service);
  service.post(3); // nothing of a scope is left on the thread
  world.run_all();
  EXPECT_EQ(take_whats(of_queue), whats{"3"});
  world.advance(1s);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), (whats{"101", "110"}));
  EXPECT_EQ(take_whats(of_b), (whats{"202", "210"}));
  EXPECT_EQ(take_whats(of_c), (whats{"120", "220"}));
}

TEST_F(CausalityTest, AScopeSpansTheTasksThatAreAwaitedInIt) {
  fail_at(other);
  const auto inner = [this]() -> task<void> {
    co_await receive(service);
    const causality_scope scope{b};
    co_await receive(service);
    other.post(1);
  };
  const auto both = [this, &inner]() -> task<void> {
    const causality_scope scope{a};
    auto first = inner();
    co_await std::move(first);
    other.post(2);
    auto child = [this]() -> task<void> {
      other.post(3);
      co_return;
    };
    auto side_by_side = when_all(child(), child());
    co_await std::move(side_by_side);
  };
  spawn(queue, both);
  for (int i = 0; i < 2; ++i) {
    world.run_all();
    service.post(i);
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_b), whats{"1"});
  EXPECT_EQ(take_whats(of_a), (whats{"2", "3", "3"}));
}

TEST_F(CausalityTest, AHandlerThatIsACoroutineRunsUnderItsMessages) {
  activate(queue, receive(persist, service, [this](int n) -> task<void> {
             co_await receive(other);
             throw std::runtime_error{std::to_string(n)};
           }));
  post_under(a, service, 1);
  post_under(b, service, 2);
  world.run_all();
  post_under(c, other, 0);
  post_under(c, other, 0);
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"1"});
  EXPECT_EQ(take_whats(of_b), whats{"2"});
  EXPECT_TRUE(of_c.empty());
}

TEST_F(CausalityTest, AFunctionThatMakesATaskRunsUnderItsSpawners) {
  fail_at(other);
  const auto idle = []() -> task<void> { co_return; };
  {
    const causality_scope scope{a};
    spawn(queue, [&] {
      other.post(1);
      return idle();
    });
  }
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"1"});
}

TEST_F(CausalityTest, WithCausalityAddsTheMessagesToTheCoroutines) {
  fail_at(other);
  const auto client = [this]() -> task<void> {
    for (int i = 1; i <= 3; ++i) {
      co_await receive(service).with_causality();
      other.post(i);
    }
    throw std::runtime_error{"at the end"};
  };
  {
    const causality_scope scope{a};
    spawn(queue, client);
  }
  world.run_all();
  post_under(b, service, 0); // both
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"1"});
  EXPECT_EQ(take_whats(of_b), whats{"1"});
  service.post(0); // nothing more than its own
  world.run_all();
  EXPECT_EQ(take_whats(of_a), whats{"2"});
  post_under(c, service, 0); // in place of b
  world.run_all();
  EXPECT_EQ(take_whats(of_a), (whats{"at the end", "3"}));
  EXPECT_EQ(take_whats(of_c), (whats{"at the end", "3"}));
  EXPECT_TRUE(of_b.empty());
}

TEST_F(CausalityTest, WithCausalityEndsWithTheScopeThatItIsIn) {
  fail_at(other);
  const auto client = [this]() -> task<void> {
    for (int i = 0; i < 30; i += 10) {
      {
        const causality_scope scope{a};
        auto either =
            co_await choice(receive(service).with_causality(), after(1s));
        other.post(i + std::get<0>(either));
      }
      other.post(i);
      co_await receive(service)
          .when([](int n) { return n == 9; })
          .with_causality();
      other.post(i + 9);
    }
  };
  spawn(queue, client);
  world.run_all();
  for (int i = 1; i <= 3; ++i) {
    post_under(b, service, i);
    world.run_all();
    post_under(c, service, 9);
    world.run_all();
  }
  EXPECT_EQ(take_whats(of_a), (whats{"1", "12", "23"}));
  EXPECT_EQ(take_whats(of_b), (whats{"1", "12", "23"}));
  EXPECT_EQ(take_whats(of_c), (whats{"9", "10", "19", "20", "29"}));
  EXPECT_EQ(take_whats(of_queue), whats{"0"});
}

// Misuse.

TEST_F(CausalityTest, AScopeInAPredicateIsRefused) {
  activate(queue, receive(persist, service, [](int) {}).when([&](int) {
    const causality_scope scope{a};
    return true;
  }));
  service.post(1);
  EXPECT_EQ(take_whats(of_queue).size(), 1U);
}

using CausalityDeathTest = CausalityTest;

TEST_F(CausalityDeathTest, AScopeThatEndsOutOfTurnIsNamed) {
  const auto disorder = [this] {
    std::optional<causality_scope> first{std::in_place, a};
    std::optional<causality_scope> second{std::in_place, b};
    first.reset();
  };
  EXPECT_DEATH(disorder(), "a causality_scope ends out of turn");
}

} // namespace
} // namespace wharf

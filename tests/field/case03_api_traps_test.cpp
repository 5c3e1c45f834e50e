// Arbiters that are never activated, waits that only peek, and receivers that
// are taken for queues worked off in turn.

#include <wharf/wharf.hpp>

#include "support/gate.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace wharf {
namespace {

using test::test_dispatcher;

/// What the compiler says to a program that turns warnings into errors.
std::string compiler_says(const std::string& program) {
  const std::string root = std::filesystem::path{__FILE__}
                               .parent_path()
                               .parent_path()
                               .parent_path()
                               .string();
  const std::string command = "printf '" + program +
                              "' | c++ -std=c++20 -fsyntax-only -Wall -Werror "
                              "-I'" +
                              root + "/runtime/include' -I'" + root +
                              "/arbiters/include' -x c++ - 2>&1";
  std::string said;
  if (std::FILE* pipe = ::popen(command.c_str(), "r")) {
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
      said.push_back(static_cast<char>(c));
    }
    ::pclose(pipe);
  }
  return said;
}

// (a) A receiver that is built and dropped is a warning; one that is activated
// is none.
TEST(ApiTrapsTest, AnArbiterThatIsBuiltAndDroppedIsACompilerWarning) {
  const std::string said = compiler_says(
      "#include <wharf/receive.hpp>\\n"
      "void f(wharf::dispatcher_queue& q, wharf::port<int>& p) {\\n"
      "  activate(q, receive(p, [](int) {}));\\n"
      "  receive(p, [](int) {});\\n"
      "}\\n");
  EXPECT_NE(said.find("<stdin>:4:"), std::string::npos) << said;
  EXPECT_NE(said.find("until it is activated"), std::string::npos) << said;
  EXPECT_EQ(said.find("<stdin>:3:"), std::string::npos) << said;
}

// (a) And at run time nothing is consumed.
TEST(ApiTrapsTest, AnArbiterThatIsNotActivatedConsumesNothing) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> numbers;
  numbers.post(1);
  {
    const auto unused = receive(numbers, [](int) { FAIL(); });
    const auto unused_too =
        receive(persist, numbers, [](int) { FAIL(); }).one_at_a_time();
    const auto unused_join = join(numbers, 1, [](std::vector<int>) { FAIL(); });
    static_cast<void>(unused);
    static_cast<void>(unused_too);
    static_cast<void>(unused_join);
    numbers.post(2);
    EXPECT_EQ(world.run_all(), 0U);
  }
  EXPECT_EQ(numbers.size(), 2U);
}

// (b) Receiving consumes: of two waits on a port one message serves one.
TEST(ApiTrapsTest, OneMessageServesOneOfTwoWaits) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> numbers;
  int first = 0;
  int second = 0;
  activate(queue, receive(numbers, [&](int n) { first = n; }));
  const activation waiting =
      activate(queue, receive(numbers, [&](int n) { second = n; }));
  numbers.post(1);
  world.run_all();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
  EXPECT_TRUE(waiting.active());
  EXPECT_TRUE(numbers.empty());
}

/// The greatest number of handlers that were inside at once.
class overlap {
public:
  void enter() {
    const int now = ++inside_;
    int most = most_.load();
    while (most < now && !most_.compare_exchange_weak(most, now)) {
    }
  }
  void leave() { --inside_; }
  int most() const { return most_; }

private:
  std::atomic<int> inside_{0};
  std::atomic<int> most_{0};
};

class ApiTrapsOverlapTest : public ::testing::TestWithParam<std::size_t> {};

// (c) Handlers of a plain persistent receiver overlap: these two wait for each
// other.
TEST_P(ApiTrapsOverlapTest, HandlersOfAPersistentReceiverRunSideBySide) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  overlap seen;
  std::barrier meeting{2};
  activate(queue, receive(persist, numbers, [&](int) {
             seen.enter();
             meeting.arrive_and_wait();
             seen.leave();
           }));
  for (int i = 0; i < 25; ++i) { // a third handler would break the barrier
    numbers.post(i);
    numbers.post(i);
    pool.drain();
  }
  EXPECT_GE(seen.most(), 2);
  EXPECT_TRUE(numbers.empty());
}

// (c) In an exclusive group there is never more than one inside.
TEST_P(ApiTrapsOverlapTest, HandlersOfAnExclusiveGroupDoNot) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  port<int> others;
  overlap seen;
  std::atomic<int> calls{0};
  const auto handler = [&](int) {
    seen.enter();
    ++calls;
    seen.leave();
  };
  activate(queue, interleave(exclusive(receive(persist, numbers, handler),
                                       receive(persist, others, handler))));
  for (int i = 0; i < 50; ++i) {
    numbers.post(i);
    others.post(i);
  }
  pool.drain();
  EXPECT_EQ(calls, 100);
  EXPECT_EQ(seen.most(), 1);
}

// What people meant: one after the other, in order.
TEST_P(ApiTrapsOverlapTest, HandlersOfAReceiverThatIsOneAtATimeRunInTurn) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  port<int> numbers;
  overlap seen;
  std::vector<int> order;
  test::gate gate;
  activate(queue, receive(persist, numbers, [&](int n) {
                    seen.enter();
                    if (n == 0) {
                      gate.pass();
                    }
                    order.push_back(n);
                    seen.leave();
                  }).one_at_a_time());
  numbers.post(0);
  gate.wait_for(1);
  std::vector<int> expected{0};
  for (int i = 1; i < 50; ++i) {
    numbers.post(i);
    expected.push_back(i);
  }
  EXPECT_EQ(numbers.size(), 49U);
  gate.open();
  pool.drain();
  EXPECT_EQ(seen.most(), 1);
  EXPECT_EQ(order, expected);
}

INSTANTIATE_TEST_SUITE_P(Workers, ApiTrapsOverlapTest,
                         ::testing::Values(4, 8, 16));

task<void> awaits_twice(port<int> numbers, std::vector<int>& got) {
  got.push_back(co_await receive(numbers));
  got.push_back(co_await receive(numbers));
}

// (b) The same in one coroutine: the second await keeps waiting.
TEST(ApiTrapsTest, OneMessageServesOneOfTwoAwaits) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> numbers;
  std::vector<int> got;
  const activation waiting = spawn(queue, awaits_twice, numbers, std::ref(got));
  numbers.post(1);
  world.run_all();
  EXPECT_EQ(got, (std::vector{1}));
  EXPECT_TRUE(waiting.active());
  EXPECT_TRUE(numbers.empty());
  numbers.post(2);
  world.run_all();
  EXPECT_EQ(got, (std::vector{1, 2}));
  EXPECT_FALSE(waiting.active());
}

// (c) for handlers that are coroutines, where one worker is enough to overlap.
TEST_P(ApiTrapsOverlapTest, CoroutinesOverlapUnlessTheyAreExclusive) {
  manual_clock clock;
  dispatcher pool{{.threads = GetParam(), .clock = &clock}};
  dispatcher_queue queue{pool};
  port<int> plain;
  port<int> grouped;
  port<int> in_turn;
  const auto handler = [](overlap& seen) {
    return [&seen](int) -> task<void> {
      seen.enter();
      co_await sleep_for(std::chrono::milliseconds{1});
      seen.leave();
    };
  };
  overlap side_by_side;
  overlap in_group;
  overlap one_by_one;
  activate(queue, receive(persist, plain, handler(side_by_side)));
  activate(queue,
           interleave(exclusive(receive(persist, grouped, handler(in_group)))));
  activate(queue,
           receive(persist, in_turn, handler(one_by_one)).one_at_a_time());
  for (int i = 0; i < 50; ++i) {
    plain.post(i);
    grouped.post(i);
    in_turn.post(i);
  }
  for (int i = 0; i < 50; ++i) {
    pool.drain();
    clock.advance(std::chrono::milliseconds{1});
  }
  pool.drain();
  EXPECT_EQ(side_by_side.most(), 50);
  EXPECT_EQ(in_group.most(), 1);
  EXPECT_EQ(one_by_one.most(), 1);
  EXPECT_EQ(grouped.size() + in_turn.size(), 0U);
}

} // namespace
} // namespace wharf

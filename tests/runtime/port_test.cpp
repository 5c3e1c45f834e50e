#include <wharf/port.hpp>

#include "support/chain.hpp"
#include "support/no_relinks.hpp"
#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <any>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::fragile;
using test::no_relinks;
using test::tally;
using test::test_dispatcher;
using test::tracked;

template <class T>
concept takes_copies = requires(port<T> p, const T& value) { p.post(value); };

static_assert(takes_copies<int>);
static_assert(!takes_copies<std::unique_ptr<int>>);
static_assert(std::is_nothrow_copy_constructible_v<port<int>>);
static_assert(std::equality_comparable<port<int>>);

TEST(PortTest, MessagesLeaveInTheOrderOfTheirPosts) {
  port<int> numbers;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(numbers.post(i));
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(numbers.try_take(), i);
  }
}

TEST(PortTest, TryTakeOfAnEmptyPortGivesNothing) {
  port<int> numbers;
  EXPECT_EQ(numbers.try_take(), std::nullopt);
  EXPECT_TRUE(numbers.try_take_all().empty());
}

TEST(PortTest, TryTakeAllGivesTheRestOldestFirst) {
  port<int> numbers;
  for (int i = 0; i < 4; ++i) {
    numbers.post(i);
  }
  numbers.try_take();
  EXPECT_EQ(numbers.try_take_all(), (std::vector{1, 2, 3}));
  EXPECT_TRUE(numbers.empty());
}

TEST(PortTest, ClearDestroysWhatLiesThereAndSaysHowMany) {
  tally counts;
  port<tracked> things;
  things.post(tracked{counts});
  things.post(tracked{counts});
  EXPECT_EQ(counts.alive, 2);
  EXPECT_EQ(things.clear(), 2U);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(things.size(), 0U);
  EXPECT_EQ(things.clear(), 0U);
}

TEST(PortTest, SizeCountsMessages) {
  port<int> numbers;
  EXPECT_TRUE(numbers.empty());
  numbers.post(1);
  numbers.post(2);
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_FALSE(numbers.empty());
}

TEST(PortTest, CopiesReferToTheSamePort) {
  port<int> numbers;
  port<int> copy = numbers;
  const port<int> other;
  EXPECT_EQ(copy, numbers);
  EXPECT_NE(copy, other);
  copy.post(7);
  EXPECT_EQ(numbers.try_take(), 7);
}

TEST(PortTest, AssignmentLetsGoOfThePortThatWasThere) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  const port<int> other;
  const activation waiting = activate(queue, receive(numbers, [](int) {}));
  const port<int>& same = numbers;
  numbers = same; // the handle must survive it
  EXPECT_TRUE(waiting.active());
  numbers = other;
  EXPECT_FALSE(waiting.active());
  EXPECT_FALSE(other.closed());
}

TEST(PortTest, APostRunsNoHandler) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int ran = 0;
  activate(queue, receive(numbers, [&](int) { ++ran; }));
  numbers.post(1);
  EXPECT_EQ(ran, 0);
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(PortTest, APostToAClosedPortIsRefused) {
  port<int> numbers;
  numbers.close();
  const int copied = 2;
  EXPECT_TRUE(numbers.closed());
  EXPECT_FALSE(numbers.post(1));
  EXPECT_FALSE(numbers.post(copied));
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(PortTest, ARefusedRvalueKeepsItsValue) {
  port<std::unique_ptr<int>> boxes;
  boxes.close();
  auto box = std::make_unique<int>(42);
  EXPECT_FALSE(boxes.post(std::move(box)));
  ASSERT_NE(box, nullptr); // NOLINT: refused, so it is still there
  EXPECT_EQ(*box, 42);
}

// The port closes between the first look and the decision: the message is in
// its node already.
TEST(PortTest, AnRvalueThatIsRefusedAtTheLastMomentHasItsValueBack) {
  struct closer {
    port<closer>* target = nullptr;
    int value = 0;
    closer(port<closer>* p, int v) : target{p}, value{v} {}
    closer(closer&& other) noexcept
        : target{std::exchange(other.target, nullptr)},
          value{std::exchange(other.value, 0)} {
      if (target != nullptr) {
        target->close();
      }
    }
  };
  port<closer> things;
  closer thing{&things, 42};
  EXPECT_FALSE(things.post(std::move(thing)));
  EXPECT_EQ(thing.value, 42); // NOLINT: refused, so it is still there
  EXPECT_EQ(things.size(), 0U);
}

TEST(PortTest, WhatLiesInAClosedPortStaysTakeable) {
  port<int> numbers;
  numbers.post(1);
  numbers.post(2);
  numbers.close();
  EXPECT_EQ(numbers.size(), 2U);
  EXPECT_EQ(numbers.try_take(), 1);
  EXPECT_EQ(numbers.try_take_all(), std::vector{2});
}

TEST(PortTest, ClosingTwiceIsClosingOnce) {
  port<int> numbers;
  numbers.post(1);
  numbers.close();
  numbers.close();
  EXPECT_TRUE(numbers.closed());
  EXPECT_EQ(numbers.size(), 1U);
}

TEST(PortTest, MoveOnlyMessagesAreWelcome) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<std::unique_ptr<int>> boxes;
  int got = 0;
  activate(queue, receive(boxes, [&](std::unique_ptr<int> b) { got = *b; }));
  boxes.post(std::make_unique<int>(42));
  pool.run_all();
  EXPECT_EQ(got, 42);
}

TEST(PortTest, AMessageIsNeverCopied) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  {
    port<tracked> things;
    things.post(tracked{counts, 1});
    EXPECT_EQ(things.try_take()->value, 1);
    things.post(tracked{counts, 2});
    EXPECT_EQ(things.try_take_all().front().value, 2);
    activate(queue, receive(things, [](tracked t) { EXPECT_EQ(t.value, 3); }));
    things.post(tracked{counts, 3});
    pool.run_all();
  }
  EXPECT_EQ(counts.copies, 0);
  EXPECT_EQ(counts.alive, 0);
}

TEST(PortTest, APostedLvalueIsCopiedOnce) {
  tally counts;
  port<tracked> things;
  const tracked original{counts, 5};
  things.post(original);
  EXPECT_EQ(counts.copies, 1);
  EXPECT_EQ(original.value, 5);
  EXPECT_EQ(things.try_take()->value, 5);
}

TEST(PortTest, AThrowingMoveReachesThePosterAndLeavesThePortUnchanged) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<fragile> things;
  std::vector<int> got;
  activate(queue, receive(persist, things,
                          [&](fragile f) { got.push_back(f.value); }));
  int no_moves = 0;
  EXPECT_THROW(things.post(fragile{1, &no_moves}), std::runtime_error);
  EXPECT_EQ(things.size(), 0U);
  EXPECT_TRUE(things.post(fragile{2}));
  pool.run_all();
  EXPECT_EQ(got, std::vector{2});
}

TEST(PortTest, AThrowingMoveInTryTakeSpendsThatMessageOnly) {
  port<fragile> things;
  int one_move = 1;
  things.post(fragile{1, &one_move});
  things.post(fragile{2});
  EXPECT_THROW(things.try_take(), std::runtime_error);
  EXPECT_EQ(things.size(), 1U);
  EXPECT_EQ(things.try_take()->value, 2);
}

TEST(PortTest, SizeCountsWhatBelongsToAPersistentReceiverUntilItsHandlerRuns) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<std::size_t> seen;
  activate(queue, receive(persist, numbers,
                          [&](int) { seen.push_back(numbers.size()); }));
  for (int i = 0; i < 3; ++i) {
    numbers.post(i);
  }
  EXPECT_EQ(numbers.size(), 3U);
  pool.run_one();
  EXPECT_EQ(numbers.size(), 2U);
  pool.run_all();
  EXPECT_EQ(seen, (std::vector<std::size_t>{2, 1, 0}));
}

TEST(PortTest, WhatBelongsToAPersistentReceiverIsOutOfReach) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int ran = 0;
  activate(queue, receive(persist, numbers, [&](int) { ++ran; }));
  numbers.post(1);
  numbers.post(2);
  EXPECT_EQ(numbers.try_take(), std::nullopt);
  EXPECT_TRUE(numbers.try_take_all().empty());
  EXPECT_EQ(numbers.clear(), 0U);
  pool.run_all();
  EXPECT_EQ(ran, 2);
}

TEST(PortTest, SizeOfAClosedPortCountsWhatItsReceiverHasNotStarted) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activate(queue, receive(persist, numbers, [](int) {}));
  numbers.post(1);
  numbers.post(2);
  numbers.close();
  EXPECT_EQ(numbers.size(), 2U);
  pool.run_one();
  EXPECT_EQ(numbers.size(), 1U);
  pool.run_all();
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(PortTest, SizeCountsWhatAReceiverTookFromAClosedPort) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(1);
  numbers.post(2);
  numbers.close();
  activate(queue, receive(persist, numbers, [](int) {}));
  EXPECT_EQ(numbers.size(), 2U);
  pool.run_all();
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(PortTest, AMessageForAOneTimeReceiverIsConsumedAtOnce) {
  const no_relinks nothing_put_back;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  activate(queue, receive(numbers, [](int) {}));
  numbers.post(1);
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(PortTest, TheLastHandleClosesAndDestroysWhatNobodyCanReach) {
  tally counts;
  {
    port<tracked> things;
    port<tracked> copy = things;
    things.post(tracked{counts});
    things = port<tracked>{};
    EXPECT_EQ(counts.alive, 1);
  }
  EXPECT_EQ(counts.alive, 0);
}

TEST(PortTest, AWaitingArbiterIsNoHandle) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::optional<port<int>> numbers{std::in_place};
  const activation one =
      activate(queue, receive(*numbers, [captured = tracked{counts}](int) {}));
  const activation all = activate(
      queue, receive(persist, *numbers, [captured = tracked{counts}](int) {
             }).priority(priority::low));
  numbers.reset();
  EXPECT_FALSE(one.active());
  EXPECT_FALSE(all.active());
  EXPECT_EQ(counts.alive, 0);
}

TEST(PortTest, AfterTheLastHandleItsReceiverStillGetsWhatIsItsOwn) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::optional<port<int>> numbers{std::in_place};
  std::vector<int> got;
  const activation all = activate(
      queue, receive(persist, *numbers, [&](int n) { got.push_back(n); }));
  numbers->post(1);
  numbers->post(2);
  numbers.reset();
  EXPECT_TRUE(all.active());
  pool.run_all();
  EXPECT_EQ(got, (std::vector{1, 2}));
  EXPECT_FALSE(all.active());
}

TEST(PortTest, AMessageThatHoldsItsOwnPortEndsWithCloseAndClear) {
  tally counts;
  struct cycle {
    port<std::any> self;
    tracked witness;
  };
  {
    port<std::any> p;
    p.post(std::any{std::make_shared<cycle>(cycle{p, tracked{counts}})});
    p.close();
    EXPECT_EQ(p.clear(), 1U);
  }
  EXPECT_EQ(counts.alive, 0);
}

TEST(PortTest, ADestructorOfAClearedMessageMayPostToItsPort) {
  struct poster {
    explicit poster(port<std::any> p) : back{std::move(p)} {}
    poster(const poster&) = delete;
    poster& operator=(const poster&) = delete;
    ~poster() { back.post(std::any{1}); }
    port<std::any> back;
  };
  port<std::any> p;
  p.post(std::any{std::make_shared<poster>(p)});
  EXPECT_EQ(p.clear(), 1U);
  EXPECT_EQ(p.size(), 1U);
}

TEST(PortTest, AChainOfPortsIsDestroyedWithTheLastHandleWithoutRecursion) {
  std::optional<port<std::any>> first{test::chain_of_ports(test::deep)};
  first.reset();
}

TEST(PortTest, AChainOfPortsIsClearedWithoutRecursion) {
  port<std::any> first = test::chain_of_ports(test::deep);
  EXPECT_EQ(first.clear(), 1U);
}

TEST(PortTest, AChainOfPortsIsTakenAndDroppedWithoutRecursion) {
  port<std::any> first = test::chain_of_ports(test::deep);
  first.try_take();
  first.try_take_all();
}

TEST(PortTest, AChainOfPortsThatEndsInAHandlerIsDestroyedWithoutRecursion) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<std::any> start;
  int ran = 0;
  activate(queue, receive(start, [&](std::any) { ++ran; }));
  start.post(std::any{test::chain_of_ports(test::deep)});
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

// Each receiver's handler holds the last handle of the next port.
TEST(PortTest, AChainOfHandlersEndsWithoutRecursion) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  tally counts;
  std::optional<port<int>> first{std::in_place};
  for (int i = 0; i < test::deep; ++i) {
    port<int> outer;
    activate(queue, receive(outer, [inner = *std::exchange(first, outer),
                                    witness = tracked{counts}](int) {}));
  }
  first.reset();
  EXPECT_EQ(counts.alive, 0);
}

TEST(PortTest, ANameIsAsGiven) {
  const port<int> numbers{"numbers"};
  EXPECT_EQ(numbers.name(), "numbers");
}

TEST(PortTest, WithoutANameThePortTellsItsTypeAndWhereItWasMade) {
  const port<int> numbers; // this line
  const std::uint_least32_t line = __LINE__ - 1;
  const std::string name = numbers.name();
  EXPECT_NE(name.find("int"), std::string::npos) << name;
  EXPECT_NE(name.find("port_test.cpp:" + std::to_string(line)),
            std::string::npos)
      << name;
}

TEST(PortTest, OverAlignedMessagesLieAligned) {
  struct alignas(64) wide {
    int value;
  };
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<wide> things;
  std::uintptr_t address = 1;
  activate(queue, receive(things, [&](wide&& w) {
             address = reinterpret_cast<std::uintptr_t>(&w);
           }));
  things.post(wide{1});
  pool.run_all();
  EXPECT_EQ(address % 64, 0U);
}

// Goal: posts from several threads lose nothing and keep each thread's order.
// Method: each thread numbers its messages; one receiver checks the numbers.
TEST(PortStressTest, KeepsTheOrderOfEachPostingThread) {
  constexpr int threads = 4;
  constexpr int each = 5'000;
  struct numbered {
    int thread;
    int number;
  };
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<numbered> things;
  std::vector<int> next(threads, 0);
  int wrong = 0;
  activate(queue, receive(persist, things, [&](numbered n) {
                    auto& expected = next[static_cast<std::size_t>(n.thread)];
                    wrong += n.number == expected ? 0 : 1;
                    ++expected;
                  }).one_at_a_time());
  {
    std::vector<std::jthread> posters;
    for (int t = 0; t < threads; ++t) {
      posters.emplace_back([&, t] {
        for (int i = 0; i < each; ++i) {
          things.post(numbered{t, i});
        }
      });
    }
  }
  pool.drain();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(next, std::vector<int>(threads, each));
}

} // namespace
} // namespace wharf

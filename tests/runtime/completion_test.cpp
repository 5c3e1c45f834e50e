#include <wharf/completion.hpp>

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/failures.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

/// The other side: what operations are at hand there, cranked by the test.
struct other_side {
  completion* at_hand = nullptr;
  int stops = 0;
  int value = 0;
  bool refuses = false;
  bool is_quick = false;

  /// The operation is over.
  void finish() { std::exchange(at_hand, nullptr)->complete(); }
};

class operation final : public completion {
public:
  explicit operation(other_side& side, counted buffer = counted{})
      : side_{side}, buffer_{std::move(buffer)} {}

  int result() {
    if (side_.value < 0) {
      throw std::runtime_error{"the other side failed"};
    }
    return side_.value;
  }

private:
  void start() override {
    if (side_.refuses) {
      throw std::runtime_error{"the other side refuses"};
    }
    if (side_.is_quick) {
      complete();
    } else {
      side_.at_hand = this;
    }
  }
  void stop() noexcept override { ++side_.stops; }

  other_side& side_;
  counted buffer_;
};

task<void> await_one(other_side& side, std::string& what) {
  try {
    const int n = co_await await_completion<operation>(std::ref(side));
    what = std::to_string(n);
  } catch (const cancelled&) {
    what = "cancelled";
  } catch (const std::exception& error) {
    what = error.what();
  }
}

class CompletionTest : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  other_side side;
  std::string what;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
};

TEST_F(CompletionTest, ResumesOnTheQueueAndGivesTheResult) {
  spawn(queue, await_one, std::ref(side), std::ref(what));
  EXPECT_EQ(side.at_hand, nullptr);
  pool.run_all();
  ASSERT_NE(side.at_hand, nullptr);
  side.value = 7;
  side.finish();
  EXPECT_EQ(what, "");
  pool.run_all();
  EXPECT_EQ(what, "7");
  EXPECT_EQ(side.stops, 0);
}

TEST_F(CompletionTest, MayBeOverInsideStart) {
  side.is_quick = true;
  side.value = 3;
  spawn(queue, await_one, std::ref(side), std::ref(what));
  pool.run_all();
  EXPECT_EQ(what, "3");
}

TEST_F(CompletionTest, ThrowsWhatItsResultThrows) {
  spawn(queue, await_one, std::ref(side), std::ref(what));
  pool.run_all();
  side.value = -1;
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "the other side failed");
}

TEST_F(CompletionTest, ThrowsWhatStartThrows) {
  side.refuses = true;
  spawn(queue, await_one, std::ref(side), std::ref(what));
  pool.run_all();
  EXPECT_EQ(what, "the other side refuses");
}

// The other side may write into the frame until it is over.
TEST_F(CompletionTest, ACancelStopsItAndWaitsForIt) {
  activation running = spawn(queue, await_one, std::ref(side), std::ref(what));
  pool.run_all();
  EXPECT_TRUE(running.cancel());
  EXPECT_EQ(side.stops, 1);
  EXPECT_EQ(pool.run_all(), 0U);
  EXPECT_EQ(what, "");
  EXPECT_GT(counted::live(), 0);
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "cancelled");
}

TEST_F(CompletionTest, IsNotStartedByACoroutineThatHasBeenCancelled) {
  port<int> go;
  activation running = spawn(queue, [&]() -> task<void> {
    try {
      co_await receive(go);
    } catch (const cancelled&) {
    }
    co_await await_one(side, what);
  });
  pool.run_all();
  running.cancel();
  pool.run_all();
  EXPECT_EQ(side.at_hand, nullptr);
}

TEST_F(CompletionTest, ThatIsOverBeforeTheCancelGivesItsResult) {
  activation running = spawn(queue, await_one, std::ref(side), std::ref(what));
  pool.run_all();
  side.value = 1;
  side.finish();
  running.cancel();
  pool.run_all();
  EXPECT_EQ(what, "1");
  EXPECT_EQ(side.stops, 0);
}

TEST_F(CompletionTest, IsWaitedForInEachAwaitAnew) {
  std::string first;
  activation running = spawn(queue, [&]() -> task<void> {
    co_await await_one(side, first);
    co_await await_one(side, what);
  });
  pool.run_all();
  side.value = 1;
  side.finish();
  pool.run_all();
  EXPECT_EQ(first, "1");
  running.cancel();
  EXPECT_EQ(pool.run_all(), 0U);
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "cancelled");
}

TEST_F(CompletionTest, TheEndOfTheQueueStopsItAndWaitsForIt) {
  spawn(queue, await_one, std::ref(side), std::ref(what));
  pool.run_all();
  queue.close();
  EXPECT_EQ(side.stops, 1);
  EXPECT_EQ(pool.run_all(), 0U);
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "cancelled");
}

task<void> with_time_out(other_side& side, std::string& what) {
  auto outcome =
      co_await choice(await_completion<operation>(std::ref(side)), after(1s));
  what = outcome.index() == 0 ? std::to_string(std::get<0>(outcome)) : "late";
}

TEST_F(CompletionTest, IsABranchOfAChoice) {
  spawn(queue, with_time_out, std::ref(side), std::ref(what));
  pool.run_all();
  side.value = 5;
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "5");
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST_F(CompletionTest, ThatLosesItsChoiceIsStoppedAndWaitedFor) {
  spawn(queue, with_time_out, std::ref(side), std::ref(what));
  pool.run_all();
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(side.stops, 1);
  EXPECT_EQ(what, "");
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "late");
}

TEST_F(CompletionTest, IsNotStartedIfABranchBeforeItCanGo) {
  port<int> numbers;
  numbers.post(1);
  spawn(queue, [&]() -> task<void> {
    auto outcome = co_await choice(receive(numbers),
                                   await_completion<operation>(std::ref(side)));
    what = std::to_string(outcome.index());
  });
  pool.run_all();
  EXPECT_EQ(what, "0");
  EXPECT_EQ(side.at_hand, nullptr);
  EXPECT_EQ(side.stops, 0);
}

TEST_F(CompletionTest, ThatIsStartedBeforeABranchThatCanGoIsWaitedFor) {
  port<int> numbers;
  numbers.post(1);
  spawn(queue, [&]() -> task<void> {
    auto outcome = co_await choice(await_completion<operation>(std::ref(side)),
                                   receive(numbers));
    what = std::to_string(outcome.index());
  });
  pool.run_all();
  EXPECT_EQ(side.stops, 1);
  EXPECT_EQ(what, "");
  side.finish();
  pool.run_all();
  EXPECT_EQ(what, "1");
}

/// One that wakes another branch and then cannot begin.
class failing_operation final : public completion {
public:
  failing_operation(other_side& side, port<int> wakes)
      : side_{side}, wakes_{std::move(wakes)} {}
  void result() const noexcept {}

private:
  void start() override {
    wakes_.post(1);
    throw std::runtime_error{"it is too late"};
  }
  void stop() noexcept override { ++side_.stops; }

  other_side& side_;
  const port<int> wakes_;
};

TEST_F(CompletionTest, ThatCannotStartIsNotStopped) {
  port<int> numbers;
  spawn(queue, [&]() -> task<void> {
    auto outcome = co_await choice(
        receive(numbers),
        await_completion<failing_operation>(std::ref(side), numbers));
    what = std::to_string(outcome.index());
  });
  pool.run_all();
  EXPECT_EQ(what, "0");
  EXPECT_EQ(side.stops, 0);
}

/// One whose stop() has work done elsewhere.
class held_operation final : public completion {
public:
  explicit held_operation(held_operation*& here) noexcept : here_{here} {}
  void result() const noexcept {}
  void let_go() noexcept { release(); }

private:
  void start() override { here_ = this; }
  void stop() noexcept override { hold(); }

  held_operation*& here_;
};

TEST_F(CompletionTest, StaysUntilWhatStopHeldIsReleased) {
  held_operation* here = nullptr;
  bool over = false;
  activation running = spawn(queue, [&]() -> task<void> {
    try {
      co_await await_completion<held_operation>(std::ref(here));
    } catch (const cancelled&) {
      over = true;
    }
  });
  pool.run_all();
  running.cancel();
  here->complete();
  EXPECT_EQ(pool.run_all(), 0U);
  here->let_go();
  pool.run_all();
  EXPECT_TRUE(over);
}

// Goal: whoever comes first, a cancel, a time-out or the end of the operation,
// the coroutine goes on exactly once and not before the operation is over.
// Method: the three race; a buffer in the frame is written just before the end.
TEST(CompletionStressTest, ACancelAndTheEndMeet) {
  class raced final : public completion {
  public:
    explicit raced(std::atomic<raced*>& here) noexcept : here_{here} {}
    int result() const noexcept { return written_; }
    void finish() noexcept {
      written_ = 1;
      complete();
    }

  private:
    void start() override { here_.store(this); }
    void stop() noexcept override {}
    std::atomic<raced*>& here_;
    int written_ = 0;
  };
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::atomic<raced*> here{nullptr};
  std::atomic<int> ends{0};
  activation running;
  test::dice dice{1};
  std::size_t first = 0;
  std::size_t second = 0;
  test::race(
      2, test::scaled(20'000),
      [&](int) {
        here = nullptr;
        ends = 0;
        first = dice.roll(300);
        second = dice.roll(300);
        running = spawn(queue, [&]() -> task<void> {
          try {
            auto outcome = co_await choice(
                await_completion<raced>(std::ref(here)), after(20us));
            EXPECT_TRUE(outcome.index() == 1 || std::get<0>(outcome) == 1);
          } catch (const cancelled&) {
          }
          ++ends;
        });
        while (here == nullptr) {
        }
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(first);
          running.cancel();
        } else {
          test::linger(second);
          here.load()->finish();
        }
      },
      [&] {
        running.wait();
        EXPECT_EQ(ends, 1);
      });
}

} // namespace
} // namespace wharf

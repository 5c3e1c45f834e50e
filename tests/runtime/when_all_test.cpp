#include <wharf/when_all.hpp>

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

class WhenAllTest : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  test_dispatcher pool;
  dispatcher_queue queue{pool};
};

task<int> later(int n, std::chrono::milliseconds delay) {
  co_await sleep_for(delay);
  co_return n;
}
task<void> nothing() {
  co_return;
}
task<int> fails(std::string what) {
  throw std::runtime_error{what};
  co_return 0;
}
task<int> waits(port<int> in, counted) {
  co_return co_await receive(in);
}

task<void> both(std::string& log) {
  auto [a, b, c] = co_await when_all(later(1, 2ms), nothing(), later(2, 1ms));
  log = std::to_string(a) + std::to_string(c);
  static_assert(std::is_same_v<decltype(b), std::monostate>);
}

TEST_F(WhenAllTest, RunsSideBySideAndGivesAllResults) {
  std::string log;
  spawn(queue, both, std::ref(log));
  pool.run_all();
  pool.advance(1ms);
  pool.run_all();
  EXPECT_EQ(log, "");
  pool.advance(1ms); // two milliseconds in all: they slept side by side
  pool.run_all();
  EXPECT_EQ(log, "12");
}

task<void> range(std::vector<int>& results) {
  std::vector<task<int>> tasks;
  for (int i = 0; i < 10; ++i) {
    tasks.push_back(later(i, std::chrono::milliseconds{10 - i}));
  }
  results = co_await when_all(std::move(tasks));
}

TEST_F(WhenAllTest, TakesARangeAndKeepsItsOrder) {
  std::vector<int> results;
  spawn(queue, range, std::ref(results));
  pool.run_all();
  pool.advance(10ms);
  pool.run_all();
  EXPECT_EQ(results, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

task<void> two_fail(std::string& log) {
  try {
    co_await when_all(fails("first"), later(1, 1ms), fails("second"));
  } catch (const std::runtime_error& e) {
    log = e.what();
  }
}

TEST_F(WhenAllTest, ThrowsTheFirstFailureWhenAllHaveEndedAndReportsTheRest) {
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  std::string log;
  spawn(queue, two_fail, std::ref(log));
  pool.run_all();
  EXPECT_EQ(log, "");
  pool.advance(1ms);
  pool.run_all();
  EXPECT_EQ(log, "first");
  EXPECT_EQ(failures.size(), 1U);
}

task<void> parent(port<int> in, bool& cut) {
  try {
    co_await when_all(waits(in, counted{1}), waits(in, counted{2}));
  } catch (const cancelled&) {
    cut = true;
    EXPECT_EQ(counted::live(), 0); // they have ended
  }
}

TEST_F(WhenAllTest, ACancelledAwaiterCancelsThemAndWaitsForThem) {
  port<int> in;
  bool cut = false;
  activation running = spawn(queue, parent, in, std::ref(cut));
  pool.run_all();
  EXPECT_GE(counted::live(), 2);
  EXPECT_TRUE(running.cancel());
  pool.run_all();
  EXPECT_TRUE(cut);
}

task<void> already_cancelled(port<int> in, bool& cut) {
  try {
    co_await receive(in);
  } catch (const cancelled&) {
  }
  try {
    co_await when_all(waits(in, counted{1}), waits(in, counted{2}));
  } catch (const cancelled&) {
    cut = true;
  }
}

TEST_F(WhenAllTest, AnAwaiterThatWasCancelledBeforeLeavesNoneBehind) {
  port<int> in;
  bool cut = false;
  activation running = spawn(queue, already_cancelled, in, std::ref(cut));
  pool.run_all();
  EXPECT_TRUE(running.cancel());
  pool.run_all();
  EXPECT_TRUE(cut);
}

TEST_F(WhenAllTest, TheEndOfTheQueueEndsThemAll) {
  port<int> in;
  bool cut = false;
  std::optional<dispatcher_queue> mortal{std::in_place, pool};
  spawn(*mortal, parent, in, std::ref(cut));
  pool.run_all();
  mortal.reset();
  EXPECT_TRUE(cut);
}

task<void> race(port<int> in, std::string& log) {
  auto first = co_await when_any(waits(in, counted{1}), later(7, 1ms));
  EXPECT_EQ(counted::live(), 0); // the loser has ended
  log = std::to_string(first.index()) + std::to_string(std::get<1>(first));
}

TEST_F(WhenAllTest, WhenAnyGivesTheFirstAndEndsTheOthers) {
  port<int> in;
  std::string log;
  spawn(queue, race, in, std::ref(log));
  pool.run_all();
  EXPECT_EQ(log, "");
  pool.advance(1ms);
  pool.run_all();
  EXPECT_EQ(log, "17");
  in.post(1);
  EXPECT_EQ(in.size(), 1U); // it waits no more
}

task<void> race_of_range(port<int> in, std::string& log) {
  std::vector<task<int>> tasks;
  tasks.push_back(waits(in, counted{1}));
  tasks.push_back(later(8, 1ms));
  tasks.push_back(waits(in, counted{2}));
  auto [index, value] = co_await when_any(std::move(tasks));
  log = std::to_string(index) + std::to_string(value);
  try {
    co_await when_any(std::vector<task<int>>{});
  } catch (const std::invalid_argument&) {
    log += " none";
  }
}

TEST_F(WhenAllTest, WhenAnyTakesARange) {
  port<int> in;
  std::string log;
  spawn(queue, race_of_range, in, std::ref(log));
  pool.run_all();
  pool.advance(1ms);
  pool.run_all();
  EXPECT_EQ(log, "18 none");
}

task<void> race_fails(port<int> in, std::string& log) {
  try {
    co_await when_any(waits(in, counted{1}), fails("it"));
  } catch (const std::runtime_error& e) {
    log = e.what();
  }
}

TEST_F(WhenAllTest, WhenAnyThrowsWhatTheFirstThrew) {
  port<int> in;
  std::string log;
  spawn(queue, race_fails, in, std::ref(log));
  pool.run_all();
  EXPECT_EQ(log, "it");
}

} // namespace
} // namespace wharf

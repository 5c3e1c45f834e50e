// The table "what happens when" of docs/architecture.md and docs/endings.md: a
// test for each cell. Columns are the ways to end (a parameter), rows are what
// happens meanwhile or afterwards.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

enum class way { close_queue, destroy_queue, shut_down, destroy_dispatcher };

std::string name_of(way w) {
  switch (w) {
  case way::close_queue:
    return "CloseQueue";
  case way::destroy_queue:
    return "DestroyQueue";
  case way::shut_down:
    return "ShutDown";
  case way::destroy_dispatcher:
    return "DestroyDispatcher";
  }
  return "";
}

task<void> receives(port<int> in, std::vector<std::string>& log, counted) {
  try {
    for (;;) {
      log.push_back(std::to_string(co_await receive(in)));
    }
  } catch (const cancelled&) {
    log.emplace_back("cancelled");
    throw;
  }
}

class EndsTest : public ::testing::TestWithParam<way> {
protected:
  EndsTest() { queue_->on_failure(failed); }
  ~EndsTest() override {
    queue_.reset();
    pool_.reset();
    EXPECT_EQ(counted::live(), 0);
  }

  dispatcher_queue& queue() { return *queue_; }
  void run_all() { pool_->run_all(); }

  /// Ends it, and lets what must still run do so.
  void end() {
    switch (GetParam()) {
    case way::close_queue:
      queue_->close();
      pool_->run_all();
      break;
    case way::destroy_queue:
      queue_.reset();
      break;
    case way::shut_down:
      pool_->pool().shutdown(0s);
      break;
    case way::destroy_dispatcher:
      pool_.reset();
      break;
    }
  }
  /// shutdown lets what is queued run first; the others discard it.
  bool drains() const { return GetParam() == way::shut_down; }
  bool queue_object_lives() const { return queue_.has_value(); }

  std::optional<test_dispatcher> pool_{std::in_place};
  std::optional<dispatcher_queue> queue_{std::in_place, *pool_, "mortal"};
  port<std::exception_ptr> failed;
  std::vector<std::string> log;
};

// Post.

TEST_P(EndsTest, APostToAPortOfItsReceiverStaysThereForOthers) {
  port<int> in;
  activate(queue(), receive(persist, in, [](int) { FAIL(); }));
  end();
  EXPECT_TRUE(in.post(1)); // ports belong to no dispatcher
  EXPECT_EQ(in.try_take(), 1);
}

TEST_P(EndsTest, WhatAPersistentReceiverHadNotStartedIsGivenBack) {
  port<int> in;
  int ran = 0;
  activate(queue(), receive(persist, in, [&](int) { ++ran; }));
  in.post(1);
  in.post(2);
  EXPECT_EQ(in.size(), 2U);
  end();
  EXPECT_EQ(ran, drains() ? 2 : 0);
  EXPECT_EQ(in.try_take_all().size(), drains() ? 0U : 2U);
}

TEST_P(EndsTest, WhatAOneTimeReceiverHadNotStartedIsDiscardedAndCounted) {
  port<counted> in;
  int ran = 0;
  activate(queue(), receive(in, [&](counted) { ++ran; }));
  in.post(counted{1});
  EXPECT_TRUE(in.empty()); // consumed at once
  end();
  EXPECT_EQ(ran, drains() ? 1 : 0);
  EXPECT_EQ(counted::live(), 0);
  if (queue_object_lives()) {
    EXPECT_EQ(queue().discarded(), drains() ? 0U : 1U);
  }
}

TEST_P(EndsTest, AGatherGivesBackWhatItHas) {
  port<int> in;
  activate(queue(), gather(in, 3, [](std::vector<int>) { FAIL(); }));
  in.post(1);
  in.post(2);
  end();
  EXPECT_EQ(in.try_take_all(), (std::vector<int>{1, 2}));
}

TEST_P(EndsTest, AnInterleaveGivesBackWhatWaits) {
  port<int> in;
  int ran = 0;
  activate(queue(),
           interleave(exclusive(receive(persist, in, [&](int) { ++ran; }))));
  in.post(1);
  in.post(2);
  end();
  EXPECT_EQ(ran, drains() ? 2 : 0);
  EXPECT_EQ(in.try_take_all().size(), drains() ? 0U : 2U);
}

// Activate, spawn.

TEST_P(EndsTest, ActivateAndSpawnAreRefusedAndDestroyTheirHandlers) {
  port<int> in;
  end();
  if (!queue_object_lives()) {
    return; // there is nothing to activate on
  }
  const activation a =
      activate(queue(), receive(in, [c = counted{}](int) { FAIL(); }));
  const activation s = spawn(queue(), [c = counted{}] { FAIL(); });
  const activation t = spawn(queue(), receives(in, log, counted{}));
  EXPECT_FALSE(a.active() || s.active() || t.active());
  EXPECT_EQ(counted::live(), 0);
  EXPECT_TRUE(log.empty());
  in.post(1);
  EXPECT_EQ(in.size(), 1U);
}

TEST_P(EndsTest, ANewQueueOnAnEndedDispatcherIsBornClosed) {
  end();
  if (!pool_.has_value() || GetParam() != way::shut_down) {
    return;
  }
  dispatcher_queue late{*pool_};
  EXPECT_TRUE(late.closed());
  EXPECT_FALSE(spawn(late, [] {}).active());
}

TEST_P(EndsTest, AFunctionInLineIsDiscardedUnstarted) {
  bool ran = false;
  const activation line = spawn(queue(), [&, c = counted{}] { ran = true; });
  end();
  EXPECT_EQ(ran, drains());
  EXPECT_FALSE(line.active());
  EXPECT_EQ(counted::live(), 0);
}

TEST_P(EndsTest, ACoroutineInLineIsDiscardedUnstarted) {
  port<int> in;
  const activation line = spawn(queue(), receives(in, log, counted{}));
  end();
  EXPECT_EQ(log, drains() ? std::vector<std::string>{"cancelled"}
                          : std::vector<std::string>{});
  EXPECT_FALSE(line.active());
  EXPECT_EQ(counted::live(), 0);
}

// Timers.

TEST_P(EndsTest, TimersGoWithTheirQueue) {
  activate(queue(), after(1ms, [c = counted{}] { FAIL(); }));
  activate(queue(), every(1ms, [c = counted{}] { FAIL(); }));
  end();
  EXPECT_EQ(counted::live(), 0);
  if (pool_.has_value()) {
    EXPECT_EQ(pool_->pending_timers(), 0U);
    pool_->advance(1h);
    pool_->run_all();
  }
}

TEST_P(EndsTest, NoEndWaitsForATimerThatACoroutineSleepsOn) {
  spawn(queue(), [this, c = counted{}]() -> task<void> {
    try {
      co_await sleep_for(24h);
    } catch (const cancelled&) {
      log.emplace_back("cancelled");
    }
  });
  run_all();
  end();
  EXPECT_EQ(log, std::vector<std::string>{"cancelled"});
}

// Cancel.

TEST_P(EndsTest, CancelAfterTheEndIsTooLate) {
  port<int> in;
  activation a = activate(queue(), receive(in, [](int) {}));
  activation s = spawn(queue(), receives(in, log, counted{}));
  run_all();
  end();
  EXPECT_FALSE(a.cancel());
  EXPECT_FALSE(s.cancel());
  a.wait();
  s.wait();
}

TEST_P(EndsTest, CancelBeforeTheEndLeavesItNothingToDo) {
  port<int> in;
  activation a = activate(queue(), receive(in, [](int) {}));
  EXPECT_TRUE(a.cancel());
  activation s = spawn(queue(), [] { FAIL(); });
  EXPECT_TRUE(s.cancel());
  end();
  if (queue_object_lives()) {
    EXPECT_EQ(queue().discarded(), 0U);
  }
}

// Give back and release: who waited behind what leaves goes on.

TEST_P(EndsTest, WhatIsGivenBackIsOfferedToReceiversOfOtherQueues) {
  test_dispatcher elsewhere;
  dispatcher_queue other{elsewhere};
  port<int> in;
  int got = 0;
  const auto in_order = [&](int n) { got = 10 * got + n; };
  activate(queue(), gather(in, 3, [](std::vector<int>) { FAIL(); }));
  in.post(1);
  in.post(2);
  activate(other, receive(persist, in, in_order));
  end();
  elsewhere.run_all();
  EXPECT_EQ(got, 12);
}

// Resume.

TEST_P(EndsTest, AParkedCoroutineIsResumedWithCancelled) {
  port<int> in;
  spawn(queue(), receives(in, log, counted{}));
  run_all();
  EXPECT_TRUE(log.empty());
  end();
  EXPECT_EQ(log, std::vector<std::string>{"cancelled"});
  EXPECT_TRUE(failed.empty()); // it ended as it was asked to
}

TEST_P(EndsTest, ACoroutineWhoseMessageWasDecidedHasItAndThenCancelled) {
  port<int> in;
  spawn(queue(), receives(in, log, counted{}));
  run_all();
  in.post(7);
  EXPECT_TRUE(in.empty());
  end();
  EXPECT_EQ(log, (std::vector<std::string>{"7", "cancelled"}));
}

TEST_P(EndsTest, EveryLaterAwaitThrowsAtOnce) {
  port<int> in;
  spawn(queue(), [this, in]() -> task<void> {
    for (int i = 0; i < 3; ++i) {
      try {
        co_await receive(in);
        log.emplace_back("received");
      } catch (const cancelled&) {
        log.emplace_back("cancelled");
      }
    }
  });
  run_all();
  end();
  EXPECT_EQ(log.size(), 3U);
  in.post(1);
  EXPECT_EQ(in.size(), 1U);
}

TEST_P(EndsTest, ACoroutineHandlerHoldsItsMessageToItsEnd) {
  port<counted> in;
  port<int> go;
  activate(queue(),
           receive(persist, in, [this, go](const counted& c) -> task<void> {
             try {
               co_await receive(go);
             } catch (const cancelled&) {
               log.push_back(std::to_string(c.value)); // still there
             }
           }));
  in.post(counted{1});
  in.post(counted{2});
  run_all();
  end();
  EXPECT_EQ(log, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(counted::live(), 0);
}

TEST_P(EndsTest, AnExclusiveSlotThatACoroutineHoldsComesBack) {
  port<int> in;
  port<int> go;
  activation running = activate(
      queue(),
      interleave(exclusive(receive(persist, in, [this, go](int) -> task<void> {
        try {
          co_await receive(go);
        } catch (const cancelled&) {
          log.emplace_back("cancelled");
        }
      }))));
  in.post(1);
  in.post(2);
  run_all();
  end();
  EXPECT_EQ(log, std::vector<std::string>{"cancelled"});
  EXPECT_EQ(in.try_take_all(), std::vector<int>{2});
  running.wait();
}

TEST_P(EndsTest, AShieldedAwaitIsCutAsWell) {
  port<int> in;
  spawn(queue(), [this, in]() -> task<void> {
    co_await shielded(receives(in, log, counted{}));
  });
  run_all();
  end();
  EXPECT_EQ(log, std::vector<std::string>{"cancelled"});
}

TEST_P(EndsTest, ChildrenEndBeforeTheirAwaiter) {
  port<int> in;
  spawn(queue(), [this, in]() -> task<void> {
    try {
      co_await when_all(receives(in, log, counted{}),
                        receives(in, log, counted{}));
    } catch (const cancelled&) {
      EXPECT_EQ(counted::live(), 0);
      log.emplace_back("parent");
    }
  });
  run_all();
  end();
  EXPECT_EQ(log,
            (std::vector<std::string>{"cancelled", "cancelled", "parent"}));
}

TEST_P(EndsTest, AStepOnAnotherQueueIsAwaited) {
  test_dispatcher elsewhere;
  dispatcher_queue other{elsewhere, "other"};
  spawn(queue(), [&, this]() -> task<void> {
    try {
      co_await run_on(other, [] {});
    } catch (const cancelled&) {
      log.emplace_back("cancelled");
    }
  });
  run_all();
  end(); // the step had not started, so it is dropped
  EXPECT_EQ(log, std::vector<std::string>{"cancelled"});
}

// From inside.

TEST_P(EndsTest, AHandlerMayDestroyTheQueueThatItRunsOn) {
  if (GetParam() != way::destroy_queue) {
    return;
  }
  port<int> in;
  spawn(queue(), receives(in, log, counted{}));
  run_all();
  spawn(queue(), [this, c = counted{}] {
    queue_.reset();
    log.emplace_back("goes on");
  });
  run_all();
  EXPECT_EQ(log, (std::vector<std::string>{"goes on", "cancelled"}));
}

TEST_P(EndsTest, ACoroutineMayCloseItsOwnQueue) {
  if (GetParam() != way::close_queue) {
    return;
  }
  port<int> in;
  spawn(queue(), [this, in]() -> task<void> {
    queue().close();
    log.emplace_back("goes on");
    co_await receive(in);
    log.emplace_back("never");
  });
  run_all();
  EXPECT_EQ(log, std::vector<std::string>{"goes on"});
}

// A dispatcher that dies on one of its own workers, with coroutines parked on
// it: the destructor returns at once, and all ends none the less.
TEST(EndsOnOwnWorkerTest, ADispatcherResumesItsCoroutinesAndFreesItself) {
  for (int round = 0; round < 20; ++round) {
    auto pool = std::make_unique<dispatcher>(dispatcher_options{.threads = 2});
    auto queue = std::make_unique<dispatcher_queue>(*pool);
    port<int> in;
    std::vector<std::string> log;
    const activation parked = spawn(*queue, receives(in, log, counted{}));
    pool->drain();
    const activation ender = spawn(*queue, [&] { pool.reset(); });
    ender.wait();
    parked.wait();
    EXPECT_EQ(log, std::vector<std::string>{"cancelled"});
    EXPECT_EQ(pool, nullptr);
  }
  EXPECT_EQ(counted::live(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, EndsTest,
                         ::testing::Values(way::close_queue, way::destroy_queue,
                                           way::shut_down,
                                           way::destroy_dispatcher),
                         [](const auto& each) { return name_of(each.param); });

} // namespace
} // namespace wharf

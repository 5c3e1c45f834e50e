#include <wharf/run_on.hpp>

#include <wharf/wharf.hpp>

#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace wharf {
namespace {

using test::test_dispatcher;

class RunOnTest : public ::testing::Test {
protected:
  test_dispatcher pool;
  dispatcher_queue here{pool, "here"};
  dispatcher_queue there{pool, "there"};
};

TEST_F(RunOnTest, RunsTheStepThereAndComesBackWithItsResult) {
  std::string log;
  spawn(here, [&]() -> task<void> {
    const auto step = [&](int n) {
      log += this_queue().name();
      return 2 * n;
    };
    const int result = co_await run_on(there, step, 21);
    log += std::to_string(result);
    log += this_queue().name();
  });
  pool.run_all();
  EXPECT_EQ(log, "there42here");
}

TEST_F(RunOnTest, AwaitsCoroutineFunctionsAndThrowsWhatTheyThrow) {
  port<int> in;
  std::string log;
  spawn(here, [&]() -> task<void> {
    const auto step = [&]() -> task<int> {
      const int n = co_await receive(in);
      log += this_queue().name();
      if (n == 1) {
        throw std::runtime_error{" one "};
      }
      co_return n;
    };
    try {
      co_await run_on(there, step);
    } catch (const std::runtime_error& e) {
      log += e.what();
    }
    log += this_queue().name();
  });
  pool.run_all();
  in.post(1);
  pool.run_all();
  EXPECT_EQ(log, "there one here");
}

TEST_F(RunOnTest, ACancelDropsAStepThatHasNotStarted) {
  there.suspend();
  bool ran = false;
  bool cut = false;
  activation running = spawn(here, [&]() -> task<void> {
    try {
      co_await run_on(there, [&] { ran = true; });
    } catch (const cancelled&) {
      cut = true;
    }
  });
  pool.run_all();
  EXPECT_TRUE(running.cancel());
  pool.run_all();
  EXPECT_TRUE(cut);
  there.resume();
  pool.run_all();
  EXPECT_FALSE(ran);
}

TEST_F(RunOnTest, OnAnEndedQueueThrowsCancelled) {
  there.close();
  bool cut = false;
  spawn(here, [&]() -> task<void> {
    try {
      co_await run_on(there, [] {});
    } catch (const cancelled&) {
      cut = true;
    }
  });
  pool.run_all();
  EXPECT_TRUE(cut);
}

TEST_F(RunOnTest, ThisQueueIsKnownOnlyWhereHandlersRun) {
  EXPECT_THROW(this_queue(), std::logic_error);
}

} // namespace
} // namespace wharf

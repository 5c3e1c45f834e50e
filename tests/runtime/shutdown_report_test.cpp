#include <wharf/shutdown_report.hpp>

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/gate.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

class ShutdownTest : public ::testing::Test {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }
};

task<void> takes_for_ever(port<int> in, counted) {
  for (;;) {
    co_await receive(in);
  }
}

TEST_F(ShutdownTest, LetsQueuedWorkFinishAndReportsNothingToTell) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) {
    spawn(queue, [&] { ++ran; });
  }
  const shutdown_report report = pool.shutdown(10s);
  EXPECT_EQ(ran, 100);
  EXPECT_TRUE(report.finished);
  EXPECT_TRUE(report.drained);
  EXPECT_TRUE(report.clean());
  EXPECT_TRUE(report.queues.empty());
  EXPECT_FALSE(spawn(queue, [] {}).active()); // refused from now on
}

TEST_F(ShutdownTest, NamesWhatWasCutShortAndWhatIsLeftInPorts) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool, "orders"};
  port<int> in{"in"};
  port<int> numbers{"numbers"};
  port<std::string> names{"names"};
  spawn(queue, takes_for_ever, in, counted{});
  activate(queue, join(persist, numbers, names, [](int, std::string) {}));
  numbers.post(1);
  numbers.post(2);
  const shutdown_report report = pool.shutdown(10s);
  EXPECT_TRUE(report.finished);
  EXPECT_FALSE(report.clean());
  ASSERT_EQ(report.queues.size(), 1U);
  EXPECT_EQ(report.queues[0].name, "orders");
  EXPECT_EQ(report.queues[0].running, 0U);
  EXPECT_EQ(report.queues[0].cancelled, 1U);
  EXPECT_EQ(report.queues[0].resumed, 1U);
  ASSERT_EQ(report.ports.size(), 1U);
  EXPECT_EQ(report.ports[0].name, "port \"numbers\"");
  EXPECT_EQ(report.ports[0].messages, 2U);
  EXPECT_NE(report.text().find("port \"numbers\": 2 messages left"),
            std::string::npos)
      << report.text();
  EXPECT_NE(report.text().find("queue \"orders\": 1 arbiters left, 1 "
                               "coroutines cut short"),
            std::string::npos)
      << report.text();
}

TEST_F(ShutdownTest, GivesUpAtTheDeadlineAndSaysWhatRuns) {
  test::gate gate;
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool, "slow"};
  spawn(queue, [&] { gate.pass(); });
  gate.wait_for(1);
  spawn(queue, [c = counted{}] {});
  const shutdown_report report = pool.shutdown(1ms);
  EXPECT_FALSE(report.finished);
  EXPECT_FALSE(report.drained);
  ASSERT_EQ(report.queues.size(), 1U);
  EXPECT_EQ(report.queues[0].running, 1U);
  EXPECT_EQ(report.queues[0].discarded, 1U);
  EXPECT_NE(report.text().find("gave up"), std::string::npos);
  gate.open();
} // ~dispatcher waits for the handler

TEST_F(ShutdownTest, OfAnyDurationIsSafe) {
  for (const auto deadline :
       {std::chrono::hours::max(), std::chrono::hours{0}}) {
    dispatcher pool{{.threads = 1}};
    dispatcher_queue queue{pool};
    pool.shutdown(deadline);
  }
  dispatcher pool{{.threads = 1}};
  pool.shutdown(-1s);
}

TEST_F(ShutdownTest, TwoThreadsHaveTheSameReport) {
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool, "q"};
  port<int> in{"in"};
  spawn(queue, takes_for_ever, in, counted{});
  pool.drain();
  shutdown_report other;
  std::jthread second{[&] { other = pool.shutdown(10s); }};
  const shutdown_report mine = pool.shutdown(10s);
  second.join();
  EXPECT_EQ(mine.text(), other.text());
  EXPECT_EQ(pool.shutdown(10s).text(), mine.text());
  EXPECT_EQ(mine.queues.at(0).resumed, 1U);
}

TEST_F(ShutdownTest, IsRefusedOnAWorker) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  std::atomic<bool> refused{false};
  spawn(queue, [&] {
    try {
      pool.shutdown(1s);
    } catch (const std::logic_error&) {
      refused = true;
    }
  });
  pool.drain();
  EXPECT_TRUE(refused);
}

TEST_F(ShutdownTest, CranksADispatcherThatIsCrankedByHand) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<int> in;
  bool ran = false;
  spawn(queue, [&] { ran = true; });
  spawn(queue, takes_for_ever, in, counted{});
  const shutdown_report report = world.pool().shutdown(0s);
  EXPECT_TRUE(ran);
  EXPECT_TRUE(report.finished);
  EXPECT_EQ(report.queues.at(0).resumed, 1U);
}

} // namespace
} // namespace wharf

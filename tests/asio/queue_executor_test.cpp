#include <wharf/asio/queue_executor.hpp>

#include <wharf/asio/awaited.hpp>
#include <wharf/wharf.hpp>

#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

namespace net = boost::asio;
using asio::queue_executor;
using test::test_dispatcher;

static_assert(net::execution::is_executor<queue_executor>::value);

struct QueueExecutorTest : public ::testing::Test {
  test_dispatcher pool;
  dispatcher_queue queue{pool, "net"};
  queue_executor executor{queue};
};

TEST_F(QueueExecutorTest, RunsFunctionsAsWorkItemsAndNeverInside) {
  std::vector<int> order;
  net::post(executor, [&] { order.push_back(1); });
  net::dispatch(executor, [&] {
    net::dispatch(executor, [&] { order.push_back(4); });
    order.push_back(2);
  });
  net::defer(executor, [&, owned = std::make_unique<int>(3)] {
    order.push_back(*owned);
  });
  EXPECT_TRUE(order.empty());
  pool.run_all();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4}));
}

TEST_F(QueueExecutorTest, RunsHandlersThatAreBoundToIt) {
  net::io_context context;
  net::steady_timer timer{context, std::chrono::milliseconds{0}};
  std::string where;
  timer.async_wait(
      net::bind_executor(executor, [&](auto) { where = this_queue().name(); }));
  context.run();
  EXPECT_EQ(where, "");
  pool.run_all();
  EXPECT_EQ(where, "net");
}

TEST_F(QueueExecutorTest, IsAnAnyIoExecutor) {
  const net::any_io_executor any{executor};
  bool ran = false;
  net::post(any, [&] { ran = true; });
  pool.run_all();
  EXPECT_TRUE(ran);
  EXPECT_EQ(any, net::any_io_executor{queue_executor{queue}});
  dispatcher_queue other{pool};
  EXPECT_NE(any, net::any_io_executor{queue_executor{other}});
}

TEST_F(QueueExecutorTest, ReportsWhatAFunctionThrows) {
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  net::post(executor, [] { throw std::runtime_error{"a handler"}; });
  pool.run_all();
  EXPECT_EQ(test::take_whats(failures), std::vector<std::string>{"a handler"});
}

TEST_F(QueueExecutorTest, OutlivesItsQueueAndThenDestroysWhatItIsGiven) {
  std::optional<dispatcher_queue> mortal{std::in_place, pool};
  const queue_executor late{*mortal};
  mortal.reset();
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owned;
  net::post(late, [o = std::move(owned)] { ADD_FAILURE() << *o; });
  EXPECT_TRUE(alive.expired());
}

// Goal: in a strand, functions do not overlap though the queue's may.
// Method: four workers; each function counts itself in and out.
TEST(QueueExecutorStressTest, InAStrandFunctionsDoNotOverlap) {
  constexpr int functions = 2'000;
  std::atomic<int> inside{0};
  std::atomic<int> ran{0};
  dispatcher pool{{.threads = 4}};
  dispatcher_queue queue{pool};
  const auto strand = net::make_strand(queue_executor{queue});
  for (int i = 0; i < functions; ++i) {
    net::post(strand, [&] {
      EXPECT_EQ(++inside, 1);
      --inside;
      ++ran;
    });
  }
  pool.drain();
  EXPECT_EQ(ran, functions);
}

} // namespace
} // namespace wharf

#include <wharf/asio/io_thread.hpp>

#include <wharf/asio/awaited.hpp>
#include <wharf/wharf.hpp>

#include "support/failures.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace wharf {
namespace {

namespace net = boost::asio;
using namespace std::chrono_literals;
using asio::io_thread;

/// Returns when the thread has run all that was posted to it before.
void wait_for(io_thread& io) {
  std::promise<void> ran;
  const std::future<void> done = ran.get_future();
  net::post(io.context(), [r = std::move(ran)]() mutable { r.set_value(); });
  done.wait();
}

TEST(IoThreadTest, RunsItsContextUntilItIsDestroyed) {
  io_thread io;
  wait_for(io);
  wait_for(io); // it does not end when nothing is left to do
}

TEST(IoThreadTest, DestroysHandlersThatArePending) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owned;
  {
    io_thread io;
    auto timer = std::make_unique<net::steady_timer>(io.context(), 1h);
    net::steady_timer& waits = *timer;
    waits.async_wait([o = std::move(owned), t = std::move(timer)](auto) {
      ADD_FAILURE() << *o;
    });
  }
  EXPECT_TRUE(alive.expired());
}

TEST(IoThreadTest, PostsWhatAHandlerThrowsAndGoesOn) {
  port<std::exception_ptr> failures;
  io_thread io;
  io.on_failure(failures);
  net::post(io.context(), [] { throw std::runtime_error{"a handler"}; });
  wait_for(io);
  EXPECT_EQ(test::take_whats(failures), std::vector<std::string>{"a handler"});
  EXPECT_EQ(io.unhandled_failures(), 0U);
}

TEST(IoThreadTest, LogsAndCountsFailuresThatNobodyTakes) {
  port<std::exception_ptr> failures;
  failures.close();
  io_thread io{"logs"};
  net::post(io.context(), [] { throw std::runtime_error{"to the log"}; });
  net::post(io.context(), [&] { io.on_failure(failures); });
  net::post(io.context(), [] { throw std::runtime_error{"to the log, too"}; });
  wait_for(io);
  EXPECT_EQ(io.unhandled_failures(), 2U);
}

} // namespace
} // namespace wharf

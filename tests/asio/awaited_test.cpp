#include <wharf/asio/awaited.hpp>

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"

#include "asio/connection.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

// Everything here runs on the test's thread: the queue and the io_context are
// cranked by hand, so each order of events can be had.

namespace wharf {
namespace {

namespace net = boost::asio;
using namespace std::chrono_literals;
using asio::awaited;
using boost::system::error_code;
using net::ip::tcp;
using test::counted;

class AwaitedTest : public ::testing::Test {
protected:
  /// Runs what is ready on both sides until nothing is.
  void crank() {
    do {
      pool.run_all();
      context->restart();
    } while (context->poll() != 0);
  }

  std::optional<net::io_context> context{std::in_place};
  std::optional<test::connection> ends{std::in_place, *context};
  std::string seen;
  port<std::exception_ptr> failures;
  test::test_dispatcher pool;
  dispatcher_queue queue{pool};
};

/// What a read came to, in words. The buffer is in the frame.
task<void> read_some(tcp::socket& from, std::string& seen) {
  std::array<char, 16> room;
  try {
    const std::size_t n =
        co_await from.async_read_some(net::buffer(room), awaited);
    seen.assign(room.data(), n);
  } catch (const boost::system::system_error& error) {
    seen = error.code() == net::error::eof ? "eof" : error.what();
  } catch (const cancelled&) {
    seen = "cancelled";
  }
}

TEST_F(AwaitedTest, GivesTheValueOnTheQueueOfTheCoroutine) {
  spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  crank();
  ends->far.write("hello");
  while (context->poll() == 0) {
  }
  EXPECT_EQ(seen, ""); // the context runs nothing of the coroutine
  pool.run_all();
  EXPECT_EQ(seen, "hello");
}

TEST_F(AwaitedTest, ThrowsTheErrorAtTheAwait) {
  spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  ends->far.close();
  crank();
  EXPECT_EQ(seen, "eof");
}

task<void> as_a_value(tcp::socket& from, std::string& seen) {
  std::array<char, 4> room;
  auto [error, n] =
      co_await net::async_read(from, net::buffer(room), net::as_tuple(awaited));
  seen = std::to_string(n) + (error == net::error::eof ? " eof" : " ?");
}

TEST_F(AwaitedTest, GivesTheErrorAsAValueWithAsTuple) {
  spawn(queue, as_a_value, std::ref(ends->near), std::ref(seen));
  ends->far.write("abc");
  ends->far.close();
  crank();
  EXPECT_EQ(seen, "3 eof");
}

task<void> line_by_line(tcp::socket& peer, std::string& seen) {
  std::string buffer;
  const std::size_t n = co_await net::async_read_until(
      peer, net::dynamic_buffer(buffer), '\n', awaited);
  seen = buffer.substr(0, n - 1);
  co_await net::async_write(peer, net::buffer(seen), awaited);
}

TEST_F(AwaitedTest, AwaitsComposedOperations) {
  spawn(queue, line_by_line, std::ref(ends->near), std::ref(seen));
  ends->far.write("one ");
  crank();
  ends->far.write("line\n");
  crank();
  EXPECT_EQ(seen, "one line");
  EXPECT_EQ(ends->far.read(8), "one line");
}

task<void> of_many_signatures(net::io_context& context, std::string& seen) {
  net::steady_timer timer{context, 0ms};
  const std::monostate nothing = co_await timer.async_wait(awaited);
  static_cast<void>(nothing);
  co_await net::post(context, awaited);
  tcp::acceptor acceptor{context, test::connection::loopback()};
  tcp::socket client{context};
  client.connect(acceptor.local_endpoint());
  tcp::socket peer = co_await acceptor.async_accept(awaited);
  seen = peer.is_open() ? "accepted" : "?";
}

TEST_F(AwaitedTest, GivesNothingOrWhatCanOnlyBeMoved) {
  spawn(queue, of_many_signatures, std::ref(*context), std::ref(seen));
  while (seen.empty()) {
    crank();
  }
  EXPECT_EQ(seen, "accepted");
}

// An asynchronous operation as a library would write it.
template <class Token>
auto async_answer(net::io_context& context, Token&& token) {
  return net::async_initiate<Token, void(std::exception_ptr, int, counted)>(
      [](auto handler, net::io_context& on) {
        net::post(on, [h = std::move(handler)]() mutable {
          std::move(h)(nullptr, 42, counted{7});
        });
      },
      token, std::ref(context));
}
task<void> several_values(net::io_context& context, std::string& seen) {
  auto [n, c] = co_await async_answer(context, awaited);
  seen = std::to_string(n) + ' ' + std::to_string(c.value);
}

TEST_F(AwaitedTest, GivesSeveralValuesAsATuple) {
  spawn(queue, several_values, std::ref(*context), std::ref(seen));
  crank();
  EXPECT_EQ(seen, "42 7");
  EXPECT_EQ(counted::live(), 0);
}

template <class Token>
auto async_throw(Token&& token) {
  return net::async_initiate<Token, void()>(
      [](auto) { throw std::runtime_error{"it can't begin"}; }, token);
}
task<void> that_throws(std::string& seen) {
  try {
    co_await async_throw(awaited);
  } catch (const std::runtime_error& error) {
    seen = error.what();
  }
}

TEST_F(AwaitedTest, ThrowsWhatTheInitiationThrows) {
  spawn(queue, that_throws, std::ref(seen));
  crank();
  EXPECT_EQ(seen, "it can't begin");
}

// Cancels.

TEST_F(AwaitedTest, ACancelBeforeTheAwaitDoesNotBeginIt) {
  port<int> go;
  activation running = spawn(queue, [&]() -> task<void> {
    try {
      co_await receive(go);
    } catch (const cancelled&) {
    }
    co_await read_some(ends->near, seen);
  });
  crank();
  ends->far.write("x");
  running.cancel();
  crank();
  EXPECT_EQ(seen, "");
  EXPECT_EQ(ends->near.available(), 1U);
}

TEST_F(AwaitedTest, ACancelEndsTheOperationAndWaitsForIt) {
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  crank();
  EXPECT_TRUE(running.cancel());
  EXPECT_EQ(pool.run_all(), 0U); // its buffer is still in use
  context->restart();
  context->poll_one(); // tells the operation
  EXPECT_EQ(pool.run_all(), 0U);
  EXPECT_EQ(seen, "");
  crank();
  EXPECT_EQ(seen, "cancelled");
  EXPECT_FALSE(running.active());
}

TEST_F(AwaitedTest, ACancelEndsComposedOperationsBetweenTheirSteps) {
  activation running =
      spawn(queue, line_by_line, std::ref(ends->near), std::ref(seen));
  ends->far.write("no end of line");
  crank();
  EXPECT_TRUE(running.cancel());
  crank();
  EXPECT_FALSE(running.active());
}

TEST_F(AwaitedTest, WhatIsThereBeforeTheCancelArrives) {
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  crank();
  ends->far.write("x");
  while (context->poll() == 0) {
  }
  running.cancel();
  crank();
  EXPECT_EQ(seen, "x");
}

// The operation has come back when the emission of its signal runs.
TEST_F(AwaitedTest, ACancelBesideTheEndIsHarmless) {
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  crank();
  ends->far.write("x");
  while (ends->near.available() == 0) {
  }
  net::post(*context, [&] { running.cancel(); });
  crank();
  EXPECT_TRUE(seen == "x" || seen == "cancelled") << seen;
  EXPECT_FALSE(running.active());
}

// An operation that counts the cancels that it hears of.
template <class Token>
auto async_count(net::io_context& context, int& cancels, Token&& token) {
  return net::async_initiate<Token, void()>(
      [](auto handler, net::io_context& on, int& heard) {
        auto slot = net::get_associated_cancellation_slot(handler);
        slot.assign([&heard](net::cancellation_type) { ++heard; });
        net::post(on, std::move(handler));
      },
      token, std::ref(context), std::ref(cancels));
}
task<void> counts(net::io_context& context, int& cancels) {
  co_await async_count(context, cancels, awaited);
}

TEST_F(AwaitedTest, ACancelThatComesAfterTheEndIsNotEmitted) {
  int cancels = 0;
  activation running =
      spawn(queue, counts, std::ref(*context), std::ref(cancels));
  pool.run_all();
  EXPECT_TRUE(running.cancel());
  context->poll_one(); // the operation comes back before it is told
  EXPECT_EQ(pool.run_all(), 0U);
  context->poll_one();
  EXPECT_EQ(cancels, 0);
  pool.run_all();
  EXPECT_FALSE(running.active());
}

TEST_F(AwaitedTest, OfAnExecutorOfOnesOwnCannotBeCancelledButEnds) {
  activation running = spawn(queue, [&]() -> task<void> {
    net::steady_timer timer{*context, 5ms};
    co_await timer.async_wait(
        net::bind_executor(context->get_executor(), awaited));
  });
  crank();
  running.cancel();
  while (running.active()) {
    crank();
  }
}

TEST_F(AwaitedTest, OnAStrandIsCancelledOnIt) {
  net::strand<net::io_context::executor_type> strand{context->get_executor()};
  tcp::socket on_strand{strand};
  {
    tcp::acceptor acceptor{*context, test::connection::loopback()};
    on_strand.connect(acceptor.local_endpoint());
  }
  activation running =
      spawn(queue, read_some, std::ref(on_strand), std::ref(seen));
  crank();
  running.cancel();
  crank();
  EXPECT_NE(seen, "");
}

// Ends.

TEST_F(AwaitedTest, TheEndOfTheQueueEndsTheOperation) {
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  crank();
  queue.close();
  EXPECT_EQ(seen, "");
  crank();
  EXPECT_EQ(seen, "cancelled");
}

TEST_F(AwaitedTest, AContextThatIsDestroyedGivesTheOperationUp) {
  queue.on_failure(failures);
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  pool.run_all();
  ends.reset(); // the socket goes first: it must not outlive its context
  context.reset();
  pool.run_all();
  EXPECT_EQ(seen.rfind("the operation was given up", 0), 0U) << seen;
  EXPECT_FALSE(running.active());
}

TEST_F(AwaitedTest, AContextThatIsDestroyedWithTheCancelOnItsWay) {
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  pool.run_all();
  running.cancel();
  ends.reset();
  context.reset();
  pool.run_all();
  EXPECT_EQ(seen, "cancelled");
}

TEST_F(AwaitedTest, AContextThatStandsStillHoldsEvenACancelledAwait) {
  activation running =
      spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  pool.run_all();
  context->stop();
  running.cancel();
  context->poll();
  EXPECT_EQ(pool.run_all(), 0U);
  crank(); // somebody runs it again
  EXPECT_EQ(seen, "cancelled");
}

// Beside others.

task<void> with_time_out(tcp::socket& from, std::string& seen) {
  std::array<char, 16> room;
  auto outcome = co_await choice(
      from.async_read_some(net::buffer(room), awaited), after(1s));
  seen = outcome.index() == 0 ? std::string(room.data(), std::get<0>(outcome))
                              : "too late";
}

TEST_F(AwaitedTest, IsABranchOfAChoice) {
  spawn(queue, with_time_out, std::ref(ends->near), std::ref(seen));
  ends->far.write("in time");
  crank();
  EXPECT_EQ(seen, "in time");
  EXPECT_EQ(pool.pending_timers(), 0U);
}

TEST_F(AwaitedTest, ThatLosesItsChoiceIsCancelledAndWaitedFor) {
  spawn(queue, with_time_out, std::ref(ends->near), std::ref(seen));
  crank();
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(seen, "");
  crank();
  EXPECT_EQ(seen, "too late");
  ends->far.write("kept"); // and the socket is good for the next read
  spawn(queue, read_some, std::ref(ends->near), std::ref(seen));
  crank();
  EXPECT_EQ(seen, "kept");
}

task<void> read_or_sleep(tcp::socket& from, std::string& seen) {
  auto reading = read_some(from, seen);
  auto sleeping = [](int) -> task<void> { co_await sleep_for(1s); }(0);
  const auto first = co_await when_any(std::move(reading), std::move(sleeping));
  seen += first.index() == 0 ? " first" : " second";
}

TEST_F(AwaitedTest, IsCancelledWithTheTaskThatLosesAWhenAny) {
  spawn(queue, read_or_sleep, std::ref(ends->near), std::ref(seen));
  crank();
  pool.advance(1s);
  crank();
  EXPECT_EQ(seen, "cancelled second");
}

} // namespace
} // namespace wharf

#include <wharf/asio/post_to.hpp>

#include <wharf/port_set.hpp>

#include "support/failures.hpp"

#include "asio/connection.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace wharf {
namespace {

namespace net = boost::asio;
using asio::post_to;
using asio::result;
using boost::system::error_code;
using net::ip::tcp;

struct PostToTest : public ::testing::Test {
  net::io_context context;
  test::connection ends{context};
  std::array<char, 16> room{};
};

TEST_F(PostToTest, PostsErrorAndValuesAsAResult) {
  port<result<std::size_t>> reads;
  ends.far.write("hello");
  ends.near.async_read_some(net::buffer(room), post_to(reads));
  EXPECT_TRUE(reads.empty());
  context.run();
  auto read = reads.try_take();
  ASSERT_TRUE(read.has_value());
  EXPECT_FALSE(read->failed());
  EXPECT_EQ(std::move(*read).get(), 5U);
}

TEST_F(PostToTest, AResultThatFailedThrowsWhenItIsLookedInto) {
  port<result<std::size_t>> reads;
  ends.far.close();
  ends.near.async_read_some(net::buffer(room), post_to(reads));
  context.run();
  auto read = reads.try_take();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->error(), net::error::eof);
  EXPECT_THROW(std::move(*read).get(), boost::system::system_error);
}

struct received {
  error_code error;
  std::size_t bytes = 0;
  std::string from;
};

TEST_F(PostToTest, MakesAStructOfItAndOfWhatIsAppended) {
  port<received> reads;
  ends.far.write("hi");
  ends.near.async_read_some(net::buffer(room),
                            net::append(post_to(reads), std::string{"bob"}));
  context.run();
  const auto read = reads.try_take();
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->bytes, 2U);
  EXPECT_EQ(read->from, "bob");
}

class reader : public port_set<std::size_t, std::exception_ptr> {};

TEST_F(PostToTest, DividesValuesAndFailuresAmongASet) {
  reader answers;
  ends.far.write("abc");
  ends.near.async_read_some(net::buffer(room), post_to(answers));
  context.run();
  EXPECT_EQ(answers.get<std::size_t>().try_take(), 3U);
  EXPECT_TRUE(answers.get<std::exception_ptr>().empty());

  ends.far.close();
  ends.near.async_read_some(net::buffer(room), post_to(answers));
  context.restart();
  context.run();
  EXPECT_TRUE(answers.get<std::size_t>().empty());
  const auto failure = answers.get<std::exception_ptr>().try_take();
  ASSERT_TRUE(failure.has_value());
  try {
    std::rethrow_exception(*failure);
  } catch (const boost::system::system_error& error) {
    EXPECT_EQ(error.code(), net::error::eof);
  }
}

struct elapsed {};
struct started {
  int id;
};

TEST_F(PostToTest, ChoosesTheTypeOfTheSetThatIsMadeOfTheValues) {
  port_set<started, std::exception_ptr, elapsed> events;
  static_assert(!asio::detail::made_of<started, elapsed>);
  net::steady_timer timer{context, std::chrono::milliseconds{0}};
  timer.async_wait(net::append(post_to(events), 7));
  context.run();
  ASSERT_EQ(events.get<started>().size(), 1U);
  EXPECT_EQ(events.get<started>().try_take()->id, 7);
}

struct length {
  std::size_t bytes;
};

TEST_F(PostToTest, PrefersTheTypeOfTheValueItself) {
  port_set<length, std::size_t, std::exception_ptr> answers;
  ends.far.write("abc");
  ends.near.async_read_some(net::buffer(room), post_to(answers));
  context.run();
  EXPECT_EQ(answers.get<std::size_t>().size(), 1U);
  EXPECT_TRUE(answers.get<length>().empty());
}

TEST_F(PostToTest, MovesWhatCannotBeCopied) {
  port_set<tcp::socket, std::exception_ptr> peers;
  tcp::acceptor acceptor{context, ends.loopback()};
  tcp::socket client{context};
  client.connect(acceptor.local_endpoint());
  acceptor.async_accept(post_to(peers));
  context.run();
  const auto peer = peers.get<tcp::socket>().try_take();
  ASSERT_TRUE(peer.has_value());
  EXPECT_EQ(peer->remote_endpoint(), client.local_endpoint());
}

TEST_F(PostToTest, HoldsThePortUntilItHasPosted) {
  std::optional<port<result<std::size_t>>> reads{std::in_place};
  ends.near.async_read_some(net::buffer(room), post_to(*reads));
  port<result<std::size_t>> again = *reads;
  reads.reset();
  ends.far.write("x");
  context.run();
  EXPECT_EQ(again.size(), 1U);
}

TEST_F(PostToTest, ToAClosedPortLosesTheResult) {
  port_set<tcp::socket, std::exception_ptr> peers;
  tcp::acceptor acceptor{context, ends.loopback()};
  tcp::socket client{context};
  client.connect(acceptor.local_endpoint());
  acceptor.async_accept(post_to(peers));
  peers.close();
  context.run();
  error_code error;
  EXPECT_EQ(client.read_some(net::buffer(room), error), 0U);
  EXPECT_EQ(error, net::error::eof); // the accepted socket has been closed
}

TEST(PostToTypesTest, AreMadeInBracesAndNeverOfTheErrorAlone) {
  using asio::detail::made_of;
  static_assert(made_of<result<>, error_code>);
  static_assert(made_of<result<std::size_t>, error_code, std::size_t>);
  static_assert(made_of<received, error_code, std::size_t>);
  static_assert(!made_of<std::size_t, error_code, std::size_t>);
  static_assert(!made_of<bool, error_code>);
  static_assert(made_of<bool, bool>);
  static_assert(!made_of<int, std::size_t>); // would lose something
}

} // namespace
} // namespace wharf

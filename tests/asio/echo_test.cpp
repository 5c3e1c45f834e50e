// Servers and clients on real sockets and real threads.

#include <wharf/asio.hpp>
#include <wharf/wharf.hpp>

#include "support/failures.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include "asio/connection.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>

namespace wharf {
namespace {

namespace net = boost::asio;
using namespace std::chrono_literals;
using asio::awaited;
using net::ip::tcp;

/// How many connections of two sockets this process may have.
std::size_t connections_possible(std::size_t wanted) {
  constexpr std::size_t others = 64;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 2 * wanted + others);
  ::setrlimit(RLIMIT_NOFILE, &files);
  ::getrlimit(RLIMIT_NOFILE, &files);
  return std::min(wanted, (files.rlim_cur - others) / 2);
}

task<void> serve(tcp::socket client) {
  std::array<char, 256> room;
  for (;;) {
    auto [error, n] = co_await client.async_read_some(net::buffer(room),
                                                      net::as_tuple(awaited));
    if (error) {
      co_return;
    }
    co_await net::async_write(client, net::buffer(room, n), awaited);
  }
}

task<void> welcome(tcp::acceptor& listener) {
  for (;;) {
    tcp::socket client = co_await listener.async_accept(awaited);
    spawn(this_queue(), serve, std::move(client));
  }
}

/// Talks with the server; true if each answer was right.
task<bool> talk(net::io_context& context, tcp::endpoint server, int id) {
  tcp::socket socket{context};
  co_await socket.async_connect(server, awaited);
  bool right = true;
  for (int round = 0; round < 5; ++round) {
    const std::string question =
        std::to_string(id) + " asks " + std::to_string(round);
    co_await net::async_write(socket, net::buffer(question), awaited);
    std::string answer(question.size(), ' ');
    co_await net::async_read(socket, net::buffer(answer), awaited);
    right = right && answer == question;
  }
  co_return right;
}

class EchoTest : public ::testing::Test {
protected:
  asio::io_thread io;
  tcp::acceptor listener{io.context(), test::connection::loopback()};
  dispatcher pool;
  dispatcher_queue server{pool, "server"};
  dispatcher_queue clients{pool, "clients"};
};

TEST_F(EchoTest, AnswersAClient) {
  spawn(server, welcome, std::ref(listener));
  EXPECT_TRUE(
      sync_wait(clients, talk(io.context(), listener.local_endpoint(), 1)));
}

task<std::size_t> talk_all(net::io_context& context, tcp::endpoint server,
                           std::size_t many) {
  std::vector<task<bool>> talks;
  for (std::size_t i = 0; i < many; ++i) {
    talks.push_back(talk(context, server, static_cast<int>(i)));
  }
  const auto right = co_await when_all(std::move(talks));
  co_return static_cast<std::size_t>(
      std::count(right.begin(), right.end(), true));
}

TEST_F(EchoTest, AnswersAThousandClientsAtOnce) {
  const std::size_t many =
      connections_possible(static_cast<std::size_t>(test::scaled(1'000)));
  EXPECT_GE(many, 20U);
  spawn(server, welcome, std::ref(listener));
  EXPECT_EQ(sync_wait(clients,
                      talk_all(io.context(), listener.local_endpoint(), many)),
            many);
}

/// Says that it is about to read, and reads.
task<void> read_for_ever(tcp::socket& from, std::atomic<bool>& began,
                         bool& cut) {
  std::array<char, 16> room;
  began = true;
  try {
    co_await from.async_read_some(net::buffer(room), awaited);
  } catch (const cancelled&) {
    cut = true;
  }
}

template <class End>
void read_until_the_end(End end) {
  asio::io_thread io;
  test::connection ends{io.context()};
  std::optional<dispatcher> pool{std::in_place};
  std::optional<dispatcher_queue> queue{std::in_place, *pool};
  std::atomic<bool> began{false};
  bool cut = false;
  const activation reading = spawn(*queue, read_for_ever, std::ref(ends.near),
                                   std::ref(began), std::ref(cut));
  while (!began) {
  }
  end(pool, queue);
  EXPECT_FALSE(reading.active());
  EXPECT_TRUE(cut);
}

TEST(AsioEndsTest, AQueueThatEndsWaitsForItsOperations) {
  read_until_the_end([](auto&, auto& queue) { queue.reset(); });
}

TEST(AsioEndsTest, ADispatcherThatEndsWaitsForItsOperations) {
  read_until_the_end([](auto& pool, auto&) { pool.reset(); });
}

// A component that owns its sockets and the coroutines on them.
TEST(AsioEndsTest, ConnectionsAreClosedWithTheQueueOfTheirCoroutines) {
  asio::io_thread io;
  tcp::acceptor listener{io.context(), test::connection::loopback()};
  tcp::socket client{io.context()};
  dispatcher pool;
  {
    dispatcher_queue queue{pool};
    spawn(queue, welcome, std::ref(listener));
    client.connect(listener.local_endpoint());
    std::array<char, 1> room{'x'};
    net::write(client, net::buffer(room));
    net::read(client, net::buffer(room));
  }
  std::array<char, 1> room{};
  boost::system::error_code error;
  net::read(client, net::buffer(room), error);
  EXPECT_EQ(error, net::error::eof);
}

task<void> read_within(tcp::socket& from, std::chrono::microseconds limit,
                       std::atomic<int>& ends) {
  std::array<char, 16> room;
  try {
    auto outcome = co_await choice(
        from.async_read_some(net::buffer(room), awaited), after(limit));
    if (outcome.index() == 0) {
      EXPECT_EQ(std::get<0>(outcome), 1U);
      EXPECT_EQ(room[0], 'x');
    }
  } catch (const cancelled&) {
  }
  ++ends;
}

// Goal: a cancel, a time-out and the arrival of data may meet at any moment;
// the coroutine goes on once, and not before the operation has come back.
// Method: each round reads into a frame that is gone right afterwards, and the
// three race.
TEST(AsioStressTest, CancelTimeOutAndCompletionMeet) {
  asio::io_thread io;
  test::connection ends{io.context()};
  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  std::atomic<int> over{0};
  activation reading;
  test::dice dice{7};
  std::size_t first = 0;
  std::size_t second = 0;
  test::race(
      2, test::scaled(20'000),
      [&](int) {
        over = 0;
        first = dice.roll(20'000);
        second = dice.roll(20'000);
        reading =
            spawn(queue, read_within, std::ref(ends.near),
                  std::chrono::microseconds{dice.roll(100)}, std::ref(over));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(first);
          reading.cancel();
        } else {
          test::linger(second);
          ends.far.write("x");
        }
      },
      [&] {
        reading.wait();
        EXPECT_LE(over, 1); // 0: it was cancelled before it began
        std::array<char, 16> rest;
        while (ends.near.available() != 0) {
          ends.near.read_some(net::buffer(rest));
        }
      });
}

task<void> wait_by_turns(net::io_context& context, std::atomic<int>& ends) {
  net::steady_timer timer{context};
  try {
    for (;;) {
      timer.expires_after(0ms);
      co_await timer.async_wait(awaited);
      timer.expires_after(1h);
      co_await choice(timer.async_wait(awaited), after(10us));
    }
  } catch (const cancelled&) {
  }
  ++ends;
}

// Goal: queues end in the middle of operations that begin, end and are stopped.
// Method: rounds of a queue with coroutines that do nothing else.
TEST(AsioStressTest, QueuesEndInTheMiddle) {
  constexpr int coroutines = 8;
  asio::io_thread io;
  dispatcher pool{{.threads = 2}};
  for (int round = 0; round < test::scaled(200); ++round) {
    std::atomic<int> over{0};
    std::vector<activation> running;
    {
      dispatcher_queue queue{pool};
      for (int i = 0; i < coroutines; ++i) {
        running.push_back(spawn(queue, wait_by_turns, std::ref(io.context()),
                                std::ref(over)));
      }
      test::linger(static_cast<std::size_t>(round) * 1'000);
    }
    EXPECT_LE(over, coroutines); // fewer: the others had not begun
    EXPECT_TRUE(std::none_of(running.begin(), running.end(),
                             [](const activation& a) { return a.active(); }));
  }
}

} // namespace
} // namespace wharf

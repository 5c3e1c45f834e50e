// Handlers that wait for work which needs the threads that they occupy.

#include <wharf/wharf.hpp>

#include "support/failures.hpp"
#include "support/gate.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::gate;
using test::scaled;

struct request {
  int number = 0;
  port<int> answer;
};

task<int> answer_from(port<int> reply) {
  co_return co_await receive(reply);
}

/// The third handler: it answers with twice the number.
void serve(dispatcher_queue& queue, const port<request>& requests) {
  activate(queue, receive(persist, requests, [](const request& r) {
             r.answer.post(2 * r.number);
           }));
}

class BlockingWaitsTest : public ::testing::Test {
protected:
  BlockingWaitsTest() { queue.on_failure(failures); }

  /// Two handlers on two workers, at the same time, call block(number), which
  /// throws; what it threw, in words.
  template <class Block>
  std::vector<std::string> said(Block block) {
    port<int> starts;
    activation both =
        activate(queue, receive(persist, starts, [block](int n) { block(n); }));
    starts.post(1);
    starts.post(2);
    pool.drain();
    both.cancel();
    return test::take_whats(failures);
  }

  dispatcher pool{{.threads = 2}};
  dispatcher_queue queue{pool};
  port<std::exception_ptr> failures;
  port<request> requests;
};

// Scenario: two workers, two handlers that each post a request and block on the
// answer of a third. The blocking call is refused, with an error that says
// which; the third handler runs, and the pool goes on.
TEST_F(BlockingWaitsTest, AreRefusedOnAWorkerWithAClearError) {
  serve(queue, requests);
  std::atomic<int> answered{0};
  const std::vector<std::string> what = said([&](int n) {
    const port<int> reply;
    activate(queue,
             receive(reply, [&](int) { ++answered; }).priority(priority::low));
    requests.post(request{n, reply});
    sync_wait(queue, answer_from(reply));
  });
  ASSERT_EQ(what.size(), 2U);
  EXPECT_NE(what[0].find("sync_wait()"), std::string::npos) << what[0];
  EXPECT_EQ(what[0], what[1]);
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(requests.size(), 0U);
}

// So are all others, in functions and in coroutines, and also for the sake of
// another dispatcher, which is how two of them wait for each other.
TEST_F(BlockingWaitsTest, AreRefusedWhateverTheyWaitFor) {
  dispatcher other{{.threads = 1}};
  dispatcher_queue elsewhere{other};
  const std::vector<std::pair<std::string, std::function<void()>>> calls{
      {"sync_wait()", [&] { sync_wait(elsewhere, answer_from(port<int>{})); }},
      {"activation::wait()",
       [&] { activate(elsewhere, after(1h, [] {})).wait(); }},
      {"drain()", [&] { other.drain(); }},
      {"drain()", [&] { pool.drain(); }},
      {"shutdown()", [&] { other.shutdown(1s); }},
      {"shutdown()", [&] { pool.shutdown(1s); }},
  };
  for (const auto& [name, call] : calls) {
    const std::vector<std::string> of_functions =
        said([&call](int) { call(); });
    ASSERT_EQ(of_functions.size(), 2U) << name;
    EXPECT_NE(of_functions[0].find(name), std::string::npos) << of_functions[0];
    const auto coroutine = [&call]() -> task<void> {
      co_await sleep_for(0ms);
      call();
    };
    spawn(queue, coroutine).wait();
    EXPECT_EQ(test::take_whats(failures), (std::vector{of_functions[0]}));
  }
}

// Blocking calls from threads that are no workers do work, several at a time.
TEST_F(BlockingWaitsTest, WorkFromOtherThreads) {
  serve(queue, requests);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < scaled(1'000); ++i) {
        const port<int> reply;
        requests.post(request{t, reply});
        EXPECT_EQ(sync_wait(queue, answer_from(reply)), 2 * t);
        std::atomic<bool> ran{false};
        spawn(queue, [&ran] { ran = true; }).wait();
        EXPECT_TRUE(ran);
        if (i % 64 == 0) {
          pool.drain();
        }
      }
    });
  }
}

class BlockingWaitsWorkersTest : public ::testing::TestWithParam<std::size_t> {
};

task<void> asks(port<request> requests, int number, std::atomic<int>& sum) {
  const port<int> reply;
  requests.post(request{number, reply});
  sum += co_await receive(reply);
}

// The same program written with co_await finishes, on one worker too; here with
// far more who wait than there are workers.
TEST_P(BlockingWaitsWorkersTest, WrittenAsAwaitsFinishOnOneWorker) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue queue{pool};
  port<request> requests;
  port<int> starts;
  std::atomic<int> sum{0};
  const auto handler = [&](int n) -> task<void> {
    co_await asks(requests, n, sum);
  };
  activate(queue, receive(persist, starts, handler));
  starts.post(1);
  starts.post(2);
  pool.drain(); // both wait before there is anybody who answers
  EXPECT_EQ(requests.size(), 2U);
  serve(queue, requests);
  pool.drain();
  EXPECT_EQ(sum, 6);
  for (int i = 0; i < scaled(10'000); ++i) {
    starts.post(1);
  }
  pool.drain();
  EXPECT_EQ(sum, 6 + 2 * scaled(10'000));
}

// A blocking section on a second dispatcher, where every worker is held, leaves
// the first one responsive, and comes back when it is over.
TEST_P(BlockingWaitsWorkersTest, OnASecondDispatcherLeaveTheFirstResponsive) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher blocking{{.threads = 2}};
  dispatcher_queue queue{pool};
  dispatcher_queue disk{blocking};
  gate held;
  std::atomic<int> done{0};
  const auto reads = [&]() -> task<void> {
    const auto step = [&held] { held.pass(); };
    co_await run_on(disk, step);
    ++done;
  };
  std::vector<activation> readers;
  for (int i = 0; i < 8; ++i) {
    readers.push_back(spawn(queue, reads));
  }
  held.wait_for(2); // no worker of the second one is free
  port<int> numbers;
  std::atomic<int> handled{0};
  activate(queue, receive(persist, numbers, [&](int) { ++handled; }));
  for (int i = 0; i < 1'000; ++i) {
    numbers.post(i);
  }
  pool.drain();
  EXPECT_EQ(handled, 1'000);
  EXPECT_EQ(done, 0);
  held.open();
  for (const activation& each : readers) {
    each.wait();
  }
  EXPECT_EQ(done, 8);
}

// The get() of a future is nobody's to refuse: on the second dispatcher it
// waits for what the first one does.
TEST_P(BlockingWaitsWorkersTest, ForAFutureFinishOnASecondDispatcher) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher blocking{{.threads = 2}};
  dispatcher_queue queue{pool};
  dispatcher_queue waiting{blocking};
  std::atomic<int> sum{0};
  port<std::promise<int>> promises;
  std::latch both{2};
  const auto client = [&]() -> task<void> {
    std::promise<int> promise;
    std::future<int> result = promise.get_future();
    promises.post(std::move(promise));
    const auto step = [&both](std::future<int> f) {
      both.count_down();
      return f.get();
    };
    sum += co_await run_on(waiting, step, std::move(result));
  };
  std::vector<activation> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(spawn(queue, client));
  }
  both.wait(); // they block, before there is anybody who answers
  activate(queue, receive(persist, promises,
                          [](std::promise<int> p) { p.set_value(1); }));
  for (const activation& each : clients) {
    each.wait();
  }
  EXPECT_EQ(sum, 2);
}

INSTANTIATE_TEST_SUITE_P(Workers, BlockingWaitsWorkersTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

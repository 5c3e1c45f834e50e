#include <wharf/sync_wait.hpp>

#include <wharf/wharf.hpp>

#include "support/failures.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::test_dispatcher;

task<int> answer() {
  co_await sleep_for(0ms);
  co_return 42;
}
task<void> fails() {
  throw std::runtime_error{"it"};
  co_return;
}
task<int> waits(port<int> in) {
  co_return co_await receive(in);
}

TEST(SyncWaitTest, GivesTheResultOrThrowsWhatWasThrown) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  EXPECT_EQ(sync_wait(queue, answer()), 42);
  EXPECT_THROW(sync_wait(queue, fails()), std::runtime_error);
}

TEST(SyncWaitTest, CranksADispatcherThatIsCrankedByHand) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  EXPECT_EQ(sync_wait(queue, answer()), 42);
  port<int> in;
  EXPECT_THROW(sync_wait(queue, waits(in)), std::logic_error);
  in.post(1);
  EXPECT_EQ(in.size(), 1U); // it waits no more
}

TEST(SyncWaitTest, OnAnEndedQueueThrowsCancelled) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  queue.close();
  EXPECT_THROW(sync_wait(queue, answer()), cancelled);
}

TEST(SyncWaitTest, IsRefusedOnAWorker) {
  dispatcher pool{{.threads = 1}};
  dispatcher_queue queue{pool};
  port<std::exception_ptr> failures;
  queue.on_failure(failures);
  spawn(queue, [&] { sync_wait(queue, answer()); });
  pool.drain();
  auto failure = failures.try_take();
  ASSERT_TRUE(failure.has_value());
  EXPECT_THROW(std::rethrow_exception(*failure), std::logic_error);
}

} // namespace
} // namespace wharf

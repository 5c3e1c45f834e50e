#include <wharf/ended.hpp>

#include <wharf/wharf.hpp>

#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::test_dispatcher;

task<void> await_end(activation of, bool& over) {
  co_await of.ended();
  over = true;
}

TEST(EndedTest, ResumesWhenTheHandlerObjectIsDestroyed) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> in;
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owned;
  const activation running =
      activate(queue, receive(in, [o = std::move(owned)](int) {}));
  bool over = false;
  spawn(queue, [&, running]() -> task<void> {
    co_await running.ended();
    over = true;
    EXPECT_TRUE(alive.expired());
  });
  pool.run_all();
  EXPECT_FALSE(over);
  in.post(1);
  pool.run_all();
  EXPECT_TRUE(over);
}

TEST(EndedTest, OfWhatHasEndedOrNeverWasIsThere) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  bool over = false;
  spawn(queue, await_end, activation{}, std::ref(over));
  pool.run_all();
  EXPECT_TRUE(over);
  over = false;
  const activation done = spawn(queue, [] {});
  pool.run_all();
  spawn(queue, await_end, done, std::ref(over));
  pool.run_all();
  EXPECT_TRUE(over);
}

task<void> with_time_out(activation of, std::size_t& which) {
  auto outcome = co_await choice(of.ended(), after(1s));
  which = outcome.index();
}

TEST(EndedTest, IsABranchOfAChoiceAndLeavesWhenItLoses) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> in;
  std::size_t which = 9;
  activation running = activate(queue, receive(in, [](int) {}));
  spawn(queue, with_time_out, running, std::ref(which));
  pool.run_all();
  pool.advance(1s);
  pool.run_all();
  EXPECT_EQ(which, 1U);
  EXPECT_TRUE(running.cancel()); // tells nobody: the listener has left
}

TEST(StopTokenTest, CancelsWhatWasActivatedOrSpawnedWithIt) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> in;
  std::stop_source source;
  const activation receiver =
      activate(queue, receive(in, [](int) {}), source.get_token());
  const activation function = spawn(queue, source.get_token(), [] {});
  bool cut = false;
  const activation coroutine =
      spawn(queue, source.get_token(), [&]() -> task<void> {
        try {
          co_await receive(in).priority(priority::low);
        } catch (const cancelled&) {
          cut = true;
        }
      });
  pool.run_one(); // the function
  pool.run_all();
  EXPECT_TRUE(receiver.active());
  source.request_stop();
  EXPECT_FALSE(receiver.active());
  pool.run_all();
  EXPECT_TRUE(cut);
  EXPECT_FALSE(coroutine.active());
  EXPECT_FALSE(function.active());
}

TEST(StopTokenTest, ThatWasStoppedBeforeCancelsAtOnce) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> in;
  std::stop_source source;
  source.request_stop();
  EXPECT_FALSE(
      activate(queue, receive(in, [](int) {}), source.get_token()).active());
  bool ran = false;
  spawn(queue, source.get_token(), [&] { ran = true; });
  pool.run_all();
  EXPECT_FALSE(ran);
}

TEST(StopTokenTest, LeavesNothingBehindWhenTheTargetHasEnded) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  std::stop_source source;
  spawn(queue, source.get_token(), [] {});
  pool.run_all();
  source.request_stop(); // its callback has gone
}

} // namespace
} // namespace wharf

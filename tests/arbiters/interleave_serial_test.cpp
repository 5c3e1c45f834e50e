// Arbiters that run one at a time in the concurrent group of an interleave.

#include <wharf/interleave.hpp>

#include "support/test_dispatcher.hpp"

#include <wharf/join.hpp>
#include <wharf/receive.hpp>
#include <wharf/task.hpp>

#include <gtest/gtest.h>

#include <string>

namespace wharf {
namespace {

using test::test_dispatcher;

/// Handlers that note their beginning, and end with a message of their own
/// port.
class InterleaveSerialTest : public ::testing::Test {
protected:
  auto handler(char name, port<int>& go_on) {
    return [this, name, &go_on](int n) { return run(name, n, go_on); };
  }
  auto one_at_a_time(char name, port<int>& of, port<int>& go_on) {
    return receive(persist, of, handler(name, go_on)).one_at_a_time();
  }
  auto many(char name, port<int>& of, port<int>& go_on) {
    return receive(persist, of, handler(name, go_on));
  }
  auto writer() {
    return exclusive(receive(persist, writes, [this](int n) { note('W', n); }));
  }

  /// What has begun since the last call.
  std::string begun() {
    pool.run_all();
    return std::exchange(log, {});
  }

  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  port<int> writes;
  port<int> go_a;
  port<int> go_b;
  std::string log;

private:
  void note(char name, int n) {
    log += name;
    log += std::to_string(n) + " ";
  }
  task<void> run(char name, int n, port<int>& go_on) {
    note(name, n);
    co_await receive(go_on);
  }
};

TEST_F(InterleaveSerialTest, OverlapsOthersButNotItself) {
  activate(queue, interleave(concurrent(one_at_a_time('a', a, go_a),
                                        many('b', b, go_b))));
  for (int i = 1; i <= 3; ++i) {
    a.post(i);
    b.post(i);
  }
  EXPECT_EQ(begun(), "a1 b1 b2 b3 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "a2 ");
  go_b.post(0);
  EXPECT_EQ(begun(), "");
  go_a.post(0);
  EXPECT_EQ(begun(), "a3 ");
}

TEST_F(InterleaveSerialTest, AloneInItsClassItWaitsForItself) {
  activate(queue, interleave(concurrent(
                      one_at_a_time('a', a, go_a).priority(priority::high),
                      many('b', b, go_b))));
  a.post(1);
  a.post(2);
  b.post(1);
  EXPECT_EQ(begun(), "a1 b1 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "a2 ");
}

TEST_F(InterleaveSerialTest, TwoOfThemRunBesideEachOther) {
  activate(queue, interleave(concurrent(one_at_a_time('a', a, go_a),
                                        one_at_a_time('b', b, go_b))));
  a.post(1);
  a.post(2);
  b.post(1);
  a.post(3);
  b.post(2);
  EXPECT_EQ(begun(), "a1 b1 ");
  go_b.post(0);
  EXPECT_EQ(begun(), "b2 ");
  go_a.post(0);
  go_b.post(0);
  EXPECT_EQ(begun(), "a2 ");
  b.post(3);
  EXPECT_EQ(begun(), "b3 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "a3 ");
}

TEST_F(InterleaveSerialTest, AJoinWaitsForItself) {
  activate(queue,
           interleave(concurrent(join(persist, a, b, [this](int x, int y) {
                                   return handler('j', go_a)(10 * x + y);
                                 }).one_at_a_time())));
  for (int i = 1; i <= 2; ++i) {
    a.post(i);
    b.post(i);
  }
  EXPECT_EQ(begun(), "j11 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "j22 ");
}

TEST_F(InterleaveSerialTest, AThrowLetsTheNextOneStart) {
  activate(queue, interleave(concurrent(
                      receive(persist, a, [this](int n) -> task<void> {
                        log += std::to_string(n) + " ";
                        co_await receive(go_a);
                        throw n;
                      }).one_at_a_time())));
  a.post(1);
  a.post(2);
  EXPECT_EQ(begun(), "1 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "2 ");
}

// Its second message is in the batch, so the writer waits for that one too; the
// third came later and waits for the writer.
TEST_F(InterleaveSerialTest, InABatchTheWritersWaitForAllOfIt) {
  activate(queue, interleave(writer(), concurrent(one_at_a_time('a', a, go_a),
                                                  many('b', b, go_b)))
                      .fairness(fairness::bounded(1)));
  writes.post(1);
  writes.post(2);
  a.post(1);
  a.post(2);
  b.post(1);
  EXPECT_EQ(begun(), "W1 a1 b1 ");
  a.post(3);
  b.post(2);
  EXPECT_EQ(begun(), "");
  go_a.post(0);
  EXPECT_EQ(begun(), "a2 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "");
  go_b.post(0);
  EXPECT_EQ(begun(), "W2 a3 b2 ");
}

TEST_F(InterleaveSerialTest, ByArrivalAWriterWaitsForThoseBeforeIt) {
  activate(queue, interleave(writer(), concurrent(one_at_a_time('a', a, go_a),
                                                  many('b', b, go_b)))
                      .fairness(fairness::arrival));
  a.post(1);
  a.post(2);
  writes.post(1);
  b.post(1);
  // The concurrents have two turns before the writer; of those who may start
  // the oldest takes each.
  EXPECT_EQ(begun(), "a1 b1 ");
  go_a.post(0);
  go_b.post(0);
  EXPECT_EQ(begun(), "W1 a2 ");
}

TEST_F(InterleaveSerialTest, WhatWasPassedOverIsGivenBack) {
  activation running = activate(
      queue,
      interleave(concurrent(one_at_a_time('a', a, go_a), many('b', b, go_b))));
  for (int i = 1; i <= 3; ++i) {
    a.post(i);
    b.post(i);
  }
  EXPECT_EQ(begun(), "a1 b1 b2 b3 ");
  EXPECT_TRUE(running.cancel());
  EXPECT_EQ(a.try_take(), 2);
  EXPECT_EQ(a.try_take(), 3);
  go_a.post(0);
  EXPECT_EQ(begun(), "");
}

TEST_F(InterleaveSerialTest, InAnExclusiveGroupItChangesNothing) {
  activate(queue, interleave(exclusive(one_at_a_time('a', a, go_a),
                                       many('b', b, go_b))));
  a.post(1);
  b.post(1);
  a.post(2);
  EXPECT_EQ(begun(), "a1 ");
  go_a.post(0);
  EXPECT_EQ(begun(), "b1 ");
  go_b.post(0);
  EXPECT_EQ(begun(), "a2 ");
}

} // namespace
} // namespace wharf

// Messages and handlers need no copy, and moves that throw are contained.

#include <wharf/wharf.hpp>

#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::test_dispatcher;
using namespace std::chrono_literals;

using box = std::unique_ptr<int>;

box boxed(int n) {
  return std::make_unique<int>(n);
}

// Move-only messages and handlers that capture a unique_ptr, in every place
// that the Scenario names. That this compiles is half of the test.
TEST(MoveOnlyTest, MessagesAndHandlersGoThroughEveryArbiter) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<box> a;
  port<box> b;
  port_set<box, std::exception_ptr> response;
  int sum = 0;
  const auto add = [&sum](box part) {
    return [&sum, part = std::move(part)](box n) { sum += *n + *part; };
  };

  activate(queue, receive(a, add(boxed(1))));
  activate(queue, receive(persist, a, add(boxed(2))).priority(priority::low));
  activate(queue,
           receive(persist, b, add(boxed(4)))
               .when([keep = boxed(3)](const box& n) { return *n == *keep; })
               .one_at_a_time());
  a.post(boxed(10));
  a.post(boxed(10));
  b.post(boxed(3));
  world.run_all();
  EXPECT_EQ(sum, 1 + 10 + 2 + 10 + 4 + 3);

  sum = 0;
  port<box> c;
  port<box> d;
  activate(queue, join(c, d, [&, part = boxed(1)](box x, box y) {
             sum += *part + *x + *y;
           }));
  c.post(boxed(10));
  d.post(boxed(100));
  activate(queue, join(persist, c, 2, [&, part = boxed(1)](std::vector<box> v) {
             sum += *part + *v[0] + *v[1];
           }));
  c.post(boxed(10));
  c.post(boxed(10));
  const std::vector ports{d, d};
  activate(queue, join(ports, [&, part = boxed(1)](std::vector<box> v) {
             sum += *part + *v[0] + *v[1];
           }));
  d.post(boxed(10));
  d.post(boxed(10));
  world.run_all();
  EXPECT_EQ(sum, 111 + 21 + 21);

  sum = 0;
  const auto keep = [&](std::vector<box> v, std::vector<std::exception_ptr>) {
    for (const box& each : v) {
      sum += *each;
    }
  };
  activate(queue,
           gather(response, 2, [keep, part = boxed(1)](auto v, auto failed) {
             keep(std::move(v), std::move(failed));
           }));
  response.post(boxed(1));
  response.post(boxed(2));
  activate(queue, choice(response, add(boxed(0)), [](std::exception_ptr) {}));
  response.post(boxed(4));
  const std::vector range{response.get<box>()};
  activate(queue, choice(range, [&, part = boxed(0)](std::size_t, box n) {
             sum += *n;
           }));
  response.post(boxed(8));
  std::vector<branch> branches;
  branches.emplace_back(receive(response.get<box>(), add(boxed(0))));
  activate(queue, choice(std::move(branches)));
  response.post(boxed(16));
  world.run_all();
  EXPECT_EQ(sum, 31);

  sum = 0;
  port<box> e;
  port<box> f;
  port<box> g;
  activate(queue, interleave(exclusive(receive(persist, e, add(boxed(0)))),
                             concurrent(receive(persist, f, add(boxed(0)))),
                             teardown(receive(g, add(boxed(0)))).then_close()));
  e.post(boxed(1));
  f.post(boxed(2));
  world.run_all();
  g.post(boxed(4));
  world.run_all();
  EXPECT_EQ(sum, 7);

  spawn(queue, [&sum, part = boxed(1)](box n) { sum += *n + *part; }, boxed(2));
  world.run_all();
  EXPECT_EQ(sum, 10);
}

// A delayed post.
TEST(MoveOnlyTest, ATimerPostsAMoveOnlyMessage) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<box> later;
  activate(queue, after(1ms, [&, n = boxed(5)]() mutable {
             later.post(std::move(n));
           }));
  EXPECT_TRUE(later.empty());
  world.advance(1ms);
  world.run_all();
  const std::optional<box> n = later.try_take();
  ASSERT_TRUE(n);
  EXPECT_EQ(**n, 5);
}

// A refused post leaves the value with the caller.
TEST(MoveOnlyTest, ARefusedPostGivesTheValueBack) {
  port<box> closed;
  closed.close();
  box n = boxed(5);
  EXPECT_FALSE(closed.post(std::move(n)));
  ASSERT_NE(n, nullptr); // NOLINT(bugprone-use-after-move): that is the claim
  EXPECT_EQ(*n, 5);
}

/// Counts how often it, or any of its kind, is copied.
struct counts_copies {
  counts_copies() = default;
  counts_copies(const counts_copies&) { ++copies; }
  counts_copies(counts_copies&&) noexcept = default;
  counts_copies& operator=(const counts_copies&) {
    ++copies;
    return *this;
  }
  counts_copies& operator=(counts_copies&&) noexcept = default;
  ~counts_copies() = default;

  static inline int copies = 0; // one thread
};

// Delivery makes no copy, of the message or of the handler, whoever receives.
TEST(MoveOnlyTest, DeliveryCopiesNothing) {
  using message = counts_copies;
  test_dispatcher world;
  dispatcher_queue queue{world};
  port_set<message, int> all;
  port<message>& a = all.get<message>();
  message::copies = 0;
  int got = 0;
  const auto one = [&got] {
    return [&got, inside = counts_copies{}](message) { ++got; };
  };
  const auto several = [&got] {
    return [&got, inside = counts_copies{}](std::vector<message> v) {
      got += static_cast<int>(v.size());
    };
  };
  const auto post = [&](int n) {
    for (int i = 0; i < n; ++i) {
      a.post(message{});
    }
    world.run_all();
  };

  activate(queue, receive(a, one()));
  post(1);
  activation persistent = activate(queue, receive(persist, a, one()));
  post(5);
  persistent.cancel();
  activate(queue,
           join(a, a, [&got, inside = counts_copies{}](message, message) {
             got += 2;
           }));
  post(2);
  activate(queue, join(a, 3, several()));
  post(3);
  activate(queue, gather(a, 3, several()));
  post(3);
  activate(queue, choice(receive(a, one()), after(1h, [] {})));
  post(1);
  activation service =
      activate(queue, interleave(exclusive(receive(persist, a, one()))));
  post(5);
  service.cancel();
  post(3);
  EXPECT_TRUE(a.try_take());
  EXPECT_EQ(a.try_take_all().size(), 2U);
  EXPECT_EQ(got, 1 + 5 + 2 + 3 + 3 + 1 + 5);
  EXPECT_EQ(message::copies, 0);
}

// A post that is told to copy copies once.
TEST(MoveOnlyTest, APostOfAnLvalueCopiesOnce) {
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<counts_copies> a;
  activate(queue, receive(persist, a, [](counts_copies) {}));
  counts_copies::copies = 0;
  const counts_copies original;
  a.post(original);
  world.run_all();
  EXPECT_EQ(counts_copies::copies, 1);
}

/// Throws when it is moved or copied for the `fuse`th time from now on.
struct explosive {
  explicit explosive(int v) : value{v} { ++live; }
  explosive(const explosive& other) : value{other.value} {
    burn();
    ++live;
  }
  explosive(explosive&& other) : value{other.value} {
    burn();
    ++live;
  }
  explosive& operator=(const explosive&) = default;
  ~explosive() { --live; }

  static void burn() {
    if (fuse > 0 && --fuse == 0) {
      throw std::runtime_error{"explosive"};
    }
  }

  int value;
  static inline int fuse = 0; // 0: never; one thread
  static inline int live = 0;
};

class ThrowingMoveTest : public ::testing::Test {
protected:
  ThrowingMoveTest() {
    explosive::fuse = 0;
    explosive::live = 0;
    queue.on_failure(failures);
  }
  ~ThrowingMoveTest() override { explosive::fuse = 0; }

  /// Fault reports so far.
  std::size_t reported() { return failures.try_take_all().size(); }

  port<std::exception_ptr> failures;
  test_dispatcher world;
  dispatcher_queue queue{world};
};

// A throwing move, or copy, while posting reaches the poster and leaves the
// port as it was, whether somebody waits there or not.
TEST_F(ThrowingMoveTest, WhilePostingReachesThePosterAndLeavesThePort) {
  port<explosive> a;
  a.post(explosive{1});
  const explosive original{2};

  explosive::fuse = 1;
  EXPECT_THROW(a.post(explosive{2}), std::runtime_error);
  explosive::fuse = 1;
  EXPECT_THROW(a.post(original), std::runtime_error);
  EXPECT_EQ(a.size(), 1U);
  ASSERT_TRUE(a.try_take());

  int got = 0;
  const activation waiting =
      activate(queue, receive(a, [&](const explosive& e) { got = e.value; }));
  explosive::fuse = 1;
  EXPECT_THROW(a.post(explosive{3}), std::runtime_error);
  world.run_all();
  EXPECT_TRUE(waiting.active());
  a.post(explosive{4});
  world.run_all();
  EXPECT_EQ(got, 4);
  EXPECT_EQ(reported(), 0U);
}

// A throwing move while delivering is reported like a fault of the handler and
// loses no other message.
TEST_F(ThrowingMoveTest, WhileDeliveringIsTheHandlersFault) {
  port<explosive> a;
  std::vector<int> got;
  activate(queue,
           receive(persist, a, [&](explosive e) { got.push_back(e.value); }));
  for (int i = 1; i <= 3; ++i) {
    a.post(explosive{i});
  }
  explosive::fuse = 2; // the second delivery
  world.run_all();
  EXPECT_EQ(got, (std::vector{1, 3}));
  EXPECT_EQ(reported(), 1U);
  EXPECT_EQ(explosive::live, 0);
}

// Of a join, a gather and a choice: the messages of that delivery are spent,
// and no other.
TEST_F(ThrowingMoveTest, WhileDeliveringASetSpendsThatSetOnly) {
  port<explosive> a;
  port<explosive> b;
  int called = 0;
  const auto post = [&] {
    a.post(explosive{1});
    b.post(explosive{2});
  };
  for (int fuse = 1; fuse <= 2; ++fuse) {
    activate(queue, join(a, b, [&](explosive, explosive) { ++called; }));
    post();
    post();
    explosive::fuse = fuse;
    world.run_all();
    EXPECT_EQ(a.size(), 1U);
    EXPECT_EQ(b.size(), 1U);
    EXPECT_EQ(reported(), 1U);
    a.clear();
    b.clear();

    for (int i = 0; i < 3; ++i) {
      a.post(explosive{i});
    }
    activate(queue, join(a, 2, [&](std::vector<explosive>) { ++called; }));
    explosive::fuse = fuse;
    world.run_all();
    EXPECT_EQ(a.size(), 1U);
    EXPECT_EQ(reported(), 1U);
    a.clear();

    for (int i = 0; i < 3; ++i) {
      a.post(explosive{i});
    }
    activate(queue, gather(a, 2, [&](std::vector<explosive>) { ++called; }));
    explosive::fuse = fuse;
    world.run_all();
    EXPECT_EQ(a.size(), 1U);
    EXPECT_EQ(reported(), 1U);
    a.clear();
    EXPECT_EQ(explosive::live, 0);
  }
  activate(queue, choice(receive(a, [&](explosive) { ++called; }),
                         receive(b, [&](explosive) { ++called; })));
  post();
  explosive::fuse = 1;
  world.run_all();
  EXPECT_EQ(a.size() + b.size(), 1U);
  EXPECT_EQ(reported(), 1U);
  EXPECT_EQ(called, 0);
}

// In an exclusive group the slot comes back and the next message runs.
TEST_F(ThrowingMoveTest, WhileDeliveringInAGroupGivesTheSlotBack) {
  port<explosive> a;
  std::vector<int> got;
  activate(queue, interleave(exclusive(receive(persist, a, [&](explosive e) {
             got.push_back(e.value);
           }))));
  for (int i = 1; i <= 3; ++i) {
    a.post(explosive{i});
  }
  explosive::fuse = 1;
  world.run_all();
  EXPECT_EQ(got, (std::vector{2, 3}));
  EXPECT_EQ(reported(), 1U);
}

// try_take throws to its caller; that message is spent, the others are not.
TEST_F(ThrowingMoveTest, WhileTakingReachesTheCaller) {
  port<explosive> a;
  for (int i = 1; i <= 3; ++i) {
    a.post(explosive{i});
  }
  explosive::fuse = 1;
  EXPECT_THROW(a.try_take(), std::runtime_error);
  EXPECT_EQ(a.size(), 2U);
  EXPECT_EQ(a.try_take()->value, 2);
}

// Whichever move it is that throws: each message is handled, was refused by a
// throw to its poster, or cost its handler one reported fault.
TEST_F(ThrowingMoveTest, AtAnyPointLosesNoOtherMessage) {
  constexpr int messages = 10;
  for (int k = 1; k <= 4 * messages; ++k) {
    port<explosive> a;
    int handled = 0;
    int thrown = 0;
    activation receiver =
        activate(queue, receive(persist, a, [&](explosive) { ++handled; }));
    explosive::fuse = k;
    for (int i = 0; i < messages; ++i) {
      try {
        a.post(explosive{i});
      } catch (const std::runtime_error&) {
        ++thrown;
      }
      if (i % 3 == 0) {
        world.run_all();
      }
    }
    world.run_all();
    explosive::fuse = 0;
    EXPECT_EQ(handled + thrown + static_cast<int>(reported()), messages);
    EXPECT_TRUE(receiver.cancel());
    EXPECT_EQ(explosive::live, 0);
  }
}

} // namespace
} // namespace wharf

// Receivers that come and go while posts rage.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;

class ReceiveStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void renew() {
    queue.reset();
    numbers.emplace();
    queue.emplace(pool);
    handled = posted = 0;
  }
  void TearDown() override {
    queue.reset();
    numbers.reset();
    EXPECT_EQ(counted::live(), 0);
  }
  void post(int n) {
    for (int i = 0; i < n; ++i) {
      posted += numbers->post(counted{i}) ? 1 : 0;
    }
  }

  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::optional<port<counted>> numbers;
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> posted{0};
};

// Goal: a cancelled receiver has handled its messages or they are back.
// Method: cancel at a random moment while two threads post and one takes; what
// was handled, taken and is left adds up, and what is left is in order.
TEST_P(ReceiveStressTest, ACancelledReceiverGivesBackWhatItDidNotStart) {
  for (const bool serial : {false, true}) {
    activation receiver;
    std::atomic<std::size_t> taken{0};
    std::size_t pause = 0;
    test::dice random{GetParam()};
    test::race(
        4, scaled(2'000),
        [&](int) {
          renew();
          taken = 0;
          pause = random.roll(20'000);
          auto r = receive(persist, *numbers, [&](counted) { ++handled; });
          receiver = activate(*queue, serial ? std::move(r).one_at_a_time()
                                             : std::move(r).priority(0));
        },
        [&](std::size_t racer) {
          if (racer == 0) {
            test::linger(pause);
            EXPECT_TRUE(receiver.cancel());
            EXPECT_FALSE(receiver.cancel());
          } else if (racer == 1) {
            for (int i = 0; i < 20; ++i) {
              taken += numbers->try_take().has_value();
            }
          } else {
            post(100);
          }
        },
        [&] {
          receiver.wait();
          EXPECT_EQ(handled + taken + numbers->size(), posted);
          EXPECT_EQ(counted::live(), static_cast<long>(numbers->size()));
          numbers->clear();
        });
  }
}

// Goal: receivers that replace each other lose and double nothing.
// Method: two threads activate a persistent receiver and cancel it, over and
// over, while two post; the last receiver gets the rest.
TEST_P(ReceiveStressTest, ReceiversThatReplaceEachOtherShareTheMessages) {
  test::race(
      4, scaled(400), [&](int) { renew(); },
      [&](std::size_t racer) {
        if (racer >= 2) {
          post(200);
          return;
        }
        for (int i = 0; i < 20; ++i) {
          activation mine = activate(
              *queue, receive(persist, *numbers, [&](counted) { ++handled; }));
          test::linger(500);
          mine.cancel();
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(handled + numbers->size(), posted);
        activate(*queue,
                 receive(persist, *numbers, [&](counted) { ++handled; }));
        pool.drain();
        EXPECT_EQ(handled, posted);
        EXPECT_EQ(counted::live(), 0);
      });
}

// Goal: one-time receivers take one message each.
// Method: two threads activate and sometimes cancel them, two post.
TEST_P(ReceiveStressTest, OneTimeReceiversTakeOneEach) {
  constexpr int each = 100;
  std::atomic<std::size_t> cancelled{0};
  test::race(
      4, scaled(1'000),
      [&](int) {
        renew();
        cancelled = 0;
      },
      [&](std::size_t racer) {
        if (racer >= 2) {
          post(each);
          return;
        }
        for (int i = 0; i < each; ++i) {
          activation mine =
              activate(*queue, receive(*numbers, [&](counted) { ++handled; }));
          if (i % 3 == 0) {
            cancelled += mine.cancel() ? 1 : 0;
          }
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(handled + numbers->size(), posted);
        // Messages are left only if nobody waits any more.
        EXPECT_LE(handled + cancelled, 2U * each);
        EXPECT_TRUE(numbers->empty() || handled + cancelled == 2U * each);
        numbers->clear();
      });
}

// Goal: predicates split a port's messages without a gap.
// Method: even and odd receivers, of which the odd one comes late and leaves
// early; what is left is odd.
TEST_P(ReceiveStressTest, PredicatesSplitWithoutAGap) {
  std::atomic<std::size_t> wrong{0};
  test::race(
      3, scaled(1'000),
      [&](int) {
        renew();
        activate(*queue,
                 receive(persist, *numbers, [&](counted n) {
                   wrong += n.value % 2 != 0;
                   ++handled;
                 }).when([](const counted& n) { return n.value % 2 == 0; }));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          for (int i = 0; i < 5; ++i) {
            activation odd = activate(
                *queue,
                receive(persist, *numbers, [&](counted n) {
                  wrong += n.value % 2 == 0;
                  ++handled;
                }).when([](const counted& n) { return n.value % 2 == 1; }));
            test::linger(300);
            odd.cancel();
          }
        } else {
          post(50);
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(wrong, 0U);
        EXPECT_EQ(handled + numbers->size(), posted);
        for (const counted& left : numbers->try_take_all()) {
          EXPECT_EQ(left.value % 2, 1);
        }
      });
}

// Goal: messages of one poster start in order, whatever the workers do.
// Method: one serial receiver, two posters; within each the numbers ascend.
TEST_P(ReceiveStressTest, ASerialReceiverKeepsEachPostersOrder) {
  const int each = scaled(50'000);
  struct numbered {
    std::size_t poster;
    int number;
  };
  port<numbered> in;
  queue.emplace(pool);
  std::vector<int> last(2, -1); // the receiver is serial
  std::atomic<int> inside{0};
  int wrong = 0;
  activate(*queue, receive(persist, in, [&](numbered n) {
                     wrong += ++inside != 1;
                     wrong += n.number != last[n.poster] + 1;
                     last[n.poster] = n.number;
                     --inside;
                   }).one_at_a_time());
  test::race(2, [&](std::size_t poster) {
    for (int i = 0; i < each; ++i) {
      in.post({poster, i});
    }
  });
  pool.drain();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(last, (std::vector{each - 1, each - 1}));
}

// Goal: a close lets the receiver have what it was given, then ends it.
// Method: one thread closes, two post.
TEST_P(ReceiveStressTest, ACloseLetsTheReceiverFinish) {
  activation receiver;
  test::race(
      3, scaled(5'000),
      [&](int) {
        renew();
        receiver = activate(
            *queue, receive(persist, *numbers, [&](counted) { ++handled; }));
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(300);
          numbers->close();
        } else {
          post(10);
        }
      },
      [&] {
        receiver.wait();
        EXPECT_EQ(handled, posted);
        EXPECT_EQ(counted::live(), 0);
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, ReceiveStressTest,
                         ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

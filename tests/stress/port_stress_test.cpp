// Ports whose last handle goes at any moment.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;

class PortStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void renew() {
    queue.emplace(pool);
    handled = 0;
  }
  void finish() {
    queue.reset();
    EXPECT_EQ(counted::live(), 0);
  }

  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  std::atomic<std::size_t> handled{0};
};

using handle = std::unique_ptr<port<counted>>;

template <std::size_t N>
void fill(std::array<handle, N>& handles) {
  const port<counted> fresh;
  for (handle& each : handles) {
    each = std::make_unique<port<counted>>(fresh);
  }
}

// Goal: with the last handle the port closes, its receiver has had everything
// and ends.
// Method: each of three threads has a handle; two post and drop theirs, one
// activates a receiver and drops its own.
TEST_P(PortStressTest, TheLastHandleClosesThePortBehindTheLastMessage) {
  std::array<handle, 3> handles;
  activation receiver;
  test::race(
      3, scaled(10'000),
      [&](int) {
        renew();
        fill(handles);
      },
      [&](std::size_t racer) {
        handle mine = std::move(handles[racer]);
        if (racer == 0) {
          receiver = activate(
              *queue, receive(persist, *mine, [&](counted) { ++handled; }));
        } else {
          for (int i = 0; i < 10; ++i) {
            EXPECT_TRUE(mine->post(counted{i}));
          }
        }
        mine.reset();
      },
      [&] {
        receiver.wait();
        EXPECT_EQ(handled, 20U);
        finish();
      });
}

// Goal: messages that nobody can reach any more are destroyed, and one-time
// arbiters of all kinds leave unfired.
// Method: as before, with a join, a choice and a gather that lack something.
TEST_P(PortStressTest, TheLastHandleEndsWhoeverWaits) {
  std::array<handle, 3> of_a;
  std::array<handle, 3> of_b;
  std::array<activation, 4> waiting;
  std::atomic<int> fired{0};
  test::race(
      3, scaled(5'000),
      [&](int) {
        renew();
        fired = 0;
        fill(of_a);
        fill(of_b);
      },
      [&](std::size_t racer) {
        handle a = std::move(of_a[racer]);
        handle b = std::move(of_b[racer]);
        if (racer == 0) {
          waiting[0] = activate(
              *queue, join(*a, *b, [&](counted, counted) { ++fired; }));
          waiting[1] = activate(
              *queue, choice(receive(*b, [&](counted) { ++fired; }),
                             join(*b, *a, [&](counted, counted) { ++fired; })));
          waiting[2] = activate(
              *queue, gather(*a, 7, [&](std::vector<counted>) { ++fired; }));
          waiting[3] = activate(
              *queue,
              interleave(exclusive(
                  receive(persist, *b, [&](counted) { ++fired; }),
                  join(persist, *a, *b, [&](counted, counted) { ++fired; }))));
        } else {
          for (int i = 0; i < 3; ++i) {
            a->post(counted{i});
          }
        }
        // In opposite orders.
        (racer % 2 == 0 ? a : b).reset();
        a.reset();
        b.reset();
      },
      [&] {
        for (const activation& each : waiting) {
          each.wait();
        }
        EXPECT_EQ(fired, 0);
        finish();
      });
}

// Goal: handles may be copied, assigned and dropped on all threads while
// messages flow.
// Method: each thread makes copies of its own handle and posts through them.
TEST_P(PortStressTest, HandlesComeAndGoWhileMessagesFlow) {
  handle shared;
  activation receiver;
  test::race(
      4, scaled(500),
      [&](int) {
        renew();
        shared = std::make_unique<port<counted>>();
        receiver = activate(
            *queue, receive(persist, *shared, [&](counted) { ++handled; }));
      },
      [&](std::size_t) {
        port<counted> mine = *shared;
        for (int i = 0; i < 100; ++i) {
          port<counted> copy = mine;
          copy.post(counted{i});
          port<counted> other;
          other = copy;
          mine = other;
        }
      },
      [&] {
        shared.reset();
        receiver.wait();
        EXPECT_EQ(handled, 400U);
        finish();
      });
}

// Goal: a message may hold the last handle of the port that its handler waits
// on, and of another one.
// Method: requests carry their reply port; half are answered, half dropped,
// and the callers' receivers end either way.
TEST_P(PortStressTest, ReplyPortsTravelAndEnd) {
  struct request {
    port<counted> reply;
    bool answer;
  };
  std::atomic<std::size_t> answers{0};
  std::optional<port<request>> service;
  test::race(
      3, scaled(500),
      [&](int) {
        renew();
        answers = 0;
        service.emplace();
        activate(*queue, receive(persist, *service, [&](request r) {
          ++handled;
          if (r.answer) {
            r.reply.post(counted{});
          }
        }));
      },
      [&](std::size_t) {
        for (int i = 0; i < 50; ++i) {
          activation caller;
          {
            const port<counted> reply;
            caller =
                activate(*queue, receive(reply, [&](counted) { ++answers; }));
            service->post({reply, i % 2 == 0});
          }
          if (i == 49) {
            caller.wait(); // unanswered: ended by the request's last handle
          }
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(handled, 150U);
        EXPECT_EQ(answers, 75U);
        service.reset();
        finish();
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, PortStressTest, ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

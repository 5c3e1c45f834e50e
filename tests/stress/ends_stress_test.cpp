// Dispatchers and queues that end at any moment, from anywhere.

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/race.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using test::counted;
using test::scaled;
using namespace std::chrono_literals;

/// Arbiters of every kind on a queue, and the messages that they handle.
class population {
public:
  explicit population(dispatcher_queue& queue) {
    const auto one = [this](counted) { ++handled_; };
    const auto two = [this](counted, counted) { handled_ += 2; };
    const auto some = [this](std::vector<counted> v) { handled_ += v.size(); };
    add(activate(queue, receive(persist, a_, one).when([](const counted& m) {
      return m.value % 3 == 0;
    })));
    add(activate(queue, join(persist, a_, b_, two)));
    add(activate(queue, gather(b_, 100, some)));
    add(activate(queue, choice(join(b_, c_, two), after(1h, [] {}))));
    add(activate(queue, interleave(exclusive(receive(persist, c_, one)),
                                   concurrent(join(persist, c_, a_, two)))));
    add(activate(queue, every(10us, [keep = counted{}] {})));
    add(activate(queue, after(20us, [keep = counted{}] {})));
  }

  /// What one thread adds to it while it ends.
  void disturb(dispatcher_queue& queue) {
    for (int i = 0; i < 30; ++i) {
      posted_ += 3;
      a_.post(counted{i});
      b_.post(counted{i});
      c_.post(counted{i});
      if (i % 10 == 0) {
        ++spawned_;
        activation ran = spawn(queue, [this, keep = counted{}] { ++ran_; });
        const std::lock_guard lock{mutex_};
        all_.push_back(std::move(ran));
        activate(queue, after(1us, [keep = counted{}] {}));
      }
    }
  }

  /// Waits for the last handler of each, then counts. `discarded`: what the
  /// queue says that it has thrown away: functions, timers, and one-time
  /// arbiters with up to two messages, which a gather of 100 is not.
  void expect_ended(std::size_t discarded) {
    for (const activation& each : all_) {
      each.wait();
      EXPECT_FALSE(each.active());
    }
    const std::size_t left = a_.size() + b_.size() + c_.size();
    EXPECT_LE(handled_ + left, posted_);
    EXPECT_LE(posted_ - handled_ - left, 2 * discarded);
    EXPECT_LE(ran_, spawned_);
    EXPECT_LE(spawned_ - ran_, discarded);
  }

private:
  void add(activation a) { all_.push_back(std::move(a)); }

  port<counted> a_;
  port<counted> b_;
  port<counted> c_;
  std::mutex mutex_;
  std::vector<activation> all_; // guarded by mutex_ during a race
  std::atomic<std::size_t> handled_{0};
  std::atomic<std::size_t> posted_{0};
  std::atomic<std::size_t> spawned_{0};
  std::atomic<std::size_t> ran_{0};
};

class EndsStressTest : public ::testing::TestWithParam<std::size_t> {
protected:
  void TearDown() override { EXPECT_EQ(counted::live(), 0); }

  test::dice random{GetParam()};
  std::size_t pause = 0;
};

// Goal: ~dispatcher at any moment returns, ends everything, loses nothing.
// Method: two threads post, spawn and activate; one destroys the dispatcher.
// All handlers are over when the destructor returns.
TEST_P(EndsStressTest, ADispatcherThatIsDestroyedFromOutside) {
  std::optional<dispatcher> pool;
  std::optional<dispatcher_queue> queue;
  std::optional<population> people;
  test::race(
      3, scaled(1'000),
      [&](int) {
        pool.emplace(dispatcher_options{.threads = GetParam()});
        queue.emplace(*pool);
        people.emplace(*queue);
        pause = random.roll(20'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          pool.reset();
        } else {
          people->disturb(*queue);
        }
      },
      [&] {
        people->expect_ended(queue->discarded());
        queue.reset();
        people.reset();
        EXPECT_EQ(counted::live(), 0);
      });
}

// Goal: a queue's close and end at any moment, beside another queue that goes
// on.
// Method: as before; the other queue has handled everything in the end.
TEST_P(EndsStressTest, AQueueThatIsClosedBesideOneThatGoesOn) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue other{pool, "other"};
  port<counted> numbers;
  std::atomic<std::size_t> handled{0};
  std::size_t posted = 0;
  activate(other, receive(persist, numbers, [&](counted) { ++handled; }));
  std::optional<dispatcher_queue> queue;
  std::optional<population> people;
  test::race(
      3, scaled(1'000),
      [&](int) {
        queue.emplace(pool);
        people.emplace(*queue);
        pause = random.roll(20'000);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          test::linger(pause);
          queue->close();
          return;
        }
        for (int i = 0; racer == 1 && i < 20; ++i) {
          ++posted;
          numbers.post(counted{i});
        }
        people->disturb(*queue);
      },
      [&] {
        people->expect_ended(queue->discarded());
        queue.reset();
        people.reset();
      });
  pool.drain();
  EXPECT_EQ(handled, posted);
}

// Goal: a queue may end on a worker of its dispatcher, in a handler of its own
// or of another queue, while posts go on.
// Method: a function that runs on it, or on the other queue, destroys it.
TEST_P(EndsStressTest, AQueueThatIsDestroyedOnAWorker) {
  dispatcher pool{{.threads = GetParam()}};
  dispatcher_queue other{pool, "other"};
  std::unique_ptr<dispatcher_queue> queue;
  port<counted> numbers;
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> posted{0};
  activation receiver;
  activation ender;
  bool on_itself = false;
  test::race(
      3, scaled(2'000),
      [&](int round) {
        on_itself = round % 2 == 0;
        queue = std::make_unique<dispatcher_queue>(pool);
        handled = posted = 0;
        receiver = activate(
            *queue, receive(persist, numbers, [&](counted) { ++handled; }));
      },
      [&](std::size_t racer) {
        if (racer != 0) {
          for (int i = 0; i < 50; ++i) {
            posted += numbers.post(counted{i}) ? 1 : 0;
          }
          return;
        }
        dispatcher_queue& line = on_itself ? *queue : other;
        ender = spawn(line, [&] { queue.reset(); });
      },
      [&] {
        ender.wait();
        receiver.wait();
        EXPECT_EQ(handled + numbers.size(), posted);
        numbers.clear();
        EXPECT_EQ(counted::live(), 0);
      });
  pool.drain(); // what was retired is no work
}

// Goal: a dispatcher may end on one of its own workers; the destructor returns
// at once, and everything ends none the less.
// Method: a function that runs on it destroys it while two threads post.
TEST_P(EndsStressTest, ADispatcherThatIsDestroyedOnItsOwnWorker) {
  std::unique_ptr<dispatcher> pool;
  std::optional<dispatcher_queue> queue;
  std::optional<population> people;
  activation ender;
  // Its threads stay until the process ends, so not too many rounds.
  test::race(
      3, 320 / static_cast<int>(GetParam()),
      [&](int) {
        pool = std::make_unique<dispatcher>(
            dispatcher_options{.threads = GetParam()});
        queue.emplace(*pool);
        people.emplace(*queue);
      },
      [&](std::size_t racer) {
        if (racer == 0) {
          ender = spawn(*queue, [&] { pool.reset(); });
        } else {
          people->disturb(*queue);
        }
      },
      [&] {
        ender.wait();
        EXPECT_EQ(pool, nullptr);
        people->expect_ended(queue->discarded());
        queue.reset();
        people.reset();
        while (counted::live() != 0) { // handlers that are just over
          std::this_thread::yield();
        }
      });
}

// Goal: queues may be made and destroyed by several threads on a dispatcher
// that is busy.
// Method: each thread opens a queue, has a receiver handle ten messages, waits
// for nothing, and destroys it.
TEST_P(EndsStressTest, QueuesThatComeAndGoOnABusyDispatcher) {
  dispatcher pool{{.threads = GetParam()}};
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> left{0};
  const int rounds = scaled(2'000);
  test::race(4, [&](std::size_t) {
    for (int i = 0; i < rounds; ++i) {
      port<counted> numbers;
      {
        dispatcher_queue queue{pool};
        activate(queue, receive(persist, numbers, [&](counted) { ++handled; }));
        for (int n = 0; n < 10; ++n) {
          numbers.post(counted{n});
        }
      }
      left += numbers.size();
    }
  });
  EXPECT_EQ(handled + left, 40U * static_cast<std::size_t>(rounds));
  EXPECT_EQ(counted::live(), 0);
}

// Goal: suspend, resume and close in any order lose no message.
// Method: one thread suspends and resumes, two post, then resume and drain.
TEST_P(EndsStressTest, ASuspendedQueueKeepsEverything) {
  dispatcher pool{{.threads = GetParam()}};
  std::optional<dispatcher_queue> queue;
  port<counted> numbers;
  std::atomic<std::size_t> handled{0};
  std::atomic<std::size_t> posted{0};
  test::race(
      3, scaled(1'000),
      [&](int) {
        queue.emplace(pool);
        handled = posted = 0;
        activate(*queue,
                 receive(persist, numbers, [&](counted) { ++handled; }));
      },
      [&](std::size_t racer) {
        for (int i = 0; i < 20; ++i) {
          if (racer == 0) {
            queue->suspend();
            test::linger(100);
            queue->resume();
          } else {
            posted += numbers.post(counted{i}) ? 1 : 0;
          }
        }
      },
      [&] {
        pool.drain();
        EXPECT_EQ(handled, posted);
        queue.reset();
      });
}

INSTANTIATE_TEST_SUITE_P(Workers, EndsStressTest, ::testing::Values(1, 4, 16));

} // namespace
} // namespace wharf

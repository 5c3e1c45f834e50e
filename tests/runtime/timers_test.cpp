#include <wharf/detail/timers.hpp>

#include <wharf/detail/decision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <random>
#include <vector>

namespace wharf::detail {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{std::chrono::hours{1}};

/// Notes in a list that it has fired.
class note final : public timer_entry {
public:
  note(std::vector<int>& fired, int number, duration period = {})
      : fired_{fired}, number_{number}, period_{period} {}

private:
  time_point fire(decision&, time_point due, time_point) noexcept override {
    fired_.push_back(number_);
    return period_ == duration::zero() ? time_point::max() : due + period_;
  }

  std::vector<int>& fired_;
  const int number_;
  const duration period_;
};

TEST(TimersTest, DueTimesAreHeldToTheClocksRange) {
  EXPECT_EQ(due_after(start, 1ms), start + 1ms);
  EXPECT_EQ(due_after(start, -1ms), start);
  EXPECT_EQ(due_after(start, duration::min()), start);
  EXPECT_GT(due_after(start, duration::max()), start + 24h * 365 * 200);
  EXPECT_LT(due_after(start, duration::max()), time_point::max());
}

TEST(TimersTest, FiresWhatIsDueOldestFirst) {
  std::vector<int> fired;
  std::deque<note> notes;
  timer_heap heap;
  std::vector<int> due(200);
  for (int i = 0; i < 200; ++i) {
    due[static_cast<std::size_t>(i)] = i;
  }
  std::shuffle(due.begin(), due.end(), std::mt19937{1});
  for (const int each : due) {
    heap.arm(notes.emplace_back(fired, each),
             start + std::chrono::milliseconds{each});
  }
  EXPECT_EQ(heap.next_due(), start);
  {
    decision d;
    heap.fire_due(d, start + 99ms, 1'000);
  }
  EXPECT_EQ(fired.size(), 100U);
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
  EXPECT_EQ(heap.size(), 100U);
  EXPECT_EQ(heap.next_due(), start + 100ms);
  decision d;
  heap.fire_due(d, start + 1h, 1'000);
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
  EXPECT_EQ(heap.next_due(), time_point::max());
}

TEST(TimersTest, EqualDueTimesFireInTheOrderOfArming) {
  std::vector<int> fired;
  std::deque<note> notes;
  timer_heap heap;
  for (int i = 0; i < 50; ++i) {
    heap.arm(notes.emplace_back(fired, i), start);
  }
  decision d;
  heap.fire_due(d, start, 1'000);
  EXPECT_EQ(fired.size(), 50U);
  EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST(TimersTest, FiresNoMoreThanItsLimit) {
  std::vector<int> fired;
  std::deque<note> notes;
  timer_heap heap;
  for (int i = 0; i < 5; ++i) {
    heap.arm(notes.emplace_back(fired, i), start);
  }
  decision d;
  heap.fire_due(d, start, 2);
  EXPECT_EQ(fired, (std::vector{0, 1}));
  EXPECT_EQ(heap.next_due(), start);
}

TEST(TimersTest, ArmTellsWhetherItIsTheFirst) {
  std::vector<int> fired;
  note late{fired, 1};
  note early{fired, 2};
  note between{fired, 3};
  timer_heap heap;
  EXPECT_TRUE(heap.arm(late, start + 3s));
  EXPECT_TRUE(heap.arm(early, start + 1s));
  EXPECT_FALSE(heap.arm(between, start + 2s));
}

TEST(TimersTest, ADisarmedEntryDoesNotFire) {
  std::vector<int> fired;
  std::deque<note> notes;
  timer_heap heap;
  for (int i = 0; i < 100; ++i) {
    heap.arm(notes.emplace_back(fired, i),
             start + std::chrono::milliseconds{(i * 37) % 100});
  }
  for (std::size_t i = 0; i < 100; i += 2) {
    heap.disarm(notes[i]);
    heap.disarm(notes[i]); // not armed: nothing happens
    EXPECT_FALSE(notes[i].armed());
  }
  EXPECT_EQ(heap.size(), 50U);
  decision d;
  heap.fire_due(d, start + 1s, 1'000);
  EXPECT_EQ(fired.size(), 50U);
  for (const int each : fired) {
    EXPECT_EQ(each % 2, 1);
  }
}

TEST(TimersTest, ARefiredEntryKeepsItsTurn) {
  std::vector<int> fired;
  note often{fired, 1, 10ms};
  note once{fired, 2};
  timer_heap heap;
  heap.arm(often, start + 10ms);
  heap.arm(once, start + 25ms);
  decision d;
  heap.fire_due(d, start + 30ms, 1'000);
  EXPECT_EQ(fired, (std::vector{1, 1, 2, 1}));
  EXPECT_TRUE(often.armed());
  EXPECT_EQ(heap.next_due(), start + 40ms);
  heap.disarm(often);
}

} // namespace
} // namespace wharf::detail

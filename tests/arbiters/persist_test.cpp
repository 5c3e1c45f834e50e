#include <wharf/persist.hpp>

#include "support/test_dispatcher.hpp"

#include <wharf/join.hpp>
#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace wharf {
namespace {

using test::test_dispatcher;

static_assert(priority::low < priority::normal);
static_assert(priority::normal < priority::high);

TEST(PersistTest, AnArbiterWithoutItFiresOnceWithItForEver) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> a;
  port<int> b;
  int once = 0;
  int ever = 0;
  activate(queue, join(a, b, [&](int, int) { ++once; }));
  activate(queue, join(persist, a, b, [&](int, int) { ++ever; }));
  for (int i = 0; i < 4; ++i) {
    a.post(i);
    b.post(i);
    pool.run_all();
  }
  EXPECT_EQ(once, 1);
  EXPECT_EQ(ever, 3);
}

TEST(PersistTest, AnyIntIsAPriority) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  std::vector<int> order;
  for (const int each : {0, std::numeric_limits<int>::min(), -7,
                         std::numeric_limits<int>::max(), 7}) {
    activate(queue, receive(numbers, [&, each](int) {
                      order.push_back(each);
                    }).priority(each));
  }
  for (int i = 0; i < 5; ++i) {
    numbers.post(i);
  }
  pool.run_all();
  EXPECT_EQ(order, (std::vector{std::numeric_limits<int>::max(), 7, 0, -7,
                                std::numeric_limits<int>::min()}));
}

} // namespace
} // namespace wharf

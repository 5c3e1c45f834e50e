#include <wharf/activate.hpp>

#include "support/test_dispatcher.hpp"
#include "support/tracked.hpp"

#include <wharf/wharf.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::tally;
using test::test_dispatcher;
using test::tracked;

template <class T>
concept activatable = requires(dispatcher_queue& queue, T thing) {
  activate(queue, std::move(thing));
};

using receive_int = decltype(receive(std::declval<port<int>&>(), [](int) {}));

static_assert(activatable<receive_int>);
static_assert(!activatable<int>);
static_assert(!activatable<port<int>>);
static_assert(!activatable<decltype(exclusive(std::declval<receive_int>()))>);
static_assert(
    std::is_same_v<decltype(activate(std::declval<dispatcher_queue&>(),
                                     std::declval<receive_int>())),
                   activation>);

TEST(ActivateTest, AnArbiterIsRegisteredWhenItReturns) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  const activation one = activate(queue, receive(numbers, [](int) {}));
  EXPECT_TRUE(one.active());
  numbers.post(1);
  EXPECT_EQ(numbers.size(), 0U);
}

TEST(ActivateTest, RunsNoHandler) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  numbers.post(1);
  int ran = 0;
  activate(queue, receive(persist, numbers, [&](int) { ++ran; }));
  EXPECT_EQ(ran, 0);
  pool.run_all();
  EXPECT_EQ(ran, 1);
}

TEST(ActivateTest, ADescriptionRegistersNothingByItself) {
  port<int> numbers;
  const auto unused = receive(persist, numbers, [](int) {});
  numbers.post(1);
  EXPECT_EQ(numbers.try_take(), 1);
}

TEST(ActivateTest, ADescriptionMayBeMovedAboutAndActivatedLater) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  port<int> numbers;
  int got = 0;
  auto first = receive(numbers, [&](int n) { got = n; });
  auto second = std::move(first);
  activate(queue, std::move(second));
  numbers.post(5);
  pool.run_all();
  EXPECT_EQ(got, 5);
}

/// Activates a description twice.
template <class Description>
void expect_one_use(Description description) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  activate(queue, std::move(description));
  EXPECT_THROW(
      activate(queue, std::move(description)), // NOLINT: used on purpose
      std::logic_error);
}

TEST(ActivateTest, TwiceIsMisuseForEveryArbiter) {
  const port<int> a;
  const port<int> b;
  const auto one = [](int) {};
  const auto two = [](int, int) {};
  const auto many = [](const std::vector<int>&) {};
  expect_one_use(receive(a, one));
  expect_one_use(receive(persist, a, one));
  expect_one_use(receive(a, one).when([](int) { return true; }));
  expect_one_use(choice(receive(a, one), receive(b, one)));
  expect_one_use(choice(std::vector<branch>{}));
  expect_one_use(choice(std::vector{a, b}, [](std::size_t, int) {}));
  expect_one_use(join(a, b, two));
  expect_one_use(join(persist, a, b, two));
  expect_one_use(join(a, 2, many));
  expect_one_use(gather(a, 2, many));
  expect_one_use(interleave(exclusive(receive(persist, a, one))));
  expect_one_use(after(1s, [] {}));
  expect_one_use(every(1s, [] {}));
}

TEST(ActivateTest, ADescriptionThatWasGivenAwayIsUsed) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<int> a;
  auto given = receive(a, [](int) {});
  activate(queue, choice(std::move(given)));
  EXPECT_THROW(activate(queue, std::move(given)), // NOLINT
               std::logic_error);
  EXPECT_THROW((void)choice(std::move(given)), std::logic_error); // NOLINT
  EXPECT_THROW(branch{std::move(given)}, std::logic_error);       // NOLINT
}

TEST(ActivateTest, NamesThePortNoMoreThanItsArbiterDoes) {
  // A description is no handle either.
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  auto description = receive(port<int>{}, [](int) {});
  EXPECT_FALSE(activate(queue, std::move(description)).active());
}

TEST(ActivateTest, HandlersAreMovedNeverCopied) {
  tally counts;
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  const port<int> a;
  const port<int> b;
  const auto own = [&] { return [captured = tracked{counts}](auto&&...) {}; };
  activate(queue, receive(a, own()));
  activate(queue, receive(persist, a, own()).priority(priority::low));
  activate(queue, receive(a, own()).when([](int) { return true; }));
  activate(queue, choice(receive(a, own()), join(a, b, own()),
                         gather(a, 2, own()), after(1s, own())));
  activate(queue, choice(std::vector{a, b}, own()));
  activate(queue, join(persist, a, b, own()));
  activate(queue, interleave(teardown(receive(a, own())).then_close(),
                             exclusive(receive(persist, a, own())),
                             concurrent(join(persist, a, b, own()))));
  activate(queue, every(1s, own()));
  EXPECT_EQ(counts.alive, 13);
  EXPECT_EQ(counts.copies, 0);
  queue.close();
  EXPECT_EQ(counts.alive, 0);
}

} // namespace
} // namespace wharf

// Shapes of coroutines that Wharf and its users rely on, and that every
// compiler here gets right.

#include "probe.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace conformance {
namespace {

class SoundShapesTest : public ::testing::Test {
protected:
  void SetUp() override { tracked::reset(); }
  void TearDown() override { EXPECT_EQ(tracked::balance(), 0); }
};

coro<int> add(tracked a, const tracked& b) {
  const int before = co_await later{1};
  co_return before + a.value() + b.value();
}

coro<int> temporaries() {
  co_return co_await add(tracked{2}, tracked{3});
}
TEST_F(SoundShapesTest, TemporariesWithConstructorsLiveThroughASuspension) {
  EXPECT_EQ(finish(temporaries()), 6);
}

coro<int> several_awaits_in_one_expression() {
  co_return co_await later{1} +
      co_await add(tracked{2}, tracked{3}) * co_await later{10};
}
TEST_F(SoundShapesTest, SeveralAwaitsInOneExpression) {
  EXPECT_EQ(finish(several_awaits_in_one_expression()), 61);
}

// With a local variable in the outermost block; without one see R12.
coro<int> in_conditions(int n) {
  int sum = 0;
  while (co_await later{n} > 0) {
    for (int i = co_await later{0}; i < co_await later{2}; ++i) {
      sum += co_await later{1};
    }
    switch (co_await later{n}) {
    case 1:
      sum += 100;
      break;
    default:
      sum += 10;
    }
    if (co_await later{true} && co_await later{n != 2}) {
      sum += 1000;
    }
    --n;
  }
  co_return sum;
}
TEST_F(SoundShapesTest, AwaitsInConditionsOfAllKinds) {
  EXPECT_EQ(finish(in_conditions(3)), 2 * 3 + 10 + 10 + 100 + 2000);
}

coro<int> ranges() {
  int sum = 0;
  for (const tracked& each :
       co_await later{std::vector<tracked>(3, tracked{2})}) {
    sum += each.value() * co_await later{1};
  }
  co_return sum;
}
TEST_F(SoundShapesTest, ARangeThatWasAwaited) {
  EXPECT_EQ(finish(ranges()), 6);
}

coro<int> bindings() {
  const auto [a, b] = co_await later{std::pair{tracked{1}, tracked{2}}};
  co_return co_await later{10} * a.value() + b.value();
}
TEST_F(SoundShapesTest, StructuredBindings) {
  EXPECT_EQ(finish(bindings()), 12);
}

coro<int> compound() {
  std::vector<tracked> all;
  all.push_back(co_await later{tracked{4}});
  int sum = 1;
  sum += co_await later{all.front().value()};
  co_return sum;
}
TEST_F(SoundShapesTest, CompoundAssignmentsAndArguments) {
  EXPECT_EQ(finish(compound()), 5);
}

coro<std::unique_ptr<tracked>> move_only() {
  std::unique_ptr<tracked> p =
      co_await later{std::make_unique<tracked>(tracked{5})};
  co_return p;
}
TEST_F(SoundShapesTest, MoveOnlyResults) {
  EXPECT_EQ(finish(move_only())->value(), 5);
}

coro<int> with_default(tracked t = tracked{6}) {
  co_return co_await later{t.value()};
}
coro<int> default_arguments() {
  co_return co_await with_default();
}
TEST_F(SoundShapesTest, DefaultArguments) {
  EXPECT_EQ(finish(default_arguments()), 6);
}

coro<int> throws_after(tracked t) {
  const tracked other = co_await later{tracked{1}};
  throw std::runtime_error{std::to_string(t.value() + other.value())};
  co_return 0;
}
coro<int> passes_on() {
  co_return co_await throws_after(tracked{1});
}
coro<int> catches() {
  int caught = 0;
  try {
    co_await passes_on();
  } catch (const std::runtime_error& e) {
    caught = std::stoi(e.what());
  }
  co_return co_await later{caught};
}
TEST_F(SoundShapesTest, ExceptionsThroughLevelsAreCaught) {
  EXPECT_EQ(finish(catches()), 2);
}

coro<int> await_that_throws() {
  const tracked before{1};
  try {
    co_await add(tracked{1}, tracked{co_await failing_later{}});
  } catch (int n) {
    co_return n;
  }
  co_return 0;
}
TEST_F(SoundShapesTest, AnAwaitThatThrowsInTheMidstOfArguments) {
  EXPECT_EQ(finish(await_that_throws()), 7);
}

TEST_F(SoundShapesTest, AFrameThatIsDestroyedWhileItAwaits) {
  {
    coro<int> one = temporaries();
    one.start();
    EXPECT_GT(tracked::balance(), 0);
    EXPECT_FALSE(one.done());
  }
  EXPECT_EQ(tracked::balance(), 0);
  parked.clear();
}

TEST_F(SoundShapesTest, AFrameThatNeverStarted) {
  const coro<int> one = add(tracked{1}, tracked{2});
  EXPECT_FALSE(one.done());
}

struct member {
  tracked t{3};
  coro<int> get(int n) { co_return co_await later{n} + t.value(); }
};
TEST_F(SoundShapesTest, CoroutinesThatAreMembers) {
  member m;
  EXPECT_EQ(finish(m.get(1)), 4);
}

TEST_F(SoundShapesTest, LambdasThatLiveLongEnough) {
  const auto generic = [](auto a, auto... more) -> coro<int> {
    const int sum = (0 + ... + more.value());
    co_return co_await later{a.value()} + sum;
  };
  EXPECT_EQ(finish(generic(tracked{1}, tracked{2}, tracked{3})), 6);
}

} // namespace
} // namespace conformance

#include <wharf/port_set.hpp>

#include "support/test_dispatcher.hpp"

#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>

namespace wharf {
namespace {

using test::test_dispatcher;

template <class Set, class T>
concept postable =
    requires(Set set, T value) { set.post(std::forward<T>(value)); };

// Chosen by the exact type: no conversions.
static_assert(postable<port_set<int, std::string>, int>);
static_assert(postable<port_set<int, std::string>, std::string&>);
static_assert(!postable<port_set<int, std::string>, const char*>);
static_assert(!postable<port_set<int, std::string>, short>);

struct stop {};
struct service : port_set<stop, int> {
  int greeting = 1;
};

TEST(PortSetTest, APostGoesToThePortOfItsType) {
  port_set<int, std::string> set;
  const std::string copied = "copied";
  EXPECT_TRUE(set.post(1));
  EXPECT_TRUE(set.post(copied));
  EXPECT_TRUE(set.post(std::string{"moved"}));
  EXPECT_EQ(set.get<int>().try_take(), 1);
  EXPECT_EQ(set.get<std::string>().try_take(), "copied");
  EXPECT_EQ(set.get<std::string>().try_take(), "moved");
}

TEST(PortSetTest, MoveOnlyMessagesAreWelcome) {
  port_set<std::unique_ptr<int>, std::exception_ptr> set;
  EXPECT_TRUE(set.post(std::make_unique<int>(3)));
  EXPECT_EQ(**set.get<std::unique_ptr<int>>().try_take(), 3);
}

TEST(PortSetTest, CopiesReferToTheSamePorts) {
  port_set<int, std::string> set;
  const port_set<int, std::string> copy = set;
  set.post(1);
  EXPECT_EQ(copy.get<int>(), set.get<int>());
  EXPECT_EQ(copy.get<int>().size(), 1U);
}

TEST(PortSetTest, CanBeMadeOfPortsThatExist) {
  port<int> numbers;
  port<std::string> texts;
  port_set<int, std::string> set{numbers, texts};
  set.post(5);
  EXPECT_EQ(numbers.try_take(), 5);
  EXPECT_EQ(set.get<std::string>(), texts);
}

TEST(PortSetTest, ADerivedClassWorksWhereverASetDoes) {
  test_dispatcher pool;
  dispatcher_queue queue{pool};
  service s;
  int got = 0;
  activate(queue, receive(s.get<int>(), [&](int n) { got = n; }));
  EXPECT_TRUE(s.post(7));
  EXPECT_TRUE(s.post(stop{}));
  pool.run_all();
  EXPECT_EQ(got, 7);
  EXPECT_EQ(s.get<stop>().size(), 1U);
}

TEST(PortSetTest, CloseClosesAllItsPorts) {
  port_set<int, std::string> set;
  set.post(1);
  set.close();
  EXPECT_TRUE(set.get<int>().closed());
  EXPECT_TRUE(set.get<std::string>().closed());
  EXPECT_FALSE(set.post(2));
  EXPECT_EQ(set.get<int>().try_take(), 1);
}

TEST(PortSetTest, ARefusedRvalueKeepsItsValue) {
  port_set<std::string> set;
  set.close();
  std::string text = "a text that is too long for the small string buffer";
  EXPECT_FALSE(set.post(std::move(text)));
  EXPECT_EQ(text.size(), 51U); // NOLINT: refused, so it is still there
}

TEST(PortSetTest, PortsTellWhereTheirSetWasMade) {
  const port_set<int> set;
  EXPECT_NE(set.get<int>().name().find("port_set_test.cpp"), std::string::npos);
}

} // namespace
} // namespace wharf

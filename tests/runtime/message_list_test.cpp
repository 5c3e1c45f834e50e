#include <wharf/detail/message.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

namespace wharf::detail {
namespace {

/// Nodes with these numbers, not linked.
std::deque<message_node> nodes(const std::vector<std::uint64_t>& numbers) {
  std::deque<message_node> made;
  for (const std::uint64_t n : numbers) {
    made.push_back({nullptr, n});
  }
  return made;
}

std::vector<std::uint64_t> take_numbers(message_list& list) {
  std::vector<std::uint64_t> numbers;
  while (message_node* node = list.pop_front()) {
    numbers.push_back(node->number);
  }
  EXPECT_EQ(list.size(), 0U);
  EXPECT_TRUE(list.empty());
  return numbers;
}

using numbers = std::vector<std::uint64_t>;

TEST(MessageListTest, IsAFifo) {
  auto made = nodes({1, 2, 3});
  message_list list;
  for (message_node& each : made) {
    list.push_back(&each);
  }
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(take_numbers(list), (numbers{1, 2, 3}));
}

TEST(MessageListTest, CanBeUsedAgainWhenItHasRunEmpty) {
  auto made = nodes({1, 2});
  message_list list;
  list.push_back(&made[0]);
  list.pop_front();
  list.push_back(&made[1]);
  EXPECT_EQ(take_numbers(list), numbers{2});
}

TEST(MessageListTest, InsertsWhereTheNumberBelongs) {
  for (const numbers& order :
       {numbers{1, 2, 3}, {3, 2, 1}, {2, 1, 3}, {1, 3, 2}, {3, 1, 2}}) {
    auto made = nodes(order);
    message_list list;
    for (message_node& each : made) {
      list.insert_in_place(&each, nullptr);
    }
    EXPECT_EQ(list.size(), 3U);
    EXPECT_EQ(take_numbers(list), (numbers{1, 2, 3}));
  }
}

TEST(MessageListTest, AHintSavesTheWay) {
  auto made = nodes({1, 5, 9});
  auto gifts = nodes({3, 4, 7, 10});
  message_list list;
  for (message_node& each : made) {
    list.push_back(&each);
  }
  message_node* hint = nullptr;
  for (message_node& each : gifts) {
    list.insert_in_place(&each, hint);
    hint = &each;
  }
  EXPECT_EQ(take_numbers(list), (numbers{1, 3, 4, 5, 7, 9, 10}));
}

TEST(MessageListTest, RemovesFromTheMiddleAndTheEnd) {
  auto made = nodes({1, 2, 3, 4});
  message_list list;
  for (message_node& each : made) {
    list.push_back(&each);
  }
  EXPECT_EQ(list.remove_after(&made[0])->number, 2U);
  EXPECT_EQ(list.remove_after(&made[2])->number, 4U);
  EXPECT_EQ(list.remove_after(nullptr)->number, 1U);
  list.push_back(&made[1]); // the end is where it belongs
  EXPECT_EQ(take_numbers(list), (numbers{3, 2}));
}

TEST(MessageListTest, AppendsAndMovesWholeLists) {
  auto made = nodes({1, 2, 3});
  message_list list;
  message_list more;
  more.push_back(&made[0]);
  more.push_back(&made[1]);
  list.append(std::move(more));
  EXPECT_TRUE(more.empty()); // NOLINT: it gives its nodes away
  list.append(message_list{});
  more.push_back(&made[2]);
  list.append(std::move(more));
  message_list moved = std::move(list);
  EXPECT_TRUE(list.empty()); // NOLINT
  EXPECT_EQ(take_numbers(moved), (numbers{1, 2, 3}));
}

} // namespace
} // namespace wharf::detail

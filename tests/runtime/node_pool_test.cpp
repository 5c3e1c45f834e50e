#include <wharf/detail/node_pool.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace wharf::detail {
namespace {

TEST(NodePoolTest, GivesDistinctMemoryOfEverySize) {
  std::vector<std::pair<void*, std::size_t>> all;
  std::set<void*> distinct;
  for (std::size_t bytes = 1; bytes <= 300; ++bytes) {
    for (int i = 0; i < 5; ++i) {
      void* memory = node_allocate(bytes);
      std::memset(memory, 0x5a, bytes); // a sanitizer sees if it is too small
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignof(void*), 0U);
      all.emplace_back(memory, bytes);
      distinct.insert(memory);
    }
  }
  EXPECT_EQ(distinct.size(), all.size());
  for (const auto& [memory, bytes] : all) {
    node_release(memory, bytes);
  }
}

TEST(NodePoolTest, TakesBackABurst) {
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> burst;
    for (int i = 0; i < 20'000; ++i) {
      burst.push_back(node_allocate(48));
    }
    for (void* each : burst) {
      node_release(each, 48);
    }
  }
}

TEST(NodePoolTest, TakesBackOnAnyThread) {
  std::vector<void*> nodes;
  for (int i = 0; i < 1'000; ++i) {
    nodes.push_back(node_allocate(40));
  }
  std::jthread{[&] {
    for (void* each : nodes) {
      node_release(each, 40);
    }
    node_release(node_allocate(40), 40);
  }}.join();
  node_release(node_allocate(40), 40);
}

} // namespace
} // namespace wharf::detail

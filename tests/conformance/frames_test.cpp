// What a compiler does about frames, stacks and threads: R5 to R8 and R10 of
// the page docs/coroutine-traps.md.

#include "probe.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace conformance {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int many = 50'000;
#else
constexpr int many = 1'000'000;
#endif

/// How far the stack has grown since it was made.
class stack_gauge {
public:
  void look() {
    const std::uintptr_t now = here();
    deepest_ = now < deepest_ ? now : deepest_;
  }
  std::size_t bytes() const { return first_ - deepest_; }

private:
  [[gnu::noinline]] static std::uintptr_t here() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }

  const std::uintptr_t first_ = here();
  std::uintptr_t deepest_ = first_;
};

coro<int> one(stack_gauge& gauge) {
  gauge.look();
  co_return 1;
}
coro<int> ready_children(stack_gauge& gauge) {
  int sum = 0;
  for (int i = 0; i < many; ++i) {
    sum += co_await one(gauge);
  }
  co_return sum;
}

// Goal: R5. A loop over ready children takes no stack where await_suspend
// answers whether there is something to wait for.
TEST(FramesTest, R5ReadyChildrenTakeNoStackWithABoolAwaitSuspend) {
  stack_gauge gauge;
  EXPECT_EQ(finish(ready_children(gauge)), many);
  EXPECT_LT(gauge.bytes(), 16'384U);
}

class numbered {
public:
  class promise_type {
  public:
    promise_type() {} // without it C++20 fills `number` from the arguments
    numbered get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept {
      seen = number;
      return {};
    }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}

    int number = 0;
  };
  inline static int seen = -1;
};
numbered with_arguments(int) {
  co_return;
}

// Goal: R6.
TEST(FramesTest, R6APromiseWithAConstructorIsNotFilledFromTheArguments) {
  with_arguments(7);
  EXPECT_EQ(numbered::seen, 0);
}

coro<int> fundamental_alignment(bool& aligned) {
  alignas(std::max_align_t) std::byte room[32];
  co_await later{1};
  aligned =
      reinterpret_cast<std::uintptr_t>(&room) % alignof(std::max_align_t) == 0;
  co_return 0;
}

// Goal: R7. What is not over-aligned is aligned in a frame; no more is relied
// on.
TEST(FramesTest, R7LocalsOfFundamentalAlignmentAreAligned) {
  for (int i = 0; i < 100; ++i) {
    bool aligned = false;
    finish(fundamental_alignment(aligned));
    EXPECT_TRUE(aligned);
  }
}

thread_local int own = 0;
[[gnu::noinline]] int& own_of_this_thread() {
  return own;
}

/// Goes on in another thread.
struct migrate {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> who) const {
    std::thread{[who] { who.resume(); }}.join();
  }
  void await_resume() const noexcept {}
};

coro<int> looks_twice() {
  own_of_this_thread() = 1;
  co_await migrate{};
  const int there = own_of_this_thread();
  own_of_this_thread() = 2;
  co_return there;
}

// Goal: R8. A thread_local that a function returns is not cached over an await.
TEST(FramesTest, R8AThreadLocalIsLookedUpAnewBehindAFunction) {
  coro<int> one = looks_twice();
  one.start();
  EXPECT_TRUE(one.done());
  EXPECT_EQ(one.result(), 0);
  EXPECT_EQ(own, 1);
}

/// Each of two threads resumes what the other one has suspended.
using slots = std::array<std::atomic<void*>, 2>;

/// Hands the handle to another thread and may be overtaken by it.
class handed_over {
public:
  explicit handed_over(std::atomic<void*>& to) : to_{to} {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> who) {
    to_.store(who.address());
    // The awaiter may be gone from here on.
  }
  void await_resume() const noexcept {}

private:
  std::atomic<void*>& to_;
};

constexpr int rounds = many / 50;

coro<int> overtaken(slots& threads, std::atomic<bool>& over) {
  int sum = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    const tracked local{1};
    co_await handed_over{threads[i % 2]};
    sum += local.value();
  }
  over = true;
  co_return sum;
}

// Goal: R10. Nothing of a frame is written after await_suspend published it.
TEST(FramesTest, R10AResumptionMayOvertakeAwaitSuspend) {
  slots threads{};
  std::atomic<bool> over{false};
  coro<int> one = overtaken(threads, over);
  const auto resume = [&](std::atomic<void*>& mine) {
    while (!over) {
      if (void* const frame = mine.exchange(nullptr)) {
        std::coroutine_handle<>::from_address(frame).resume();
      } else {
        std::this_thread::yield();
      }
    }
  };
  one.start();
  {
    const std::jthread first{resume, std::ref(threads[0])};
    const std::jthread second{resume, std::ref(threads[1])};
  }
  EXPECT_EQ(one.result(), rounds);
}

} // namespace
} // namespace conformance

// The shapes that g++ 12 miscompiles (docs/coroutine-traps.md), with what each
// compiler makes of them. If one of these fails, the page says too much or too
// little about this compiler.

#include "probe.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace conformance {
namespace {

enum class verdict { right, wrong, unknown };

#if defined(__clang__)
constexpr verdict this_compiler = verdict::right;
#elif __GNUC__ == 12
constexpr verdict this_compiler = verdict::wrong;
#else
constexpr verdict this_compiler = verdict::unknown;
#endif

struct aggregate {
  tracked first;
  int second = 0;
};

coro<int> take_aggregate(aggregate a) {
  co_return co_await later{1} + a.first.value();
}
template <class F>
coro<int> call(F f) {
  co_return co_await later{1} + f();
}

class TrapsTest : public ::testing::Test {
protected:
  void SetUp() override { tracked::reset(); }

  /// Each object is to be destroyed once; wrong compilers do it twice.
  static void expect_verdict(int value) {
    EXPECT_EQ(value, 8);
    switch (this_compiler) {
    case verdict::right:
      EXPECT_EQ(tracked::balance(), 0);
      break;
    case verdict::wrong:
      EXPECT_LT(tracked::balance(), 0) << "this shape is sound now";
      break;
    case verdict::unknown:
      if (tracked::balance() != 0) {
        GTEST_SKIP() << "miscompiled by this compiler, too";
      }
    }
  }
};

// Goal: R1a, a temporary lambda that captures an object by value.

coro<int> lambda_to_coroutine(tracked t) {
  co_return co_await call([t] { return t.value(); });
}
TEST_F(TrapsTest, R1aALambdaAsArgumentOfACoroutine) {
  const int value = finish(lambda_to_coroutine(tracked{7}));
  expect_verdict(value);
}

template <class F>
later<int> through(const F& f) {
  return later{1 + f()};
}
coro<int> lambda_to_function(tracked t) {
  co_return co_await through([t] { return t.value(); });
}
TEST_F(TrapsTest, R1aALambdaAsArgumentOfAFunction) {
  const int value = finish(lambda_to_function(tracked{7}));
  expect_verdict(value);
}

coro<int> named_lambda(tracked t) {
  const auto f = [t] { return t.value(); };
  co_return co_await call(f);
}
TEST_F(TrapsTest, R1aWithANameIsSound) {
  const int value = finish(named_lambda(tracked{7}));
  EXPECT_EQ(value, 8);
  EXPECT_EQ(tracked::balance(), 0);
}

coro<int> shared_count(std::shared_ptr<int> p) {
  co_return co_await call([p] { return *p; });
}
TEST_F(TrapsTest, R1aSharesTooLittle) {
  const auto p = std::make_shared<int>(7);
  const std::shared_ptr<int> keeps_it = p; // the count may go one too low
  EXPECT_EQ(finish(shared_count(p)), 8);
  if (this_compiler != verdict::unknown) {
    EXPECT_EQ(p.use_count(), this_compiler == verdict::right ? 2 : 1);
  }
  if (p.use_count() == 1) {
    // The missing count, held by one that is never destroyed.
    alignas(std::shared_ptr<int>) std::byte room[sizeof(std::shared_ptr<int>)];
    new (room) std::shared_ptr<int>{p};
  }
}

coro<int> scalars_captured(int n) {
  co_return co_await call([n, &n2 = n] { return n2 + n - n; });
}
TEST_F(TrapsTest, R1aWithNumbersAndReferencesIsSound) {
  EXPECT_EQ(finish(scalars_captured(7)), 8);
}

// Goal: R1b, a brace-built aggregate as a temporary.

coro<int> aggregate_temporary() {
  co_return co_await take_aggregate(aggregate{.first = tracked{7}});
}
TEST_F(TrapsTest, R1bAnAggregateAsArgument) {
  const int value = finish(aggregate_temporary());
  expect_verdict(value);
}

coro<int> take_array(std::array<tracked, 2> a) {
  co_return co_await later{1} + a[0].value() + a[1].value();
}
coro<int> array_temporary() {
  co_return co_await take_array(std::array<tracked, 2>{tracked{3}, tracked{4}});
}
TEST_F(TrapsTest, R1bAnArrayAsArgument) {
  const int value = finish(array_temporary());
  expect_verdict(value);
}

coro<int> named_aggregate() {
  aggregate a{.first = tracked{7}};
  co_return co_await take_aggregate(std::move(a));
}
TEST_F(TrapsTest, R1bWithANameIsSound) {
  EXPECT_EQ(finish(named_aggregate()), 8);
  EXPECT_EQ(tracked::balance(), 0);
}

class constructed {
public:
  explicit constructed(tracked t) : first_{std::move(t)} {}
  int value() const { return first_.value(); }

private:
  tracked first_;
};
coro<int> take_constructed(constructed c) {
  co_return co_await later{1} + c.value();
}
coro<int> constructed_temporary() {
  co_return co_await take_constructed(constructed{tracked{7}});
}
TEST_F(TrapsTest, R1bWithAConstructorIsSound) {
  EXPECT_EQ(finish(constructed_temporary()), 8);
  EXPECT_EQ(tracked::balance(), 0);
}

// Goal: R1c, co_await inside braces.

coro<int> await_in_braces() {
  aggregate a{co_await later{tracked{7}}, 1};
  co_return a.first.value() + a.second;
}
TEST_F(TrapsTest, R1cAnAwaitInBraces) {
  const int value = finish(await_in_braces());
  expect_verdict(value);
}

coro<int> await_before_braces() {
  tracked first = co_await later{tracked{7}};
  aggregate a{std::move(first), 1};
  co_return a.first.value() + a.second;
}
TEST_F(TrapsTest, R1cWithANameIsSound) {
  EXPECT_EQ(finish(await_before_braces()), 8);
  EXPECT_EQ(tracked::balance(), 0);
}

// Goal: R2, a conditional of class type.

coro<int> conditional(bool asks) {
  tracked t = asks ? co_await later{tracked{8}} : tracked{0};
  co_return t.value();
}
TEST_F(TrapsTest, R2AConditionalObject) {
  const int value = finish(conditional(true));
  expect_verdict(value);
}

coro<int> if_and_else(bool asks) {
  tracked t;
  if (asks) {
    t = co_await later{tracked{8}};
  } else {
    t = tracked{0};
  }
  co_return t.value();
}
TEST_F(TrapsTest, R2WithIfAndElseIsSound) {
  EXPECT_EQ(finish(if_and_else(true)), 8);
  EXPECT_EQ(tracked::balance(), 0);
}

coro<int> conditional_numbers(bool asks) {
  co_return asks ? co_await later{8} : 0;
}
TEST_F(TrapsTest, R2WithNumbersIsSound) {
  EXPECT_EQ(finish(conditional_numbers(true)), 8);
}

// Goal: R12, an await of a temporary in a condition, in a coroutine without a
// local variable: nothing of its body is left.

std::string seen;

/// A coroutine that is resumed once. A frame without a body can't be destroyed.
struct bare {
  struct promise_type {
    promise_type() {}
    bare get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  void run() {
    frame.resume();
    if (frame.done()) {
      frame.destroy();
    }
  }
  std::coroutine_handle<promise_type> frame;
};
struct one {
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) noexcept {}
  int await_resume() { return 1; }
};

bare in_a_condition() {
  if (co_await one{} == 1) {
    seen += "if ";
  }
  seen += "end";
}
// In a process of its own: what is run is no function any more.
TEST_F(TrapsTest, R12AnAwaitInACondition) {
  bool sound = false;
  const auto as_told = [&](int status) {
    sound = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return this_compiler == verdict::unknown ||
           sound == (this_compiler == verdict::right);
  };
  const auto run = [] {
    seen.clear();
    in_a_condition().run();
    std::exit(seen == "if end" ? 0 : 1);
  };
  EXPECT_EXIT(run(), as_told, "");
  if (this_compiler == verdict::unknown && !sound) {
    GTEST_SKIP() << "miscompiled by this compiler, too";
  }
}

coro<int> before_a_condition() {
  const int n = co_await later{1};
  if (n == 1) {
    seen += "if ";
  }
  seen += "end";
  co_return 8;
}
TEST_F(TrapsTest, R12WithANameIsSound) {
  seen.clear();
  EXPECT_EQ(finish(before_a_condition()), 8);
  EXPECT_EQ(seen, "if end");
}

} // namespace
} // namespace conformance

#include <wharf/ask.hpp>

#include <wharf/wharf.hpp>

#include "support/counted.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf {
namespace {

using namespace std::chrono_literals;
using test::counted;
using test::test_dispatcher;

struct query {
  std::string text;
  reply<std::string> answer;
};
struct stop {};

class length_of {
public:
  using answer_type = std::size_t;
  explicit length_of(std::string text, reply<std::size_t> answer)
      : text_{std::move(text)}, answer_{std::move(answer)} {}
  void serve() { answer_.post(text_.size()); }

private:
  std::string text_;
  reply<std::size_t> answer_;
};

struct bare {
  reply<std::unique_ptr<int>> answer;
};
struct with_more {
  int a;
  double b;
  reply<std::pair<int, double>> answer;
  int c = 3;
  std::vector<int> d = {};
};

// How a question names its answer.
template <class Query, class... Args>
using answer_of = typename decltype(detail::answer_of<Query, Args...>())::type;
static_assert(std::same_as<answer_of<query, const char*>, std::string>);
static_assert(std::same_as<answer_of<length_of, std::string>, std::size_t>);
static_assert(std::same_as<answer_of<bare>, std::unique_ptr<int>>);
static_assert(
    std::same_as<answer_of<with_more, int, double>, std::pair<int, double>>);
static_assert(std::same_as<
              decltype(ask<query>(std::declval<const port<query>&>(), 1s, "x")),
              task<std::string>>);
static_assert(
    std::same_as<decltype(ask<query>(std::declval<const port<query>&>(), "x")),
                 task<std::string>>);

/// What the asker got, in words.
task<void> note(std::string& what, task<std::string> asking) {
  try {
    what = co_await std::move(asking);
  } catch (const timed_out& error) {
    what = std::string{"timed out: "} + error.what();
  } catch (const unanswered&) {
    what = "unanswered";
  } catch (const port_closed& error) {
    what = std::string{"closed: "} + error.what();
  } catch (const cancelled&) {
    what = "cancelled";
  } catch (const std::exception& error) {
    what = std::string{"failed: "} + error.what();
  }
}

class AskTest : public ::testing::Test {
protected:
  test_dispatcher world;
  dispatcher_queue queue{world};
  port<query> service{"service"};
  std::string got;
};

TEST_F(AskTest, GivesTheAnswer) {
  activate(queue, receive(persist, service,
                          [](query q) { q.answer.post(q.text + '!'); }));
  spawn(queue, note(got, ask<query>(service, 300ms, "hello")));
  world.run_all();
  EXPECT_EQ(got, "hello!");
  spawn(queue, note(got, ask<query>(service, "for ever")));
  world.run_all();
  EXPECT_EQ(got, "for ever!");
  EXPECT_EQ(world.pending_timers(), 0U);
}

TEST_F(AskTest, AsksAPortSetOrWhatDerivesFromOne) {
  class component : public port_set<stop, query> {};
  const component whole;
  activate(queue, receive(persist, whole.get<query>(),
                          [](query q) { q.answer.post(q.text); }));
  spawn(queue, note(got, ask<query>(whole, 1s, "set")));
  world.run_all();
  EXPECT_EQ(got, "set");
}

TEST_F(AskTest, PostsWhenItIsAwaitedAndNotBefore) {
  {
    const task<std::string> never = ask<query>(service, 1s, "never awaited");
    EXPECT_TRUE(service.empty());
    EXPECT_EQ(world.pending_timers(), 0U);
  }
  spawn(queue, note(got, ask<query>(service, 1s, "now")));
  world.run_all();
  EXPECT_EQ(service.size(), 1U);
}

task<std::string> several(port<length_of> lengths, port<bare> bares,
                          port<with_more> mores) {
  const std::size_t n =
      co_await ask<length_of>(lengths, 1s, "longer than a small string is");
  const auto five = co_await ask<bare>(bares);
  const auto [a, b] = co_await ask<with_more>(mores, 1s, 1, 2.5);
  co_return std::to_string(n) + ' ' + std::to_string(*five) + ' ' +
      std::to_string(a) + ' ' + std::to_string(static_cast<int>(b * 10));
}

TEST_F(AskTest, QuestionsOfEveryShape) {
  port<length_of> lengths;
  port<bare> bares;
  port<with_more> mores;
  activate(queue, receive(lengths, [](length_of q) { q.serve(); }));
  activate(queue, receive(bares, [](bare q) {
             q.answer.post(std::make_unique<int>(5));
           }));
  activate(queue, receive(mores, [](with_more q) {
             q.answer.post({q.a + q.c, q.b});
           }));
  spawn(queue, note(got, several(lengths, bares, mores)));
  world.run_all();
  EXPECT_EQ(got, "29 5 4 25");
}

TEST_F(AskTest, ThrowsWhatTheServiceFailedWith) {
  activate(queue, receive(service, [](query q) {
             q.answer.fail(std::runtime_error{"no such document"});
           }));
  spawn(queue, note(got, ask<query>(service, 1s, "x")));
  world.run_all();
  EXPECT_EQ(got, "failed: no such document");
}

TEST_F(AskTest, ThrowsUnansweredIfTheServiceDropsTheReply) {
  activate(queue, receive(service, [](query) {}));
  spawn(queue, note(got, ask<query>(service, 1s, "x")));
  world.run_all();
  EXPECT_EQ(got, "unanswered");
  spawn(queue, note(got, ask<query>(service, "nobody listens")));
  world.run_all();
  got.clear();
  service.clear();
  world.run_all();
  EXPECT_EQ(got, "unanswered");
}

TEST_F(AskTest, ThrowsPortClosedIfTheServiceRefuses) {
  service.close();
  spawn(queue, note(got, ask<query>(service, 1s, "x")));
  world.run_all();
  EXPECT_EQ(got, "closed: ask: service is closed");
}

TEST_F(AskTest, ThrowsTimedOutAtItsDeadline) {
  spawn(queue, note(got, ask<query>(service, 300ms, "x")));
  world.run_all();
  world.advance(299ms);
  world.run_all();
  EXPECT_EQ(got, "");
  world.advance(1ms);
  world.run_all();
  EXPECT_EQ(got, "timed out: ask: service did not answer in time");
}

TEST_F(AskTest, ADeadlineThatIsNoNumberIsMisuse) {
  EXPECT_THROW((void)ask<query>(service,
                                std::chrono::duration<double>{
                                    std::numeric_limits<double>::quiet_NaN()},
                                "x"),
               std::invalid_argument);
}

TEST_F(AskTest, AHugeDeadlineIsNoDeadline) {
  spawn(queue, note(got, ask<query>(service, std::chrono::hours::max(), "x")));
  world.run_all();
  world.advance(24h * 365 * 100);
  world.run_all();
  EXPECT_EQ(got, "");
}

task<void> ask_twice(port<query> service, std::vector<std::string>& got) {
  for (const char* text : {"first", "second"}) {
    try {
      got.push_back(co_await ask<query>(service, 300ms, text));
    } catch (const timed_out&) {
      got.push_back("timed out");
    }
  }
}

TEST_F(AskTest, ALateAnswerDoesNotReachTheNextQuestion) {
  std::vector<std::string> both;
  spawn(queue, ask_twice(service, both));
  world.run_all();
  std::optional<query> first = service.try_take();
  world.advance(300ms);
  world.run_all(); // the second question has been posted
  std::optional<query> second = service.try_take();
  ASSERT_TRUE(first.has_value());
  ASSERT_TRUE(second.has_value());
  EXPECT_FALSE(first->answer.post("late")); // the service can see it
  world.run_all();
  EXPECT_EQ(both, (std::vector<std::string>{"timed out"}));
  EXPECT_TRUE(second->answer.post("in time"));
  world.run_all();
  EXPECT_EQ(both, (std::vector<std::string>{"timed out", "in time"}));
}

TEST_F(AskTest, IsCutShortByACancel) {
  activation asking = spawn(queue, note(got, ask<query>(service, 1h, "x")));
  world.run_all();
  asking.cancel();
  world.run_all();
  EXPECT_EQ(got, "cancelled");
  EXPECT_EQ(world.pending_timers(), 0U);
  EXPECT_FALSE(service.try_take()->answer.post("too late"));
}

struct tracked_query {
  counted body;
  reply<counted> answer;
};

task<int> sum(port<tracked_query> service, int rounds) {
  int total = 0;
  for (int i = 0; i < rounds; ++i) {
    const counted answer =
        co_await ask<tracked_query>(service, 10s, counted{i});
    total += answer.value;
  }
  co_return total;
}

TEST(AskThreadsTest, QuestionsAndAnswersBetweenThreads) {
  {
    dispatcher pool{{.threads = 4}};
    dispatcher_queue queue{pool};
    port<tracked_query> service;
    activate(queue, receive(persist, service, [](tracked_query q) {
               q.answer.post(counted{q.body.value + 1});
             }));
    const auto [a, b] =
        sync_wait(queue, when_all(sum(service, 500), sum(service, 500)));
    EXPECT_EQ(a, 500 * 501 / 2);
    EXPECT_EQ(b, 500 * 501 / 2);
  }
  EXPECT_EQ(counted::live(), 0);
}

} // namespace
} // namespace wharf

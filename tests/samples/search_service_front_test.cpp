#include "search_service/front.hpp"

#include "search_service_wharf_support.hpp"

#include <wharf/causality.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace search_service {
namespace {

using namespace std::chrono_literals;
using test::ledger;
using test::world;

// Three shards, each on a queue of its own, which is its gate: while it is
// suspended the shard answers nobody.
struct front_world : world, ledger {
  front_world() {
    for (int i = 0; i < 3; ++i) {
      gates.push_back(std::make_unique<wharf::dispatcher_queue>(pool, "shard"));
      shards.push_back(create_shard(*gates.back()));
    }
    for (std::size_t i = 0; i < 9; ++i) {
      shards[i % 3].post(
          merge{count_words("doc" + std::to_string(i), "port"), claim()});
    }
    pool.drain();
    for (int i = 0; i < 4; ++i) {
      tokens.post(load_token{});
    }
    loader = create_loader(
        queue, {.tokens = tokens, .shards = shards, .read = [](const auto&) {
                  return file_content{read_outcome::complete, "a port", {}};
                }});
  }

  front_port make_front(std::chrono::milliseconds step_time,
                        std::size_t searches_max = 16) {
    return create_front(queue, {.shards = shards,
                                .loader = loader,
                                .step_time = step_time,
                                .searches_max = searches_max});
  }

  // Posts a search; the answer comes to the port.
  static wharf::port<search_answer> ask(front_port front, std::string text,
                                        std::size_t limit = 10) {
    wharf::port<search_answer> answer;
    front.post(search{{std::move(text), limit},
                      std::chrono::steady_clock::now(),
                      test::reply_to(answer)});
    return answer;
  }

  std::vector<std::unique_ptr<wharf::dispatcher_queue>> gates;
  std::vector<shard_port> shards;
  wharf::port<load_token> tokens;
  loader_port loader;
};

TEST(SearchServiceFrontTest, AnswerIsGatheredFromAllShards) {
  front_world w;
  const search_answer answer = w.take(w.ask(w.make_front(1h), "Port!", 100));
  EXPECT_EQ(answer.query, "Port!");
  EXPECT_FALSE(answer.partial);
  EXPECT_EQ(answer.total, 9u);
  std::set<std::string> paths;
  for (const search_result& result : answer.results) {
    paths.insert(result.path);
    EXPECT_EQ(result.snippet, "a <mark>port</mark>");
    EXPECT_GT(result.score, 0);
  }
  EXPECT_EQ(paths.size(), 9u);
}

TEST(SearchServiceFrontTest, LimitHoldsOverAllShards) {
  front_world w;
  const search_answer answer = w.take(w.ask(w.make_front(1h), "port", 4));
  EXPECT_EQ(answer.total, 9u);
  EXPECT_EQ(answer.results.size(), 4u);
}

// The heart of it: one shard is held by its gate, and the others' answer comes
// when the time is over and says that it is partial. With the gate open, the
// same question gets the full answer.
TEST(SearchServiceFrontTest, LateShardMakesTheAnswerPartialAndIsBackLater) {
  front_world w;
  w.gates[1]->suspend();
  const search_answer partial = w.take(w.ask(w.make_front(20ms), "port"));
  EXPECT_TRUE(partial.partial);
  EXPECT_EQ(partial.total, 6u);
  EXPECT_EQ(partial.results.size(), 6u);

  w.gates[1]->resume();
  const search_answer full = w.take(w.ask(w.make_front(1h), "port"));
  EXPECT_FALSE(full.partial);
  EXPECT_EQ(full.total, 9u);
}

TEST(SearchServiceFrontTest, ShardThatIsLateButInTimeIsWaitedFor) {
  front_world w;
  w.gates[1]->suspend();
  const auto reply = w.ask(w.make_front(1h), "port");
  w.gates[1]->resume();
  const search_answer full = w.take(reply);
  EXPECT_FALSE(full.partial);
  EXPECT_EQ(full.total, 9u);
}

TEST(SearchServiceFrontTest, StoppedShardIsNotWaitedFor) {
  front_world w;
  w.stop(w.shards[0]);
  const search_answer answer = w.take(w.ask(w.make_front(1h), "port"));
  EXPECT_TRUE(answer.partial);
  EXPECT_EQ(answer.total, 6u);
}

TEST(SearchServiceFrontTest, WithoutAnyShardTheAnswerIsEmptyAndPartial) {
  front_world w;
  for (const shard_port& shard : w.shards) {
    w.stop(shard);
  }
  const search_answer answer = w.take(w.ask(w.make_front(1h), "port"));
  EXPECT_TRUE(answer.partial);
  EXPECT_EQ(answer.total, 0u);
}

TEST(SearchServiceFrontTest, LateSnippetIsLeftOut) {
  front_world w;
  w.loader = loader_port{}; // where nobody answers
  const search_answer answer = w.take(w.ask(w.make_front(20ms), "port"));
  EXPECT_FALSE(answer.partial);
  EXPECT_EQ(answer.results.size(), 9u);
  EXPECT_EQ(answer.results.at(0).snippet, "");
}

TEST(SearchServiceFrontTest, QueryWithoutAWordFindsNothing) {
  front_world w;
  const search_answer answer = w.take(w.ask(w.make_front(1h), "?!"));
  EXPECT_FALSE(answer.partial);
  EXPECT_EQ(answer.total, 0u);
}

TEST(SearchServiceFrontTest, SearchesBeyondTheLimitWaitAndAreAllAnswered) {
  front_world w;
  front_port front = w.make_front(1h, 2);
  w.gates[0]->suspend();
  std::vector<wharf::port<search_answer>> replies;
  for (int i = 0; i < 50; ++i) {
    replies.push_back(w.ask(front, "port"));
  }
  w.pool.drain(); // a queue that is suspended does not count
  EXPECT_EQ(front.get<search>().size(), 48u);
  w.gates[0]->resume();
  for (const auto& reply : replies) {
    EXPECT_FALSE(w.take(reply).partial);
  }
}

TEST(SearchServiceFrontTest, StopEndsSearchesUnanswered) {
  front_world w;
  front_port front = w.make_front(1h, 1);
  w.gates[0]->suspend();
  const auto running = w.ask(front, "port");
  const auto waiting = w.ask(front, "port");
  w.pool.drain(); // the first is under way
  EXPECT_EQ(front.get<search>().size(), 1u);
  w.stop(front); // waits for nobody
  EXPECT_TRUE(front.get<search>().closed());
  w.gates[0]->resume();
  w.pool.drain();
  EXPECT_TRUE(running.empty());
  EXPECT_TRUE(waiting.empty());
}

TEST(SearchServiceFrontTest, SearchThatFailsIsDroppedAndCostsNoSlot) {
  front_world w;
  wharf::port<std::exception_ptr> failures{"failures"};
  w.queue.on_failure(failures);
  // A snippet for a result that nobody has.
  w.loader = loader_port{};
  wharf::activate(w.own,
                  wharf::receive(wharf::persist, w.loader.get<ask_snippet>(),
                                 [](ask_snippet asked) {
                                   asked.reply.post(snippet_answer{99, ""});
                                 }));
  front_port front = w.make_front(1h, 1);
  for (int i = 0; i < 3; ++i) {
    wharf::port_set<search_answer, std::exception_ptr> answer;
    front.post(search{{"port", 10}, {}, wharf::reply{answer}});
    EXPECT_TRUE(w.take(answer.get<std::exception_ptr>()));
    EXPECT_TRUE(w.take(failures));
  }
}

// The slot that a search used is everybody's.
TEST(SearchServiceFrontTest, SlotCarriesNothingOfTheSearchThatUsedIt) {
  front_world w;
  wharf::port<std::exception_ptr> failures{"failures"};
  wharf::port<std::exception_ptr> faults{"faults of a request"};
  w.queue.on_failure(failures);
  w.loader = loader_port{};
  front_port front = w.make_front(1h, 1);
  {
    const wharf::causality request{"request", faults};
    const wharf::causality_scope scope{request};
    w.take(w.ask(front, "nobody has this word"));
  }
  wharf::activate(w.own,
                  wharf::receive(wharf::persist, w.loader.get<ask_snippet>(),
                                 [](ask_snippet asked) {
                                   asked.reply.post(snippet_answer{99, ""});
                                 }));
  w.ask(front, "port"); // fails, for no request
  EXPECT_TRUE(w.take(failures));
  EXPECT_TRUE(faults.empty());
}

} // namespace
} // namespace search_service

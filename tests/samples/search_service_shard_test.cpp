#include "search_service/shard.hpp"

#include "search_service_wharf_support.hpp"

#include <gtest/gtest.h>

#include <string>

namespace search_service {
namespace {

using test::ledger;
using test::share;
using test::world;

struct shard_world : world, ledger {
  void add(const std::string& path, std::string_view text) {
    shard.post(merge{count_words(path, text), claim()});
  }

  collection_statistics ask_about(const shared_words& words) {
    wharf::port<shard_statistics> reply;
    shard.post(ask_statistics{words, 3, test::reply_to(reply)});
    const shard_statistics answer = take(reply);
    EXPECT_EQ(answer.shard, 3u);
    return answer.part;
  }

  shard_port shard{create_shard(queue)};
};

TEST(SearchServiceShardTest, DocumentIsSettledOnceItCanBeFound) {
  shard_world w;
  w.add("a.txt", "a port of call");
  const file_settled settled = w.take(w.settled);
  EXPECT_EQ(settled.outcome, file_outcome::indexed);
  EXPECT_EQ(settled.words, 4);
  EXPECT_EQ(settled.documents, 1);

  const shared_words words = share({"port"});
  const collection_statistics statistics = w.ask_about(words);
  EXPECT_EQ(statistics.documents, 1u);
  EXPECT_EQ(statistics.containing.at(0), 1u);

  wharf::port<ranking> reply;
  w.shard.post(ask_ranking{words,
                           std::make_shared<collection_statistics>(statistics),
                           10, test::reply_to(reply)});
  const ranking found = w.take(reply);
  EXPECT_EQ(found.total, 1u);
  EXPECT_EQ(found.best.at(0).path, "a.txt");
}

TEST(SearchServiceShardTest, QuestionThatFailsIsDroppedAndReported) {
  shard_world w;
  wharf::port<std::exception_ptr> failures;
  w.queue.on_failure(failures);
  w.add("a.txt", "port");
  wharf::port_set<ranking, std::exception_ptr> reply;
  // Statistics for no word at all, where one is asked for.
  const auto none = std::make_shared<collection_statistics>();
  w.shard.post(ask_ranking{share({"port"}), none, 10, wharf::reply{reply}});
  EXPECT_TRUE(w.take(reply.get<std::exception_ptr>()));
  EXPECT_TRUE(w.take(failures));
}

TEST(SearchServiceShardTest, StopDropsTheDocumentsThatWait) {
  shard_world w;
  w.queue.suspend();
  w.add("a.txt", "port");
  w.add("b.txt", "port");
  wharf::port<stopped> reply;
  w.shard.post(stop{reply});
  w.queue.resume();
  w.take(reply);
  w.pool.drain();
  const auto settled = w.settled.try_take_all();
  EXPECT_EQ(w.count(settled, file_outcome::dropped), 2u);
  EXPECT_FALSE(w.shard.post(merge{document{}, w.claim()}));
}

} // namespace
} // namespace search_service

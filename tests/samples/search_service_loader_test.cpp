#include "search_service/loader.hpp"

#include "search_service_wharf_support.hpp"

#include <wharf/causality.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

namespace search_service {
namespace {

using test::ledger;
using test::world;

file_content bytes(std::string content) {
  return {read_outcome::complete, std::move(content), {}};
}

// A loader that reads what the test says, in front of a port of merges that
// nobody takes but the test.
struct loader_world : world, ledger {
  explicit loader_world(std::size_t loads_max,
                        decltype(loader_options::read) read)
      : loads{loads_max} {
    for (std::size_t i = 0; i < loads; ++i) {
      tokens.post(load_token{});
    }
    loader = create_loader(
        queue, {.tokens = tokens, .shards = {shard}, .read = std::move(read)});
  }

  void load(const std::string& path) {
    loader.post(load_file{path, judge_name(path), claim()});
  }

  std::vector<std::string> merged_paths() {
    std::vector<std::string> paths;
    for (merge& each : shard.get<merge>().try_take_all()) {
      paths.push_back(each.added.path);
    }
    return paths;
  }

  std::size_t loads;
  wharf::port<load_token> tokens{"tokens"};
  shard_port shard;
  loader_port loader;
};

TEST(SearchServiceLoaderTest, FileArrivesAtItsShardWithItsWordsCounted) {
  loader_world w{1, [](const auto&) { return bytes("<p>One two one"); }};
  w.load("a.html");
  const merge merged = w.take(w.shard.get<merge>());
  EXPECT_EQ(merged.added.path, "a.html");
  EXPECT_EQ(merged.added.length, 3u);
  EXPECT_EQ(merged.added.terms.size(), 2u);
}

// Goal: as many loads as there are tokens run at once, and never one more.
// Method: the first three reads wait for each other, which they could not if
// fewer ran; all reads count themselves in and out.
TEST(SearchServiceLoaderTest, RunsAsManyLoadsAsThereAreTokensAndNoMore) {
  constexpr int loads = 3;
  constexpr int files = 200;
  std::latch all_inside{loads};
  std::atomic<int> started{0};
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  loader_world w{loads, [&](const auto&) {
                   const int now = ++inside;
                   int seen = most;
                   while (now > seen &&
                          !most.compare_exchange_weak(seen, now)) {
                   }
                   if (++started <= loads) {
                     all_inside.arrive_and_wait();
                   }
                   --inside;
                   return bytes("words");
                 }};
  for (int i = 0; i < files; ++i) {
    w.load("f" + std::to_string(i) + ".txt");
  }
  w.pool.drain();
  EXPECT_EQ(started, files);
  EXPECT_EQ(most, loads);
  EXPECT_EQ(w.merged_paths().size(), std::size_t{files});
}

TEST(SearchServiceLoaderTest, FileThatFailsCostsItselfOnly) {
  loader_world w{2, [](const std::filesystem::path& path) -> file_content {
                   if (path == "unreadable.txt") {
                     return {
                         read_outcome::failed,
                         {},
                         std::make_error_code(std::errc::permission_denied)};
                   }
                   if (path == "throws.txt") {
                     throw std::runtime_error{"thrown on purpose"};
                   }
                   return bytes("words");
                 }};
  for (const char* path :
       {"a.txt", "unreadable.txt", "b.txt", "throws.txt", "c.txt"}) {
    w.load(path);
  }
  w.pool.drain();
  EXPECT_EQ(w.merged_paths().size(), 3u);
  const auto settled = w.settled.try_take_all();
  EXPECT_EQ(w.count(settled, file_outcome::failed), 2u);
  EXPECT_EQ(w.pool.unhandled_failures(), 0u);
}

TEST(SearchServiceLoaderTest, FailureIsNotedWithFileAndReason) {
  loader_world w{1, [](const auto&) -> file_content {
                   return {read_outcome::failed,
                           {},
                           std::make_error_code(std::errc::permission_denied)};
                 }};
  w.load("dir/a.txt");
  const file_settled settled = w.take(w.settled);
  EXPECT_EQ(settled.note, "dir/a.txt can't be read: Permission denied");
}

TEST(SearchServiceLoaderTest, EveryTokenComesHome) {
  loader_world w{4, [](const std::filesystem::path& path) -> file_content {
                   if (path == "2.txt") {
                     throw std::runtime_error{"thrown on purpose"};
                   }
                   return path == "3.txt"
                              ? file_content{read_outcome::special, {}, {}}
                              : bytes("words");
                 }};
  for (int i = 0; i < 20; ++i) {
    w.load(std::to_string(i) + ".txt");
  }
  w.pool.drain();
  EXPECT_EQ(w.tokens.size(), 4u);
}

TEST(SearchServiceLoaderTest, WhatIsNoTextSettlesAsSkipped) {
  loader_world w{1, [](const std::filesystem::path& path) -> file_content {
                   if (path == "big.txt") {
                     return {read_outcome::too_large, {}, {}};
                   }
                   if (path == "pipe.txt") {
                     return {read_outcome::special, {}, {}};
                   }
                   return bytes(std::string("\0binary", 7));
                 }};
  w.load("fake.txt");
  w.load("big.txt");
  w.load("pipe.txt");
  w.pool.drain();
  const auto settled = w.settled.try_take_all();
  EXPECT_EQ(w.count(settled, file_outcome::binary), 1u);
  EXPECT_EQ(w.count(settled, file_outcome::too_large), 1u);
  EXPECT_EQ(w.count(settled, file_outcome::special), 1u);
  EXPECT_TRUE(w.merged_paths().empty());
}

TEST(SearchServiceLoaderTest, ShrinkingFileIsIndexedAndSaidToBeUnsteady) {
  loader_world w{1, [](const auto&) -> file_content {
                   return {read_outcome::unsteady, "what was left", {}};
                 }};
  w.load("a.txt");
  const merge merged = w.take(w.shard.get<merge>());
  EXPECT_TRUE(merged.added.unsteady);
  EXPECT_EQ(merged.added.length, 3u);
}

TEST(SearchServiceLoaderTest, SameFileAlwaysGoesToTheSameShard) {
  world w;
  wharf::port<load_token> tokens;
  tokens.post(load_token{});
  std::vector<shard_port> shards(4);
  loader_port loader = create_loader(
      w.queue, {.tokens = tokens, .shards = shards, .read = [](const auto&) {
                  return bytes("words");
                }});
  ledger files;
  for (int i = 0; i < 8; ++i) {
    loader.post(load_file{"a.txt", judge_name("a.txt"), files.claim()});
  }
  w.pool.drain();
  std::size_t used = 0;
  for (const shard_port& shard : shards) {
    used += shard.get<merge>().empty() ? 0 : 1;
  }
  EXPECT_EQ(used, 1u);
}

TEST(SearchServiceLoaderTest, SnippetIsMadeOfTheFile) {
  loader_world w{1, [](const auto&) { return bytes("a <b>Port</b> & more"); }};
  wharf::port<snippet_answer> reply;
  w.loader.post(
      ask_snippet{"a.html", test::share({"port"}), 7, test::reply_to(reply)});
  const snippet_answer answer = w.take(reply);
  EXPECT_EQ(answer.place, 7u);
  EXPECT_EQ(answer.html, "a <mark>Port</mark> &amp; more");
}

TEST(SearchServiceLoaderTest, SnippetOfAFileThatIsGoneIsEmpty) {
  loader_world w{1, [](const auto&) -> file_content {
                   return {read_outcome::failed, {}, {}};
                 }};
  wharf::port<snippet_answer> reply;
  w.loader.post(
      ask_snippet{"gone.txt", test::share({"port"}), 0, test::reply_to(reply)});
  EXPECT_EQ(w.take(reply).html, "");
}

// A request's causality ends where its work does; the token that it used is
// everybody's.
TEST(SearchServiceLoaderTest, TokenCarriesNothingOfTheSearchThatUsedIt) {
  loader_world w{1, [](const std::filesystem::path& path) -> file_content {
                   if (path == "bad.txt") {
                     throw 7; // nothing that a load expects
                   }
                   return bytes("words");
                 }};
  wharf::port<std::exception_ptr> failures{"failures"};
  wharf::port<std::exception_ptr> faults{"faults of a request"};
  wharf::port<snippet_answer> reply;
  w.queue.on_failure(failures);
  {
    const wharf::causality request{"request", faults};
    const wharf::causality_scope scope{request};
    w.loader.post(
        ask_snippet{"a.txt", test::share({"port"}), 0, test::reply_to(reply)});
  }
  w.take(reply);
  w.load("bad.txt");
  EXPECT_TRUE(w.take(failures));
  EXPECT_TRUE(faults.empty());
}

// While the only token is out, files and snippets come to wait, the files
// first.
TEST(SearchServiceLoaderTest, SnippetsAndFilesTakeTurns) {
  std::promise<void> entered;
  std::promise<void> gate;
  std::vector<std::string> order; // one token: one read at a time
  loader_world w{1, [&](const std::filesystem::path& path) {
                   order.push_back(path.string());
                   if (path == "file 0") {
                     entered.set_value();
                     gate.get_future().wait();
                   }
                   return bytes("words");
                 }};
  w.load("file 0");
  entered.get_future().wait();
  wharf::port<snippet_answer> reply;
  for (const char* number : {"1", "2", "3"}) {
    w.load(std::string{"file "} + number);
  }
  for (const char* number : {"1", "2"}) {
    w.loader.post(ask_snippet{std::string{"snippet "} + number,
                              test::share({"port"}), 0, test::reply_to(reply)});
  }
  gate.set_value();
  w.pool.drain();
  EXPECT_EQ(order, (std::vector<std::string>{"file 0", "snippet 1", "file 1",
                                             "snippet 2", "file 2", "file 3"}));
}

TEST(SearchServiceLoaderTest, StopFinishesRunningLoadsAndDropsTheRest) {
  std::promise<void> entered;
  std::promise<void> gate;
  loader_world w{1, [&](const auto&) {
                   entered.set_value();
                   gate.get_future().wait();
                   return bytes("words");
                 }};
  w.load("running.txt");
  entered.get_future().wait();
  for (int i = 0; i < 9; ++i) {
    w.load("waiting.txt");
  }
  wharf::port<stopped> reply;
  w.loader.post(stop{reply});
  gate.set_value();
  w.take(reply);
  w.pool.drain();
  EXPECT_EQ(w.merged_paths(), std::vector<std::string>{"running.txt"});
  const auto settled = w.settled.try_take_all();
  // The one that was merged is dropped with the message that the test took.
  EXPECT_EQ(w.count(settled, file_outcome::dropped), 10u);
}

TEST(SearchServiceLoaderTest, StoppedLoaderRefusesAndTheClaimSaysSo) {
  loader_world w{1, [](const auto&) { return bytes("words"); }};
  w.stop(w.loader);
  w.load("late.txt");
  EXPECT_EQ(w.take(w.settled).outcome, file_outcome::dropped);
}

TEST(SearchServiceLoaderTest, StoppedShardTurnsALoadIntoADroppedFile) {
  loader_world w{1, [](const auto&) { return bytes("words"); }};
  w.shard.close();
  w.load("a.txt");
  EXPECT_EQ(w.take(w.settled).outcome, file_outcome::dropped);
}

} // namespace
} // namespace search_service

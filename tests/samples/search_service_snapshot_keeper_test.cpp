#include "search_service/snapshot_keeper.hpp"

#include "search_service/snapshot_file.hpp"

#include "search_service_support.hpp"
#include "search_service_wharf_support.hpp"
#include "support/test_dispatcher.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace search_service {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::ledger;
using test::scratch_directory;

// Two shards with a document each and their keeper, on a clock and a thread
// that are the test's.
using save_answer = wharf::port_set<saved, std::exception_ptr>;

struct keeper_world : ledger {
  keeper_world() {
    for (int i = 0; i < 2; ++i) {
      shards.push_back(create_shard(queue));
      shards.back().post(
          merge{count_words("doc" + std::to_string(i), "a port"), claim()});
    }
    keeper = create_keeper(queue, {.file = file, .shards = shards});
    pool.run_all();
  }

  save_answer save_now() {
    save_answer answer;
    keeper.post(save{wharf::reply{answer}});
    pool.run_all();
    return answer;
  }

  std::size_t documents_in_file() const {
    std::size_t sum = 0;
    const auto parts = read_snapshot(file, 3, [] { return false; });
    for (const inverted_index& part : parts.value()) {
      sum += part.documents();
    }
    return sum;
  }

  void start_saving(std::chrono::milliseconds interval) {
    saving = save_from_time_to_time(queue, keeper, status, notes, interval);
    pool.run_all();
  }

  void pass(std::chrono::milliseconds by) {
    pool.advance(by);
    pool.run_all();
  }

  // As a shard does when a document was merged.
  void tell_of_a_change() {
    status.post(file_settled{.outcome = file_outcome::indexed});
    pool.run_all();
  }

  scratch_directory files;
  const fs::path file = files.path() / "snap";
  wharf::test::test_dispatcher pool;
  wharf::dispatcher_queue queue{pool, "all"};
  std::vector<shard_port> shards;
  keeper_port keeper;
  wharf::port<std::string> notes{"notes"};
  status_port status = create_status(queue, [](status_report&) {}, notes);
  wharf::activation saving;
};

TEST(SearchServiceSnapshotKeeperTest, WritesWhatAllShardsHold) {
  keeper_world w;
  const auto reply = w.save_now();
  const auto done = reply.get<saved>().try_take();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->bytes, fs::file_size(w.file));
  EXPECT_EQ(w.documents_in_file(), 2u);
}

TEST(SearchServiceSnapshotKeeperTest, FailureIsAnAnswerAndTheNextMaySucceed) {
  keeper_world w;
  fs::create_directories(w.file / "in the way");
  EXPECT_TRUE(w.save_now().get<std::exception_ptr>().try_take());
  fs::remove_all(w.file);
  EXPECT_TRUE(w.save_now().get<saved>().try_take());
}

TEST(SearchServiceSnapshotKeeperTest, StoppedShardLeavesTheOldSnapshot) {
  keeper_world w;
  w.save_now();
  w.shards[1].post(stop{});
  w.pool.run_all();
  EXPECT_TRUE(w.save_now().get<std::exception_ptr>().try_take());
  EXPECT_EQ(w.documents_in_file(), 2u);
  EXPECT_FALSE(fs::exists(beside_snapshot(w.file)));
}

// The keeper waits for a shard that nobody runs.
TEST(SearchServiceSnapshotKeeperTest, StopInTheMiddleLeavesTheOldSnapshot) {
  keeper_world w;
  w.save_now();
  std::vector<shard_port> mute(1);
  keeper_port keeper = create_keeper(w.queue, {.file = w.file, .shards = mute});
  save_answer answer;
  keeper.post(save{wharf::reply{answer}});
  w.pool.run_all();
  EXPECT_TRUE(fs::exists(beside_snapshot(w.file)));
  keeper.post(stop{});
  w.pool.run_all();
  EXPECT_FALSE(fs::exists(beside_snapshot(w.file)));
  EXPECT_TRUE(answer.get<saved>().empty());
  EXPECT_EQ(w.documents_in_file(), 2u);
}

TEST(SearchServiceSnapshotKeeperTest, SavesFromTimeToTimeWhatHasChanged) {
  keeper_world w;
  w.start_saving(30s);
  w.pass(30s);
  EXPECT_FALSE(fs::exists(w.file)); // nothing has changed
  w.tell_of_a_change();
  w.pass(29s);
  EXPECT_FALSE(fs::exists(w.file));
  w.pass(1s);
  EXPECT_TRUE(fs::exists(w.file));
  fs::remove(w.file);
  w.pass(30s);
  EXPECT_FALSE(fs::exists(w.file)); // nothing has changed since
  w.tell_of_a_change();
  w.pass(30s);
  EXPECT_TRUE(fs::exists(w.file));
}

TEST(SearchServiceSnapshotKeeperTest, FailureIsNotedAndTriedAgain) {
  keeper_world w;
  w.start_saving(30s);
  fs::create_directories(w.file / "in the way");
  w.tell_of_a_change();
  w.pass(30s);
  const auto note = w.notes.try_take();
  ASSERT_TRUE(note);
  EXPECT_TRUE(note->starts_with("the snapshot " + w.file.string() +
                                " can't be written: "));
  fs::remove_all(w.file);
  w.pass(30s);
  EXPECT_EQ(w.documents_in_file(), 2u);
}

TEST(SearchServiceSnapshotKeeperTest, StoppedKeeperEndsTheSaving) {
  keeper_world w;
  w.start_saving(30s);
  w.keeper.post(stop{});
  w.tell_of_a_change();
  w.pass(30s);
  w.saving.wait();
  EXPECT_EQ(w.pool.pending_timers(), 0u);
  EXPECT_TRUE(w.notes.empty());
}

TEST(SearchServiceSnapshotKeeperTest, MissingFileIsNoSnapshotAndNoError) {
  scratch_directory files;
  EXPECT_FALSE(read_snapshot(files.path() / "none", 2, [] { return false; }));
}

TEST(SearchServiceSnapshotKeeperTest, ReadingIsGivenUpBetweenSections) {
  keeper_world w;
  w.save_now();
  int asked = 0;
  EXPECT_FALSE(read_snapshot(w.file, 2, [&] { return ++asked == 1; }));
  EXPECT_EQ(asked, 1);
}

// Its checksums are right, its content is not ours.
TEST(SearchServiceSnapshotKeeperTest, NonsenseInOrderIsRefused) {
  scratch_directory files;
  const fs::path file = files.path() / "snap";
  snapshot_writer to{file};
  to.add("nonsense");
  to.commit();
  try {
    read_snapshot(file, 2, [] { return false; });
    FAIL();
  } catch (const snapshot_refused& refused) {
    EXPECT_FALSE(refused.foreign);
    EXPECT_EQ(refused.what(), "the snapshot " + file.string() +
                                  " can't be used: its content makes no "
                                  "sense");
  }
}

} // namespace
} // namespace search_service

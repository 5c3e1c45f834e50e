// The program while files change under its eyes, and across its ends.

#include "search_service/snapshot_file.hpp"

#include "search_service_http_client.hpp"
#include "search_service_program.hpp"
#include "search_service_support.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include <sys/inotify.h>

namespace search_service {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using test::http_client;
using test::program;
using test::scratch_directory;

// How many documents have a word, now.
int total(http_client& client, const std::string& word) {
  const auto reply = client.get("/search?q=" + word);
  EXPECT_EQ(reply.status, 200u);
  const auto answer = boost::json::parse(reply.body);
  return answer.at("total").to_number<int>();
}

boost::json::value status_of(http_client& client) {
  return boost::json::parse(client.get("/status").body);
}

// Asks until `met()`; each question is a search or so, so this waits for the
// service and not for time. False: it takes too long.
template <class Condition>
bool eventually(Condition met) {
  const auto late = steady_clock::now() + 30s;
  while (!met()) {
    if (steady_clock::now() > late) {
      return false;
    }
  }
  return true;
}

TEST(SearchServiceWatchTest, FollowsNewChangedAndDeletedFiles) {
  scratch_directory files;
  const fs::path file = files.write("a.txt", "first port");
  program run{{files.path().string(), "--http", "0", "--watch", "10ms"}};
  http_client client{run.port()};
  ASSERT_TRUE(eventually([&] { return total(client, "first") == 1; }));

  files.write("dir/b.html", "<p>second port");
  ASSERT_TRUE(eventually([&] { return total(client, "second") == 1; }));
  EXPECT_EQ(total(client, "port"), 2);

  files.write("a.txt", "third port");
  ASSERT_TRUE(eventually([&] { return total(client, "third") == 1; }));
  EXPECT_EQ(total(client, "first"), 0);
  EXPECT_EQ(total(client, "port"), 2);

  fs::remove(file);
  ASSERT_TRUE(eventually([&] { return total(client, "third") == 0; }));
  fs::remove_all(files.path() / "dir");
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 0; }));
  const auto status = status_of(client);
  EXPECT_EQ(status.at("files").to_number<int>(), 0);
  EXPECT_EQ(status.at("words").to_number<int>(), 0);
  EXPECT_EQ(status.at("removed").to_number<int>(), 2);
  EXPECT_EQ(status.at("failures").to_number<int>(), 0);
}

TEST(SearchServiceWatchTest, FileThatIsNoTextAnyMoreIsNotFoundAnyMore) {
  scratch_directory files;
  files.write("a.txt", "port");
  program run{{files.path().string(), "--http", "0", "--watch", "10ms"}};
  http_client client{run.port()};
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 1; }));
  files.write("a.txt", std::string("port\0\0\0\0", 8));
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 0; }));
  files.write("a.txt", "port again");
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 1; }));
}

TEST(SearchServiceWatchTest, WatchedDirectoryMayVanishAndComeBack) {
  scratch_directory files;
  files.write("root/a.txt", "port");
  const fs::path root = files.path() / "root";
  program run{{root.string(), "--http", "0", "--watch", "10ms"}};
  http_client client{run.port()};
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 1; }));
  fs::remove_all(root);
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 0; }));
  EXPECT_EQ(status_of(client).at("failed_directories").to_number<int>(), 1);
  files.write("root/b.txt", "a new port");
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 1; }));
  EXPECT_EQ(status_of(client).at("failed_directories").to_number<int>(), 0);
}

// Documents as large as it takes for writing them to last a while.
void write_library(const scratch_directory& files, int documents) {
  for (int d = 0; d < documents; ++d) {
    std::string text = "port ";
    for (int w = 0; w < 1000; ++w) {
      text += "word" + std::to_string(d * 1000 + w) + ' ';
    }
    files.write("docs/" + std::to_string(d) + ".txt", text);
  }
}

struct snapshot_test : testing::Test {
  std::vector<std::string> arguments() const {
    return {(files.path() / "docs").string(), "--http", "0", "--snapshot",
            file.string()};
  }
  std::string brings(int documents) const {
    return "the snapshot " + file.string() + " brings " +
           std::to_string(documents) + " files with ";
  }

  scratch_directory files;
  const fs::path file = files.path() / "snap";
};

using SearchServiceSnapshotTest = snapshot_test;

TEST_F(SearchServiceSnapshotTest,
       NextStartServesAtOnceAndBringsWhatHasChanged) {
  files.write("docs/same.txt", "same port");
  files.write("docs/changed.txt", "old port");
  files.write("docs/gone.txt", "gone port");
  {
    program run{arguments()};
    http_client client{run.port()};
    ASSERT_TRUE(eventually([&] { return total(client, "port") == 3; }));
    run.signal(SIGTERM);
    EXPECT_EQ(run.wait(), 0);
  }
  files.write("docs/changed.txt", "new harbour");
  files.write("docs/new.txt", "new port");
  fs::remove(files.path() / "docs/gone.txt");
  program run{arguments()};
  http_client client{run.port()};
  EXPECT_GE(total(client, "same"), 1); // at once
  EXPECT_TRUE(run.line().starts_with(brings(3)));
  ASSERT_TRUE(eventually([&] { return total(client, "new") == 2; }));
  ASSERT_TRUE(eventually([&] { return total(client, "gone") == 0; }));
  EXPECT_EQ(total(client, "port"), 2);
  EXPECT_EQ(total(client, "old"), 0);
  ASSERT_TRUE(
      eventually([&] { return !status_of(client).at("indexing").as_bool(); }));
  const auto status = status_of(client);
  EXPECT_EQ(status.at("files").to_number<int>(), 3);
  EXPECT_EQ(status.at("words").to_number<int>(), 6);
}

TEST_F(SearchServiceSnapshotTest, DamagedOneIsRefusedAndIndexedAfresh) {
  files.write("docs/a.txt", "port");
  files.write("snap", "wharf search snapshot\nand then nonsense");
  program run{arguments()};
  http_client client{run.port()};
  EXPECT_EQ(run.line(), "the snapshot " + file.string() +
                            " is of another version of this program; indexing "
                            "afresh.");
  ASSERT_TRUE(eventually([&] { return total(client, "port") == 1; }));
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 0);
  program next{arguments()};
  next.port();
  EXPECT_TRUE(next.line().starts_with(brings(1)));
}

TEST_F(SearchServiceSnapshotTest, ForeignFileIsLeftAlone) {
  files.write("docs/a.txt", "port");
  files.write("snap", "my only copy of a novel");
  program run{arguments()};
  run.port();
  EXPECT_EQ(run.line(),
            "the snapshot " + file.string() +
                " is no snapshot of this program; it is left alone, and no "
                "snapshot is written.");
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 0);
  EXPECT_EQ(fs::file_size(file), 23u);
}

// Becomes readable when a file of this name has been made in a directory.
class birth_watch {
public:
  explicit birth_watch(const fs::path& directory)
      : descriptor_{::inotify_init1(IN_CLOEXEC)} {
    ::inotify_add_watch(descriptor_, directory.c_str(), IN_CREATE);
  }
  ~birth_watch() { ::close(descriptor_); }
  birth_watch(const birth_watch&) = delete;
  birth_watch& operator=(const birth_watch&) = delete;

  void wait_for(const std::string& name) const {
    alignas(inotify_event) char buffer[4096];
    for (;;) {
      const ssize_t size = ::read(descriptor_, buffer, sizeof buffer);
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        if (event->len > 0 && event->name == name) {
          return;
        }
        at += static_cast<ssize_t>(sizeof *event + event->len);
      }
    }
  }

private:
  int descriptor_;
};

// Goal: whenever it is killed, the next start finds the old snapshot or the new
// one, whole.
// Method: it is killed as soon as the file beside the snapshot appears, again
// and again, until that was in the middle of writing several times.
TEST_F(SearchServiceSnapshotTest, KilledWhileWritingItLeavesAWholeOne) {
  constexpr int documents = 400;
  write_library(files, documents);
  {
    program run{arguments()};
    http_client client{run.port()};
    ASSERT_TRUE(eventually([&] { return total(client, "port") == documents; }));
    run.signal(SIGTERM);
    ASSERT_EQ(run.wait(), 0);
  }
  const fs::path beside = beside_snapshot(file);
  auto watching = arguments();
  watching.insert(watching.end(),
                  {"--watch", "10ms", "--snapshot-every", "10ms"});
  int in_the_middle = 0;
  for (int round = 0; round < 20 && in_the_middle < 3; ++round) {
    const birth_watch births{files.path()};
    program run{watching};
    births.wait_for("snap.part"); // the trial at the start
    http_client client{run.port()};
    EXPECT_TRUE(run.line().starts_with(brings(documents)));
    EXPECT_EQ(total(client, "port"), documents);
    files.write("docs/0.txt",
                "port changed" +
                    std::string(static_cast<std::size_t>(round), '!'));
    births.wait_for("snap.part");
    run.signal(SIGKILL);
    EXPECT_EQ(run.wait(), -SIGKILL);
    in_the_middle += fs::exists(beside) ? 1 : 0;
  }
  EXPECT_GE(in_the_middle, 1);
  program run{arguments()};
  run.port();
  EXPECT_TRUE(run.line().starts_with(brings(documents)));
}

TEST_F(SearchServiceSnapshotTest, ChangesAreSavedWhileItWatches) {
  files.write("docs/a.txt", "port");
  auto watching = arguments();
  watching.insert(watching.end(),
                  {"--watch", "10ms", "--snapshot-every", "10ms"});
  {
    program run{watching};
    http_client client{run.port()};
    ASSERT_TRUE(eventually([&] {
      status_of(client);
      return fs::exists(file);
    }));
    run.signal(SIGKILL);
    run.wait();
  }
  program run{arguments()};
  run.port();
  EXPECT_TRUE(run.line().starts_with(brings(1)));
}

TEST(SearchServiceWatchTest, SignalEndsItSoonWhileItWatchesAndIndexes) {
  scratch_directory files;
  write_library(files, 200);
  const fs::path file = files.path() / "snap";
  for (const bool at_once : {true, false}) {
    program run{{(files.path() / "docs").string(), "--http", "0", "--watch",
                 "10ms", "--snapshot", file.string(), "--snapshot-every",
                 "10ms"}};
    http_client client{run.port()};
    if (!at_once) {
      ASSERT_TRUE(eventually([&] { return total(client, "port") == 200; }));
    }
    const auto begin = steady_clock::now();
    run.signal(SIGTERM);
    EXPECT_EQ(run.wait(), 0);
    EXPECT_LT(steady_clock::now() - begin, 2s);
    const std::string rest = run.rest();
    EXPECT_NE(rest.find("stopped: "), std::string::npos) << rest;
  }
}

// Resident memory in KiB.
long memory_of(pid_t process) {
  std::ifstream in{"/proc/" + std::to_string(process) + "/statm"};
  long size = 0;
  long resident = 0;
  in >> size >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

// Goal: however files change, searches are answered, all of them, and memory
// does not grow with the changes.
// Method: sixty-four connections search for three seconds while files are
// written, renamed and removed; memory is compared after the first second and
// at the end.
TEST(SearchServiceWatchTest, SearchesAreAnsweredWhileFilesChange) {
  scratch_directory files;
  write_library(files, 20);
  program run{{(files.path() / "docs").string(), "--http", "0", "--watch",
               "10ms", "--snapshot", (files.path() / "snap").string(),
               "--snapshot-every", "100ms"}};
  const std::uint16_t port = run.port();
  const auto begin = steady_clock::now();
  const auto end = begin + 3s;
  std::vector<std::future<int>> clients;
  for (int c = 0; c < 64; ++c) {
    clients.push_back(std::async(std::launch::async, [port, end] {
      http_client client{port};
      int failed = 0;
      while (steady_clock::now() < end) {
        failed += client.get("/search?q=port+word17").status == 200 ? 0 : 1;
      }
      return failed;
    }));
  }
  long early = 0;
  std::uint64_t changes = 0;
  for (; steady_clock::now() < end; ++changes) {
    const std::string name =
        "docs/changing" + std::to_string(changes % 50) + ".txt";
    files.write(name, "port number " + std::to_string(changes));
    if (changes % 3 == 0) {
      fs::remove(files.path() / name);
    } else if (changes % 7 == 0) {
      fs::rename(files.path() / name, files.path() / "docs/renamed.txt");
    }
    if (early == 0 && steady_clock::now() > begin + 1s) {
      early = memory_of(run.id());
    }
  }
  for (std::future<int>& client : clients) {
    EXPECT_EQ(client.get(), 0);
  }
  EXPECT_LT(memory_of(run.id()), early + early / 2);
  http_client client{port};
  const auto status = status_of(client);
  EXPECT_EQ(status.at("handler_failures").to_number<int>(), 0);
  EXPECT_GT(status.at("updated").to_number<int>(), 0);
  run.signal(SIGTERM);
  EXPECT_EQ(run.wait(), 0);
}

} // namespace
} // namespace search_service

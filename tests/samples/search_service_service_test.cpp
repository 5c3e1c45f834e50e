// The service as a whole, with its HTTP server, in this process.

#include "search_service/http_server.hpp"
#include "search_service/service.hpp"
#include "search_service/snapshot_file.hpp"

#include "search_service_http_client.hpp"
#include "search_service_support.hpp"
#include "search_service_wharf_support.hpp"

#include <wharf/asio/io_thread.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <sys/stat.h>

namespace search_service {
namespace {

using test::http_client;
using test::scratch_directory;

file_content read_normally(const std::filesystem::path& path) {
  return read_file(path);
}

// A service on a free port. Searches have all the time of the world, so that
// no answer is partial because a machine is slow.
struct running_service {
  explicit running_service(std::size_t shards = 3,
                           const std::filesystem::path& snapshot = {},
                           file_reading read = read_normally)
      : all{{.loads = 2,
             .shards = shards,
             .step_time = std::chrono::hours{1},
             .snapshot = snapshot,
             .console = {.out = &out},
             .read = std::move(read)}} {}

  // Waits until everything below the directory is settled.
  status_report index(const std::filesystem::path& directory) {
    wharf::port<status_report> reply;
    all.index({directory});
    all.status().post(await_settled{reply});
    return test::take(all.queue(), reply);
  }

  boost::json::value get_json(const std::string& target) {
    http_client client{http.port()};
    return boost::json::parse(client.get(target).body);
  }

  std::ostringstream out;
  wharf::asio::io_thread io;
  service all;
  http_server http{io, all.pool(), {.port = 0}, all.requests()};
};

std::vector<std::string> paths_of(const boost::json::value& answer) {
  std::vector<std::string> paths;
  for (const auto& result : answer.at("results").as_array()) {
    const std::string path{result.at("path").as_string()};
    paths.push_back(std::filesystem::path{path}.filename().string());
  }
  return paths;
}

TEST(SearchServiceServiceTest, FindsWhatItHasIndexed) {
  scratch_directory files;
  files.write("a.txt", "A wharf has many ports. Ports, ports!");
  files.write("sub/b.html", "<h1>Ports</h1><p>and <b>ships</b> &amp; more");
  files.write("c.md", "nothing of that kind");
  running_service s;
  const status_report report = s.index(files.path());
  EXPECT_EQ(report.indexed, 3u);

  const auto answer = s.get_json("/search?q=ports+ships");
  EXPECT_EQ(answer.at("query").as_string(), "ports ships");
  EXPECT_EQ(answer.at("partial").as_bool(), false);
  EXPECT_EQ(answer.at("total").to_number<int>(), 2);
  EXPECT_EQ(paths_of(answer), (std::vector<std::string>{"b.html", "a.txt"}));
  EXPECT_EQ(answer.at("results").at(0).at("snippet").as_string(),
            "<mark>Ports</mark> and <mark>ships</mark> &amp; more");
}

TEST(SearchServiceServiceTest, ScoresDoNotDependOnTheNumberOfShards) {
  scratch_directory files;
  for (int i = 0; i < 30; ++i) {
    std::string text;
    for (int word = 0; word < i + 3; ++word) {
      text += (word * i) % 7 == 0 ? "port " : "ship ";
    }
    files.write(std::to_string(i) + ".txt", text);
  }
  running_service one{1};
  running_service five{5};
  one.index(files.path());
  five.index(files.path());
  const char* target = "/search?q=port&limit=30";
  const auto a = one.get_json(target);
  const auto b = five.get_json(target);
  EXPECT_EQ(paths_of(a), paths_of(b));
  EXPECT_EQ(a.at("results").at(0).at("score").as_double(),
            b.at("results").at(0).at("score").as_double());
}

TEST(SearchServiceServiceTest, StatusAccountsForEveryFile) {
  scratch_directory files;
  files.write("good.txt", "three good words");
  files.write("fake.txt", std::string("\x7F"
                                      "ELF\0\0",
                                      6));
  files.write("skipped.gz", "words");
  files.write("latin1.txt", "caf\xE9 cr\xE8me");
  files.write("big.txt", std::string(file_size_limit + 1, 'a'));
  std::filesystem::create_symlink("good.txt", files.path() / "link.txt");
  ASSERT_EQ(::mkfifo((files.path() / "pipe.txt").c_str(), 0600), 0);
  running_service s;
  s.index(files.path());

  const auto status = s.get_json("/status");
  EXPECT_EQ(status.at("indexing").as_bool(), false);
  EXPECT_EQ(status.at("found").to_number<int>(), 7);
  EXPECT_EQ(status.at("files").to_number<int>(), 2);
  EXPECT_EQ(status.at("words").to_number<int>(), 3 + 3);
  EXPECT_EQ(status.at("skipped").to_number<int>(), 5);
  EXPECT_EQ(status.at("failures").to_number<int>(), 0);
  EXPECT_EQ(status.at("waiting").to_number<int>(), 0);
  EXPECT_EQ(status.at("running_loads").to_number<int>(), 0);
}

TEST(SearchServiceServiceTest, InvalidUtf8IsFoundAndShownRepaired) {
  scratch_directory files;
  files.write("a.txt", "caf\xE9 noir");
  running_service s;
  s.index(files.path());
  const auto answer = s.get_json("/search?q=noir");
  EXPECT_EQ(answer.at("results").at(0).at("snippet").as_string(),
            "caf\uFFFD <mark>noir</mark>");
}

TEST(SearchServiceServiceTest, NothingThatAFileHoldsBecomesMarkup) {
  scratch_directory files;
  files.write("<img src=x onerror=alert(1)>.txt",
              "<script>alert('port')</script>");
  running_service s;
  s.index(files.path());
  http_client client{s.http.port()};
  const std::string page = client.get("/?q=port+%3Cscript%3E").body;
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("<mark>port</mark>"), std::string::npos);
}

TEST(SearchServiceServiceTest, DocumentThatIsGoneKeepsItsPlace) {
  scratch_directory files;
  const auto path = files.write("a.txt", "port");
  running_service s;
  s.index(files.path());
  std::filesystem::remove(path);
  const auto answer = s.get_json("/search?q=port");
  EXPECT_EQ(paths_of(answer), std::vector<std::string>{"a.txt"});
  EXPECT_EQ(answer.at("results").at(0).at("snippet").as_string(), "");
}

TEST(SearchServiceServiceTest, AnswersBeforeAnythingIsIndexed) {
  running_service s;
  const auto answer = s.get_json("/search?q=port");
  EXPECT_EQ(answer.at("total").to_number<int>(), 0);
  EXPECT_EQ(answer.at("partial").as_bool(), false);
  EXPECT_EQ(s.get_json("/status").at("indexing").as_bool(), true);
}

TEST(SearchServiceServiceTest, QueryOfTenMegabytesIsRefusedAndForgotten) {
  running_service s;
  http_client client{s.http.port()};
  client.send("GET /search?q=" + std::string(10 << 20, 'a') +
              " HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.receive().status, 414u);
  EXPECT_EQ(s.get_json("/status").at("failures").to_number<int>(), 0);
}

// Goal: ten thousand searches at once are all answered, and in full.
// Method: two hundred connections with fifty searches each, all sent before the
// first answer is read.
TEST(SearchServiceServiceTest, TenThousandSearchesAtOnceAreAnswered) {
  constexpr int connections = 200;
  constexpr int searches = 50;
  scratch_directory files;
  files.write("a.txt", "a port");
  running_service s;
  s.index(files.path());
  std::string burst;
  for (int i = 0; i < searches; ++i) {
    burst += "GET /search?q=port HTTP/1.1\r\n\r\n";
  }
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<http_client>(s.http.port()));
    clients.back()->send(burst);
  }
  for (const auto& client : clients) {
    for (int i = 0; i < searches; ++i) {
      const test::reply got = client->receive();
      ASSERT_EQ(got.status, 200u);
      ASSERT_NE(got.body.find(R"("partial":false,"total":1)"),
                std::string::npos);
    }
  }
}

TEST(SearchServiceServiceTest, StopDuringIndexingAccountsForEveryFile) {
  scratch_directory files;
  for (int i = 0; i < 500; ++i) {
    files.write(std::to_string(i) + ".txt", "some words");
  }
  running_service s;
  s.all.index({files.path()});
  const status_report last = s.all.stop();
  EXPECT_EQ(last.settled(), last.found);
  EXPECT_FALSE(last.indexing);
  EXPECT_EQ(last.running_loads, 0u);
  EXPECT_NE(s.out.str().find("stopped: "), std::string::npos);
}

TEST(SearchServiceServiceTest, StoppedServiceStillAnswersEveryRequest) {
  running_service s;
  s.all.stop();
  http_client client{s.http.port()};
  EXPECT_EQ(client.get("/search?q=port").status, 503u);
}

TEST(SearchServiceServiceTest, SnapshotBringsWhatAnotherServiceHad) {
  scratch_directory files;
  const auto file = files.path() / "snap";
  const auto never = [] { return false; };
  files.write("docs/a.txt", "a port");
  {
    running_service s{3, file};
    EXPECT_EQ(s.all.restore(never), "");
    s.index(files.path() / "docs");
    s.all.stop();
  }
  running_service s{2, file};
  EXPECT_EQ(s.all.restore(never),
            "the snapshot " + file.string() + " brings 1 files with 2 words.");
  EXPECT_EQ(paths_of(s.get_json("/search?q=port")),
            std::vector<std::string>{"a.txt"});
  EXPECT_EQ(s.get_json("/status").at("files").to_number<int>(), 1);
}

TEST(SearchServiceServiceTest, SnapshotThatWasNotReadToItsEndIsKept) {
  scratch_directory files;
  const auto file = files.path() / "snap";
  files.write("docs/a.txt", "a port");
  {
    running_service s{3, file};
    s.all.restore([] { return false; });
    s.index(files.path() / "docs");
    s.all.stop();
  }
  {
    running_service s{3, file};
    s.all.restore([] { return true; }); // the service is to end at once
    s.all.stop();
  }
  running_service s{3, file};
  EXPECT_TRUE(s.all.restore([] { return false; }).ends_with("2 words."));
}

TEST(SearchServiceServiceTest, SnapshotThatCanNotBeWrittenIsSaidAtTheEnd) {
  scratch_directory files;
  const auto file = files.path() / "snap";
  running_service s{3, file};
  s.all.restore([] { return false; });
  std::filesystem::create_directories(file / "in the way");
  s.all.stop();
  EXPECT_NE(
      s.out.str().find("the snapshot " + file.string() + " can't be written: "),
      std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(beside_snapshot(file)));
}

TEST(SearchServiceServiceTest, NothingIsLeftToDoOnceItIsShutDown) {
  scratch_directory files;
  files.write("a.txt", "a port");
  running_service s;
  s.index(files.path());
  s.all.stop();
  s.http.stop();
  for (const auto& [name, report] : s.all.shut_down(std::chrono::seconds{5})) {
    EXPECT_TRUE(report.clean()) << name << ' ' << report.text();
  }
}

// The reader stands for any handler on the way: it reads well for the index,
// and fails when a snippet is to be made of the file.
TEST(SearchServiceServiceTest, FaultOnTheWayIsThatRequestsAnswerAtOnce) {
  scratch_directory files;
  files.write("bad.txt", "a broken port");
  files.write("good.txt", "a ship");
  running_service s{3, {}, [](const std::filesystem::path& path) {
                      static std::atomic<int> bad_reads{0};
                      if (path.filename() == "bad.txt" && bad_reads++ > 0) {
                        throw std::runtime_error{"planted"};
                      }
                      return read_file(path);
                    }};
  s.index(files.path());
  // Searches have an hour for each step.
  http_client client{s.http.port()};
  EXPECT_EQ(client.get("/search?q=port").status, 500u);
  EXPECT_EQ(client.get("/?q=port").status, 500u);
  EXPECT_EQ(client.get("/search?q=ship").status, 200u);
  EXPECT_EQ(s.get_json("/status").at("handler_failures").to_number<int>(), 2);
  s.http.stop();
  s.all.stop();
  EXPECT_NE(s.out.str().find("a handler failed: planted"), std::string::npos);
}

TEST(SearchServiceServiceTest, StopTwiceIsStopOnce) {
  running_service s;
  s.all.stop();
  s.all.stop();
}

TEST(SearchServiceServiceTest, EndsWithoutBeingStopped) {
  scratch_directory files;
  for (int i = 0; i < 100; ++i) {
    files.write(std::to_string(i) + ".txt", "some words");
  }
  running_service s;
  s.all.index({files.path()});
}

} // namespace
} // namespace search_service

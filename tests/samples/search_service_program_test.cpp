// The program itself, as a child process.

#include "search_service_http_client.hpp"
#include "search_service_program.hpp"
#include "search_service_support.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace search_service {
namespace {

using test::http_client;
using test::output_to;
using test::program;
using test::scratch_directory;

using std::chrono::steady_clock;
constexpr auto two_seconds = std::chrono::seconds{2};

TEST(SearchServiceProgramTest, MissingDirectoryIsSaidAndExitsWithTwo) {
  program run{{"/no/such/place"}};
  EXPECT_EQ(run.rest(),
            "search_service: the directory /no/such/place does not exist.\n");
  EXPECT_EQ(run.wait(), 2);
}

TEST(SearchServiceProgramTest, PortInUseIsSaidAndExitsWithTwo) {
  scratch_directory files;
  program first{{files.path().string(), "--http", "0"}};
  const std::string port = std::to_string(first.port());
  program second{{files.path().string(), "--http", port}};
  EXPECT_EQ(second.rest(), "search_service: port " + port +
                               " is in use by another program; choose one "
                               "with --http, or 0 for any that is free.\n");
  EXPECT_EQ(second.wait(), 2);
}

TEST(SearchServiceProgramTest, HelpExitsWithZero) {
  program run{{"--help"}};
  EXPECT_NE(run.rest().find("--shards"), std::string::npos);
  EXPECT_EQ(run.wait(), 0);
}

TEST(SearchServiceProgramTest, SaysWhenIndexingIsDone) {
  scratch_directory files;
  files.write("a.txt", "three more words");
  program run{{files.path().string(), "--http", "0"}};
  run.port();
  EXPECT_TRUE(
      run.line().starts_with("indexing is done: 1 files with 3 words indexed"));
}

TEST(SearchServiceProgramTest, SignalsEndItInOrderAndSoon) {
  for (const int number : {SIGTERM, SIGINT}) {
    scratch_directory files;
    files.write("a.txt", "words");
    program run{{files.path().string(), "--http", "0"}};
    run.port();
    const auto begin = steady_clock::now();
    run.signal(number);
    EXPECT_EQ(run.wait(), 0);
    EXPECT_LT(steady_clock::now() - begin, two_seconds);
    const std::string rest = run.rest();
    EXPECT_NE(rest.find("stopped: "), std::string::npos);
    for (const char* name : {"load", "search"}) {
      EXPECT_NE(rest.find("search_service: dispatcher \"" + std::string{name} +
                          "\": shut down in "),
                std::string::npos)
          << rest;
    }
  }
}

// As much as it takes for indexing to last a while.
void write_much(const scratch_directory& files) {
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 300; ++i) {
    files.write(std::to_string(i) + ".txt", text);
  }
}

TEST(SearchServiceProgramTest, BarIsShownOnATerminalAndClearedAtCtrlC) {
  scratch_directory files;
  write_much(files);
  program run{{files.path().string(), "--http", "0"}, output_to::terminal};
  run.port();
  const auto begin = steady_clock::now();
  std::string shown;
  while (shown.find("files, ") == std::string::npos) {
    shown += run.character();
  }
  EXPECT_NE(shown.find("[--------------------] "), std::string::npos) << shown;
  run.interrupt();
  shown = run.rest();
  EXPECT_EQ(run.wait(), 0);
  EXPECT_LT(steady_clock::now() - begin, two_seconds);
  // What is on the screen at the end: a line that begins where the bar was.
  const std::size_t cleared = shown.rfind("\r\x1B[K");
  ASSERT_NE(cleared, std::string::npos) << shown;
  EXPECT_EQ(shown.find(" MB/s", cleared), std::string::npos) << shown;
  EXPECT_NE(shown.find("stopped: ", cleared), std::string::npos) << shown;
}

TEST(SearchServiceProgramTest, NoBarIsShownWhereThereIsNoTerminal) {
  scratch_directory files;
  files.write("a.txt", "words");
  program run{{files.path().string(), "--http", "0"}};
  run.port();
  EXPECT_TRUE(run.line().starts_with("indexing is done: "));
  run.signal(SIGTERM);
  EXPECT_EQ(run.rest().find_first_of("\r\x1B"), std::string::npos);
  EXPECT_EQ(run.wait(), 0);
}

TEST(SearchServiceProgramTest, SignalDuringIndexingEndsItInOrderAndSoon) {
  scratch_directory files;
  write_much(files);
  program run{{files.path().string(), "--http", "0"}};
  run.port();
  const auto begin = steady_clock::now();
  run.signal(SIGTERM);
  run.signal(SIGINT);
  EXPECT_EQ(run.wait(), 0);
  EXPECT_LT(steady_clock::now() - begin, two_seconds);
}

TEST(SearchServiceProgramTest, PostStopIsAnsweredAndEndsIt) {
  scratch_directory files;
  program run{{files.path().string(), "--http", "0"}};
  http_client client{run.port()};
  EXPECT_EQ(client.request("POST", "/stop").status, 200u);
  EXPECT_EQ(run.wait(), 0);
}

TEST(SearchServiceProgramTest, GoesOnWhenNobodyReadsItsOutput) {
  scratch_directory files;
  files.write("a.txt", "words");
  program run{{files.path().string(), "--http", "0"}};
  const std::uint16_t port = run.port();
  run.close_output();
  http_client client{port};
  EXPECT_EQ(client.request("POST", "/stop").status, 200u);
  EXPECT_EQ(run.wait(), 0);
}

} // namespace
} // namespace search_service

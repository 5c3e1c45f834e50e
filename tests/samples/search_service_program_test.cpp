// The program itself, as a child process.

#include "search_service_http_client.hpp"
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
using test::scratch_directory;

/// A run of search_service, with its output and errors in one pipe.
class program {
public:
  explicit program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), WHARF_SAMPLES_DIR "/search_service");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      throw std::runtime_error{"no pipe"};
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }

  ~program() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    close_output();
  }

  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// The next line that it prints; empty at the end.
  std::string line() {
    std::string text;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      if (c == '\n') {
        break;
      }
      text.push_back(static_cast<char>(c));
    }
    return text;
  }

  /// Reads "serving http://127.0.0.1:PORT/".
  std::uint16_t port() {
    const std::string said = line();
    const std::string before = "serving http://127.0.0.1:";
    if (!said.starts_with(before)) {
      throw std::runtime_error{"it said: " + said};
    }
    return static_cast<std::uint16_t>(std::stoi(said.substr(before.size())));
  }

  /// Everything that it still prints, until it closes its output.
  std::string rest() {
    std::string text;
    for (int c = std::fgetc(output_); c != EOF; c = std::fgetc(output_)) {
      text.push_back(static_cast<char>(c));
    }
    return text;
  }

  /// Stops reading what it prints.
  void close_output() {
    if (output_ != nullptr) {
      std::fclose(output_);
      output_ = nullptr;
    }
  }

  void signal(int number) { ::kill(child_, number); }

  /// Waits for its end: the exit status, or minus the signal.
  int wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

private:
  pid_t child_ = 0;
  std::FILE* output_ = nullptr;
};

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
    EXPECT_NE(run.rest().find("stopped: "), std::string::npos);
  }
}

TEST(SearchServiceProgramTest, SignalDuringIndexingEndsItInOrderAndSoon) {
  scratch_directory files;
  const std::string text(1 << 20, 'x');
  for (int i = 0; i < 300; ++i) {
    files.write(std::to_string(i) + ".txt", text);
  }
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

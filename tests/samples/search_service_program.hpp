#pragma once

// The program as a child process of a test.

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

namespace search_service::test {

/// Where a program's output and errors go.
enum class output_to { pipe, terminal };

/// A run of search_service, with its output and errors in one pipe, or on a
/// terminal of its own.
class program {
public:
  explicit program(std::vector<std::string> arguments,
                   output_to where = output_to::pipe) {
    arguments.insert(arguments.begin(), WHARF_SAMPLES_DIR "/search_service");
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    const int from = where == output_to::pipe ? start_on_pipe(argv)
                                              : start_on_terminal(argv);
    output_ = ::fdopen(from, "r");
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

  /// The next character that it prints.
  char character() {
    const int c = std::fgetc(output_);
    if (c == EOF) {
      throw std::runtime_error{"it has ended"};
    }
    return static_cast<char>(c);
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

  /// Presses Ctrl-C at its terminal.
  void interrupt() {
    if (::write(::fileno(output_), "\x03", 1) != 1) {
      throw std::runtime_error{"no terminal"};
    }
  }

  pid_t id() const { return child_; }

  /// Waits for its end: the exit status, or minus the signal.
  int wait() {
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

private:
  int start_on_pipe(std::vector<char*>& argv) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      throw std::runtime_error{"no pipe"};
    }
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      run(argv);
    }
    ::close(ends[1]);
    return ends[0];
  }

  int start_on_terminal(std::vector<char*>& argv) {
    int terminal = -1;
    child_ = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child_ < 0) {
      throw std::runtime_error{"no terminal"};
    }
    if (child_ == 0) {
      run(argv);
    }
    return terminal;
  }

  [[noreturn]] static void run(std::vector<char*>& argv) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  pid_t child_ = 0;
  std::FILE* output_ = nullptr;
};

} // namespace search_service::test

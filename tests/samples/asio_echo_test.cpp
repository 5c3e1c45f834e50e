// Runs samples/asio_echo and talks to it.

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace net = boost::asio;
using net::ip::tcp;

/// The program, its standard output in a pipe.
class echo_program {
public:
  echo_program() {
    int ends[2];
    if (::pipe(ends) != 0) {
      return;
    }
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      ::execl(WHARF_SAMPLES_DIR "/asio_echo", "asio_echo", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ::fdopen(ends[0], "r");
  }
  ~echo_program() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    std::fclose(output_);
  }
  echo_program(const echo_program&) = delete;
  echo_program& operator=(const echo_program&) = delete;

  std::uint16_t port() {
    unsigned port = 0;
    EXPECT_EQ(std::fscanf(output_, "port %u", &port), 1);
    return static_cast<std::uint16_t>(port);
  }

  /// Its exit status after `signal`; -1 if it did not exit by itself.
  int end_by(int signal) {
    ::kill(child_, signal);
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

private:
  pid_t child_ = 0;
  std::FILE* output_ = nullptr;
};

std::string echoed(tcp::socket& server, std::string_view text) {
  net::write(server, net::buffer(text));
  std::string back(text.size(), ' ');
  net::read(server, net::buffer(back));
  return back;
}

TEST(AsioEchoTest, EchoesForEachClientAndEndsOnASignal) {
  echo_program program;
  const tcp::endpoint where{net::ip::address_v4::loopback(), program.port()};
  net::io_context context;
  tcp::socket one{context};
  tcp::socket other{context};
  one.connect(where);
  other.connect(where);
  EXPECT_EQ(echoed(one, "first"), "first");
  EXPECT_EQ(echoed(other, "second"), "second");
  EXPECT_EQ(echoed(one, "third"), "third");
  EXPECT_EQ(program.end_by(SIGTERM), 0); // with connections open
}

std::string text_of(const char* path) {
  std::ifstream file{path};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(AsioEchoTest, IsTheProgramInItsGuide) {
  const std::string guide = text_of(WHARF_SOURCE_DIR "/docs/asio.md");
  const std::string program =
      text_of(WHARF_SOURCE_DIR "/samples/asio_echo/main.cpp");
  EXPECT_NE(guide.find("```cpp\n" + program + "```"), std::string::npos);
}

} // namespace

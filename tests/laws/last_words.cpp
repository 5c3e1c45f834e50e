// See last_words.hpp.

#include "last_words.hpp"

#include "support/scale.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <string_view>

#include <unistd.h>

namespace wharf::laws {
namespace {

// A program takes less than a millisecond, and a shrinking one some seconds.
constexpr unsigned patience_s = 30;

// A plain array: a signal's handler may call nothing of a class.
char words[64];
std::size_t length = 0;

extern "C" void say_them(int signal) {
  if (write(STDERR_FILENO, words, length) < 0) {
    // Then nobody hears them.
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

} // namespace

last_words::last_words(std::uint64_t seed) {
  constexpr std::string_view before{"died in the program of WHARF_SEED="};
  char* end = std::copy(before.begin(), before.end(), words);
  end = std::to_chars(end, std::end(words) - 1, seed).ptr;
  *end++ = '\n';
  length = static_cast<std::size_t>(end - words);
  std::signal(SIGALRM, say_them);
#if !defined(WHARF_TEST_SANITIZED) // these have more to say of their own
  std::signal(SIGSEGV, say_them);
  std::signal(SIGABRT, say_them);
#endif
  alarm(patience_s);
}

last_words::~last_words() {
  alarm(0);
}

} // namespace wharf::laws

// An iterator: a coroutine that reads a stream of messages.
//
// Where a persistent receiver has a handler for each message, a coroutine has a
// loop, and what it has seen so far is a local variable. The end of the stream
// is the close of its port.

#include <wharf/wharf.hpp>

#include <iostream>
#include <string>
#include <utility>

namespace {

using namespace wharf;

/// Puts words together to lines of at most `width` characters.
task<void> wrap(port<std::string> words, port<std::string> lines,
                std::size_t width) {
  std::string line;
  try {
    for (;;) {
      const std::string word = co_await receive(words);
      if (!line.empty() && line.size() + 1 + word.size() > width) {
        lines.post(std::exchange(line, {}));
      }
      line += (line.empty() ? "" : " ") + word;
    }
  } catch (const port_closed&) {
    lines.post(line); // the stream is over
  }
  lines.close();
}

task<void> print(port<std::string> lines) {
  try {
    for (;;) {
      const std::string line = co_await receive(lines);
      std::cout << '|' << line << '\n';
    }
  } catch (const port_closed&) {
    std::cout << "that was all\n";
  }
}

} // namespace

int main() {
  dispatcher pool;
  dispatcher_queue queue{pool, "iterator"};
  port<std::string> words{"words"};
  port<std::string> lines{"lines"};
  spawn(queue, wrap(words, lines, 12));
  const activation printing = spawn(queue, print(lines));
  for (const char* word : {"a", "port", "holds", "messages", "in", "order"}) {
    words.post(word);
  }
  words.close();
  printing.wait();
}

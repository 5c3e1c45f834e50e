// A wait with a time-out, in a coroutine.
//
// A choice of a receive and a time gives a std::variant: its index says which
// branch has won. The loser has left its port, so an answer that comes too late
// lies there and disturbs nobody.

#include <wharf/wharf.hpp>

#include <iostream>
#include <string>

namespace {

using namespace wharf;
using namespace std::chrono_literals;

task<void> listen(port<std::string> news) {
  for (int i = 0; i < 2; ++i) {
    auto outcome = co_await choice(receive(news), after(20ms));
    if (outcome.index() == 0) {
      std::cout << "news: " << std::get<0>(outcome) << '\n';
    } else {
      std::cout << "nothing for 20 ms\n";
    }
  }
}

} // namespace

int main() {
  dispatcher pool;
  dispatcher_queue queue{pool, "listener"};
  port<std::string> news{"news"};
  news.post("early");
  sync_wait(queue, listen(news));
  news.post("too late");
  std::cout << "in the port: " << news.size() << '\n';
}

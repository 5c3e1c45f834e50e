// gather: n replies, some of them failures.
//
// Ten requests go out at once and share one port set for their replies. gather
// takes replies as they come, of either type, and runs its handler once, when
// there are ten in total: k failures and m successes.

#include <wharf/wharf.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using reply_ports = wharf::port_set<std::string, std::exception_ptr>;

struct fetch {
  int page = 0;
  reply_ports reply;
};

void serve(fetch asked) {
  if (asked.page % 4 == 0) {
    asked.reply.post(
        std::make_exception_ptr(std::runtime_error{"no such page"}));
  } else {
    asked.reply.post("page " + std::to_string(asked.page));
  }
}

} // namespace

int main() {
  using namespace wharf;
  dispatcher pool;
  dispatcher_queue queue{pool, "gather"};
  port<fetch> library;
  activate(queue, receive(persist, library, serve));

  constexpr int requests = 10;
  reply_ports replies;
  for (int page = 1; page <= requests; ++page) {
    library.post(fetch{page, replies}); // scatter
  }
  activate(queue, gather(replies, requests,
                         [](std::vector<std::string> pages,
                            std::vector<std::exception_ptr> failures) {
                           std::cout << pages.size() << " pages and "
                                     << failures.size() << " failures of "
                                     << requests << " requests\n";
                         }));
  pool.drain();
}

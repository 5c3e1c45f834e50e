// An exclusive slot that is held over three awaited steps.
//
// The handler of an exclusive group may be a coroutine: nothing else of the
// interleave runs until it has ended, although no thread is held while it
// waits. Here a configuration is fetched, checked and stored in three steps,
// and no reader sees it half done.

#include <wharf/wharf.hpp>

#include <iostream>
#include <string>

namespace {

using namespace wharf;
using namespace std::chrono_literals;

struct reload {};
struct question {
  port<std::string> answer;
};
using configuration_port = port_set<reload, question>;

struct configuration {
  std::string address = "old";
  std::string port = "old";
};

std::string fetch(std::string what) { // would block: it has a queue of its own
  return "new " + what;
}

task<void> load(configuration& current, dispatcher_queue& disk) {
  std::cout << "loading\n";
  current.address = co_await run_on(disk, fetch, "address");
  co_await sleep_for(1ms); // a check that takes its time
  current.port = co_await run_on(disk, fetch, "port");
  std::cout << "loaded\n";
}

} // namespace

int main() {
  configuration current;
  dispatcher pool;
  dispatcher blocking{{.threads = 1, .name = "disk"}};
  dispatcher_queue queue{pool, "configuration"};
  dispatcher_queue disk{blocking, "disk"};
  configuration_port service;
  activate(
      queue,
      interleave(
          exclusive(receive(
              persist, service.get<reload>(),
              [&](reload) -> task<void> { co_await load(current, disk); })),
          concurrent(receive(persist, service.get<question>(), [&](question q) {
            q.answer.post(current.address + ", " + current.port);
          }))));

  const auto ask_twice = [](configuration_port of) -> task<void> {
    port<std::string> answer;
    of.post(question{answer});
    const std::string before = co_await receive(answer);
    std::cout << before << '\n';
    of.post(reload{});
    of.post(question{answer}); // waits for the exclusive one
    const std::string after = co_await receive(answer);
    std::cout << after << '\n';
  };
  sync_wait(queue, ask_twice(service));
}

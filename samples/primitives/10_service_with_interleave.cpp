// The same service with state: an interleave says who runs beside whom.
//
// Greetings run beside each other, a change of the words runs alone, and stop
// runs alone and last: from then on nothing of the service runs, and its ports
// are closed.

#include <wharf/wharf.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace {

struct greet {
  std::string name;
  wharf::port<std::string> reply;
};
struct change_words {
  std::string words;
};
struct stop {};

class greeter_port : public wharf::port_set<greet, change_words, stop> {};

class greeter {
public:
  static greeter_port create(wharf::dispatcher_queue& queue) {
    using namespace wharf;
    greeter_port service;
    const auto self = std::make_shared<greeter>();
    auto on_stop = [self](stop) {
      std::cout << "the last words were: " << self->words_ << '\n';
    };
    auto on_change = [self](change_words c) { self->words_ = c.words; };
    auto on_greet = [self](greet asked) {
      asked.reply.post(self->words_ + ", " + asked.name);
    };
    activate(
        queue,
        interleave(
            teardown(receive(service.get<stop>(), on_stop)).then_close(),
            exclusive(receive(persist, service.get<change_words>(), on_change)),
            concurrent(receive(persist, service.get<greet>(), on_greet))));
    return service;
  }

private:
  std::string words_ = "Hello";
};

} // namespace

int main() {
  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "greeter"};
  greeter_port service = greeter::create(queue);

  service.post(change_words{"Good evening"});
  pool.drain(); // between the groups no order is promised
  wharf::port<std::string> reply;
  service.post(greet{"Ada", reply});
  pool.drain();
  std::cout << reply.try_take().value_or("no reply") << '\n';

  service.post(stop{});
  pool.drain();
  const bool accepted = service.post(greet{"Bob", reply});
  std::cout << (accepted ? "accepted" : "refused: it has stopped") << '\n';
}

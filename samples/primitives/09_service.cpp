// A simple service: its messages, its port set, create(), and handlers.
//
// Clients see the port set only. The handlers run beside each other and
// themselves, which is right here: what they share never changes. They also
// hold the service, which so lives until its ports or its queue end.

#include <wharf/wharf.hpp>

#include <iostream>
#include <memory>
#include <string>

namespace {

struct greet {
  std::string name;
  wharf::port<std::string> reply;
};
struct part {
  std::string name;
  wharf::port<std::string> reply;
};

class greeter_port : public wharf::port_set<greet, part> {};

class greeter {
public:
  static greeter_port create(wharf::dispatcher_queue& queue) {
    using namespace wharf;
    greeter_port service;
    const auto self = std::make_shared<const greeter>();
    activate(queue, receive(persist, service.get<greet>(), [self](greet asked) {
               asked.reply.post(self->hello_ + ", " + asked.name);
             }));
    activate(queue, receive(persist, service.get<part>(), [self](part asked) {
               asked.reply.post(self->goodbye_ + ", " + asked.name);
             }));
    return service;
  }

private:
  std::string hello_ = "Hello";
  std::string goodbye_ = "Goodbye";
};

} // namespace

int main() {
  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "greeter"};
  greeter_port service = greeter::create(queue);

  wharf::port<std::string> reply;
  service.post(greet{"Ada", reply});
  pool.drain();
  std::cout << reply.try_take().value_or("no reply") << '\n';
  service.post(part{"Ada", reply});
  pool.drain();
  std::cout << reply.try_take().value_or("no reply") << '\n';
}

// How a component lives and dies, one way: its handlers hold it.
//
// Each handler has a shared pointer to the component; nobody else needs one.
// After the teardown the handlers are destroyed, and with them the last
// pointer: the component ends when its work does.

#include <wharf/wharf.hpp>

#include <iostream>
#include <memory>

namespace {

struct add {
  int amount = 0;
};
struct stop {};

using counter_port = wharf::port_set<add, stop>;

class counter : public std::enable_shared_from_this<counter> {
public:
  ~counter() { std::cout << "the counter dies\n"; }

  void start(wharf::dispatcher_queue& queue, const counter_port& service) {
    using namespace wharf;
    auto on_stop = [self = shared_from_this()](stop) {
      std::cout << "total: " << self->total_ << '\n';
    };
    auto on_add = [self = shared_from_this()](add a) {
      self->total_ += a.amount;
    };
    activate(
        queue,
        interleave(teardown(receive(service.get<stop>(), on_stop)).then_close(),
                   exclusive(receive(persist, service.get<add>(), on_add))));
  }

private:
  int total_ = 0;
};

} // namespace

int main() {
  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "counter"};
  counter_port service;
  std::make_shared<counter>()->start(queue, service);

  service.post(add{40});
  service.post(add{2});
  pool.drain();
  std::cout << "the counter lives\n";
  service.post(stop{});
  pool.drain();
  std::cout << "the program goes on\n";
}

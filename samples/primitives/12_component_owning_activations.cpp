// How a component lives and dies, the other way: it owns its activations.
//
// Its handlers use `this`, so it must not die before they are over: it cancels
// what it activated and waits for the end. It dies where waiting is allowed:
// never on a worker of a dispatcher, so not inside a handler.

#include <wharf/wharf.hpp>

#include <iostream>

namespace {

class counter {
public:
  explicit counter(wharf::dispatcher_queue& queue)
      : counting_{wharf::activate(
            queue, wharf::receive(wharf::persist, numbers_, [this](int n) {
                     total_ += n;
                   }).one_at_a_time())} {}

  ~counter() {
    counting_.cancel(); // no handler starts from here on
    counting_.wait();   // and none is running from here on
    std::cout << "total: " << total_ << '\n';
  }

  counter(const counter&) = delete;
  counter& operator=(const counter&) = delete;

  wharf::port<int> numbers() const { return numbers_; }

private:
  int total_ = 0;
  wharf::port<int> numbers_;
  wharf::activation counting_;
};

} // namespace

int main() {
  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "counter"};

  wharf::port<int> numbers;
  {
    counter component{queue};
    numbers = component.numbers();
    numbers.post(40);
    numbers.post(2);
    pool.drain();
    std::cout << "the counter lives\n";
  }
  std::cout << "the program goes on\n";

  numbers.post(1); // this handle keeps the port open, but nobody is there
  pool.drain();
  std::cout << "waiting in the port: " << numbers.size() << '\n';
}

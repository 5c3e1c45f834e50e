// receive: a handler for one message, or for every message, of a port.
//
// A message waits in its port while nobody wants it. A one-time receiver takes
// one and is gone; a persistent one takes what is there and all that comes.

#include <wharf/wharf.hpp>

#include <iostream>

int main() {
  using namespace wharf;
  dispatcher pool;
  dispatcher_queue queue{pool, "receive"};
  port<int> numbers;

  activate(queue, receive(numbers, [](int n) {
             std::cout << "one-time: " << n << '\n';
           }));
  numbers.post(1);
  numbers.post(2); // nobody is left to take it
  pool.drain();
  std::cout << "waiting in the port: " << numbers.size() << '\n';

  // Without one_at_a_time() the handlers of several messages may overlap.
  activate(queue, receive(persist, numbers, [](int n) {
                    std::cout << "persistent: " << n << '\n';
                  }).one_at_a_time());
  numbers.post(3);
  numbers.post(4);
  pool.drain();
  std::cout << "waiting in the port: " << numbers.size() << '\n';
}

// receive, built explicitly: what receive() returns is a description.
//
// It is a value like others: it can be named, refined and moved about. Nothing
// happens before activate(), which uses it up.

#include <wharf/wharf.hpp>

#include <iostream>
#include <utility>

int main() {
  using namespace wharf;
  dispatcher pool;
  dispatcher_queue queue{pool, "receive"};
  port<int> numbers;

  auto print = [](int n) { std::cout << "even: " << n << '\n'; };
  auto is_even = [](const int& n) { return n % 2 == 0; };

  auto all = receive(persist, numbers, print);
  auto r = std::move(all).when(is_even).one_at_a_time();

  for (int n = 1; n <= 4; ++n) {
    numbers.post(n);
  }
  pool.drain();
  std::cout << "described: " << numbers.size() << " messages wait\n";

  activation running = activate(queue, std::move(r));
  pool.drain();
  std::cout << "activated: " << numbers.size() << " messages wait\n";

  std::cout << "cancelled: " << std::boolalpha << running.cancel() << '\n';
  numbers.post(6);
  pool.drain();
  std::cout << "afterwards: " << numbers.size() << " messages wait\n";
}

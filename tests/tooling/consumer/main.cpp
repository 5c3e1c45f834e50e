#include <wharf/wharf.hpp>

int main() {
  int received = 0;
  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "queue"};
  wharf::port<int> numbers;
  wharf::activate(
      queue, wharf::receive(numbers, [&received](int n) { received = n; }));
  numbers.post(1);
  pool.drain();
  return received == 1 ? 0 : 1;
}

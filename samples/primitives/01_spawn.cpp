// spawn: a plain function, run once on a queue.
//
// Spawned functions run side by side and in no promised order, so each of these
// posts its result instead of printing it. Arguments are moved in; types that
// can't be copied are welcome. What spawn returns can be waited for.

#include <wharf/wharf.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <utility>

namespace {

void square(int n, wharf::port<int> results) {
  results.post(n * n);
}

} // namespace

int main() {
  using namespace wharf;
  dispatcher pool;
  dispatcher_queue queue{pool, "spawn"};

  port<int> squares;
  for (int n = 1; n <= 4; ++n) {
    spawn(queue, square, n, squares);
  }
  pool.drain(); // until nothing is queued or running

  int sum = 0;
  for (const int each : squares.try_take_all()) {
    sum += each;
  }
  std::cout << "1 + 4 + 9 + 16 = " << sum << '\n';

  auto parcel = std::make_unique<std::string>("a parcel");
  activation delivery = spawn(
      queue,
      [](std::unique_ptr<std::string> p) {
        std::cout << *p << " was moved, not copied\n";
      },
      std::move(parcel));
  delivery.wait(); // until the function has returned
}

// join, when how many is known at run time only.
//
// n messages of one port, or one message each of a range of ports: taken all at
// once, and handed over as a vector.

#include <wharf/wharf.hpp>

#include <cstddef>
#include <iostream>
#include <vector>

namespace {

void print(const char* what, const std::vector<double>& values) {
  std::cout << what;
  for (const double value : values) {
    std::cout << ' ' << value;
  }
  std::cout << '\n';
}

} // namespace

int main() {
  using namespace wharf;
  dispatcher pool;
  dispatcher_queue queue{pool, "join"};

  const std::size_t n = 5;
  port<double> samples;
  for (std::size_t i = 0; i < n + 2; ++i) {
    samples.post(static_cast<double>(i) / 2);
  }
  activate(queue, join(samples, n, [](std::vector<double> taken) {
             print("n of one port:", taken);
           }));
  pool.drain();
  std::cout << "left in it: " << samples.size() << '\n';

  std::vector<port<double>> sensors(3);
  activate(queue, join(sensors, [](std::vector<double> one_each) {
             print("one of each port:", one_each);
           }));
  sensors[2].post(20.5);
  sensors[0].post(18.25);
  sensors[1].post(19);
  pool.drain();
}

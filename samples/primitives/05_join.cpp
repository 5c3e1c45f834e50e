// join: one message of each of several ports, all or none.
//
// The handler runs once both are there, whichever came first. It may post new
// messages back; this join is a one-time one, so it does not take them again.

#include <wharf/wharf.hpp>

#include <iostream>
#include <string>

int main() {
  using namespace wharf;
  port<double> prices; // made first: the handler uses them
  port<std::string> labels;
  dispatcher pool;
  dispatcher_queue queue{pool, "join"};

  activate(queue, join(prices, labels, [&](double price, std::string label) {
             std::cout << label << " costs " << price << '\n';
             prices.post(price / 2);
             labels.post(label + ", at half price,");
           }));

  prices.post(3.5);
  pool.drain();
  std::cout << "a price alone stays where it is: " << prices.size() << '\n';

  labels.post("coffee");
  pool.drain();
  std::cout << "posted back: " << labels.try_take().value_or("nothing")
            << " costs " << prices.try_take().value_or(0) << '\n';
}

// Two joins that need the same message.
//
// Both wait for the one sum of money, each with a port of its own. Whichever
// gets it posts it back, changed, and so lets the other one run. The messages
// are the resource and the signal at once; who was first does not matter to the
// outcome.

#include <wharf/wharf.hpp>

#include <iostream>
#include <string>

int main() {
  using namespace wharf;
  port<double> money; // made first: the handlers use them
  port<std::string> shopping;
  port<int> savings;
  port<std::string> done;
  dispatcher pool;
  dispatcher_queue queue{pool, "joins"};

  activate(queue, join(money, shopping, [&](double all, std::string what) {
             done.post("bought " + what);
             money.post(all - 30);
           }));
  activate(queue, join(money, savings, [&](double all, int part) {
             done.post("saved " + std::to_string(part));
             money.post(all - part);
           }));

  shopping.post("a lamp");
  savings.post(50);
  pool.drain();
  std::cout << "done without money: " << done.size() << '\n';

  money.post(100);
  pool.drain();
  std::cout << "done with it: " << done.size() << '\n';
  std::cout << "money that is left: " << money.try_take().value_or(0) << '\n';
}

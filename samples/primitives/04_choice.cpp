// choice: exactly one of several branches, here success or failure.
//
// A request carries a port set for its reply. Whoever asks waits for either
// type with one choice; the branch that loses leaves its port untouched.

#include <wharf/wharf.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>

namespace {

using division_reply = wharf::port_set<int, std::exception_ptr>;

struct division {
  int dividend = 0;
  int divisor = 1;
  division_reply reply;
};

void divide(division asked) {
  if (asked.divisor == 0) {
    asked.reply.post(
        std::make_exception_ptr(std::domain_error{"division by zero"}));
  } else {
    asked.reply.post(asked.dividend / asked.divisor);
  }
}

void print_failure(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    std::cout << "failure: " << error.what() << '\n';
  }
}

} // namespace

int main() {
  using namespace wharf;
  dispatcher pool;
  dispatcher_queue queue{pool, "choice"};
  port<division> divisions;
  activate(queue, receive(persist, divisions, divide));

  for (const int divisor : {6, 0}) {
    division_reply reply;
    activate(queue, choice(
                        reply,
                        [](int quotient) {
                          std::cout << "success: " << quotient << '\n';
                        },
                        print_failure));
    divisions.post(division{42, divisor, reply});
    pool.drain();
  }
}

// Nested causalities: who hears of a failure, and who hears of it next.
//
// A request for a print goes to a printer and is nobody's business from there
// on. Whoever asked has said, once, where failures of all that follows go. The
// part in between knows what to do if paper is missing, so it is told first;
// what it can't help with it throws again, and that goes one further out.

#include <wharf/wharf.hpp>

#include <iostream>
#include <stdexcept>
#include <string>

namespace {

using namespace wharf;

struct out_of_paper : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void print(std::string text) { // runs far away, and knows of no request
  if (text == "novel") {
    throw out_of_paper{"no paper for the " + text};
  }
  if (text == "banknote") {
    throw std::invalid_argument{"this is not allowed"};
  }
  std::cout << "printed: " << text << '\n';
}

/// Helps if paper is missing; else the failure goes on outwards.
void help(std::exception_ptr failure) {
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const out_of_paper& e) {
    std::cout << "the office: " << e.what() << ", getting some\n";
  }
}

void regret(std::exception_ptr failure) {
  try {
    std::rethrow_exception(std::move(failure));
  } catch (const std::exception& e) {
    std::cout << "the customer: " << e.what() << '\n';
  }
}

} // namespace

int main() {
  port<std::string> jobs{"jobs"};
  port<std::exception_ptr> of_the_office{"failures of the office"};
  port<std::exception_ptr> of_the_customer{"failures of the customer"};
  dispatcher pool;
  dispatcher_queue queue{pool, "copy shop"};
  activate(queue, receive(persist, jobs, print).one_at_a_time());
  activate(queue, receive(persist, of_the_office, help));
  activate(queue, receive(persist, of_the_customer, regret));

  const causality customer{"customer", of_the_customer};
  const causality office{"office", of_the_office};
  {
    const causality_scope outer{customer};
    const causality_scope inner{office};
    for (const auto* text : {"letter", "novel", "banknote"}) {
      jobs.post(text);
      pool.drain();
    }
  }
}

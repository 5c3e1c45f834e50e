#include "support/test_dispatcher.hpp"

namespace wharf::test {

using access = detail::dispatcher_access;

test_dispatcher::test_dispatcher() : pool_{access::make_manual()} {
}

bool test_dispatcher::run_one() {
  return access::run_one(pool_);
}

std::size_t test_dispatcher::run_all() {
  std::size_t ran = 0;
  while (run_one()) {
    ++ran;
  }
  return ran;
}

void test_dispatcher::advance(std::chrono::steady_clock::duration by) {
  access::set_now(pool_, now() + by);
}

std::chrono::steady_clock::time_point test_dispatcher::now() const {
  return pool_.now();
}

std::size_t test_dispatcher::pending_timers() const {
  return access::pending_timers(pool_);
}

} // namespace wharf::test

// R3: g++ 12 does not compile an initializer_list in an expression that awaits.

#include "../probe.hpp"

#include <initializer_list>

namespace conformance {

inline coro<int> sum(std::initializer_list<int> of) {
  co_return *of.begin();
}

coro<int> r3() {
  co_return co_await sum({1, 2, 3});
}

} // namespace conformance

// R4: g++ 12 fails at a member of a temporary object as the condition of an
// await.

#include "../probe.hpp"

namespace conformance {

struct answer {
  bool known;
  tracked value;
};

inline answer look_up(int n) {
  return {n != 0, tracked{n}};
}

coro<int> r4(int n) {
  const int found = look_up(n).known ? co_await later{1} : 0;
  co_return found;
}

} // namespace conformance

// See shrink.hpp: drops steps, then parts and actions of arbiters, until
// nothing can be dropped any more.

#include "shrink.hpp"

#include <cstddef>
#include <utility>

namespace wharf::laws {
namespace {

using predicate = std::function<bool(const program&)>;

/// Drops elements of a list that is part of `p`, one at a time.
template <class List>
bool drop_elements(program& p, List& list, const predicate& fails) {
  bool dropped = false;
  for (std::size_t i = list.size(); i-- != 0;) {
    auto at = list.begin() + static_cast<std::ptrdiff_t>(i);
    auto without = std::move(*at);
    list.erase(at);
    if (fails(p)) {
      dropped = true;
    } else {
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(i),
                  std::move(without));
    }
  }
  return dropped;
}

bool simplify(program& p, spec& s, const predicate& fails) {
  bool simpler = drop_elements(p, s.script, fails);
  simpler = drop_elements(p, s.parts, fails) || simpler;
  for (spec& part : s.parts) {
    simpler = simplify(p, part, fails) || simpler;
  }
  return simpler;
}

} // namespace

program shrink(program p, const predicate& fails) {
  bool smaller = true;
  while (smaller) {
    smaller = drop_elements(p, p.steps, fails);
    for (spec& each : p.arbiters) {
      smaller = simplify(p, each, fails) || smaller;
    }
  }
  return p;
}

} // namespace wharf::laws

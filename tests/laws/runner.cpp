// See runner.hpp.

#include "runner.hpp"

#include "world.hpp"

namespace wharf::laws {

trace run(const program& p) {
  trace log;
  {
    world w{p, log};
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      w.do_step(i);
    }
  }
  return log;
}

} // namespace wharf::laws

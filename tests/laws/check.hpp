#pragma once

// Compares what a program showed with what the model says.

#include "bites.hpp"
#include "program.hpp"
#include "trace.hpp"

#include <string>

namespace wharf::laws {

struct finding {
  bool lawful = true;
  int step = 0;      // where the first difference was seen
  std::string why{}; // what the difference is
  bites marks{};     // if lawful: the rules that mattered
};

finding check(const program& p, const trace& seen);

} // namespace wharf::laws

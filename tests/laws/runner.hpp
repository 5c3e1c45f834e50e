#pragma once

// Runs a program on Wharf, on the test dispatcher, and writes down what it
// shows. The only part of the law tests that knows Wharf.

#include "program.hpp"
#include "trace.hpp"

namespace wharf::laws {

trace run(const program& p);

} // namespace wharf::laws

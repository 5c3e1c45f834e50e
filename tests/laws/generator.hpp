#pragma once

// From a seed to a program, the same on every machine.

#include "program.hpp"

#include <cstdint>

namespace wharf::laws {

program generate(std::uint64_t seed);

} // namespace wharf::laws

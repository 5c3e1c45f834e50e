#pragma once

// Makes a program that breaks a law smaller while it still breaks one.

#include "program.hpp"

#include <functional>

namespace wharf::laws {

program shrink(program p, const std::function<bool(const program&)>& fails);

} // namespace wharf::laws

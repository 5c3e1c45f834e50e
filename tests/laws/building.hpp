#pragma once

// From the text of a program's arbiter to one of Wharf's.

#include "world.hpp"

#include <cstddef>

namespace wharf::laws {

activation activate_spec(world& w, dispatcher_queue& queue, const spec& s,
                         std::size_t number);

} // namespace wharf::laws

#pragma once

// What this executable holds of the heap through operator new, counted.

#include <cstddef>

namespace wharf::test {

/// Bytes allocated and not yet released, as the allocator rounds them.
std::ptrdiff_t live_bytes() noexcept;

/// Calls of operator new so far.
std::size_t allocations() noexcept;

} // namespace wharf::test

#pragma once

// Memory for message nodes and coroutine frames: a small cache in each thread,
// refilled and emptied in batches, so that a node that is made on one thread
// and destroyed on another costs no allocation once the program is warm.

#include <cstddef>

namespace wharf::inline v1::detail {

/// Memory for one node of `bytes`. Throws std::bad_alloc.
void* node_allocate(std::size_t bytes);

/// Takes back what node_allocate(bytes) gave, on any thread. What exceeds the
/// caches' bounds goes back to the system, so a burst leaves nothing behind.
void node_release(void* memory, std::size_t bytes) noexcept;

/// The same for the frames of coroutines, whose sizes say nothing about their
/// alignment.
inline std::size_t frame_bytes(std::size_t bytes) noexcept {
  return (bytes + 15) & ~std::size_t{15};
}
inline void* frame_allocate(std::size_t bytes) {
  return node_allocate(frame_bytes(bytes));
}
inline void frame_release(void* memory, std::size_t bytes) noexcept {
  node_release(memory, frame_bytes(bytes));
}

} // namespace wharf::inline v1::detail

#pragma once

// The words that receive, join and gather share.

#include <cstdint>

namespace wharf::inline v1 {

/// As the first argument of receive or join: the arbiter stays registered and
/// runs its handler for every message (or set of messages).
struct persist_t {};
inline constexpr persist_t persist{};

/// Priorities: who is asked first for a message, and within a group of an
/// interleave who runs first. Any int is one; a greater one comes first.
namespace priority {
inline constexpr std::int32_t low = -1;
inline constexpr std::int32_t normal = 0;
inline constexpr std::int32_t high = 1;
} // namespace priority

} // namespace wharf::inline v1

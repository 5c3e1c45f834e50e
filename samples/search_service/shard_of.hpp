#pragma once

// Owns the rule which shard has which document.

#include <cstddef>
#include <functional>
#include <string_view>

namespace search_service {

/// The shard, of `count`, that has the document of this path.
inline std::size_t shard_of(std::string_view path, std::size_t count) {
  return std::hash<std::string_view>{}(path) % count;
}

} // namespace search_service

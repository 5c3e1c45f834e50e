#pragma once

// Owns an index as bytes: what a shard writes to a snapshot and any number of
// shards read from it.

#include "inverted_index.hpp"

#include <span>
#include <string>
#include <string_view>

namespace search_service {

/// All documents of an index and all their words.
std::string to_section(const inverted_index& index);

/// Adds the documents of a section, each to the shard that is its own. Throws
/// malformed_bytes if it is no section, and std::invalid_argument if a document
/// is there twice; the shards are good for nothing then.
void from_section(std::string_view section, std::span<inverted_index> shards);

} // namespace search_service

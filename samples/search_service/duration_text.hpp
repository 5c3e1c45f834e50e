#pragma once

// Owns how durations are written on the command line.

#include <chrono>
#include <optional>
#include <string_view>

namespace search_service {

/// Reads a whole number with a unit: "500ms", "2s", "1m", "1h". Nothing if it
/// is written in another way or longer than a day.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);

} // namespace search_service

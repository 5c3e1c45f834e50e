#include "duration_text.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace search_service {

namespace {

std::optional<std::chrono::milliseconds> unit_of(std::string_view text) {
  using namespace std::chrono_literals;
  if (text == "ms") {
    return 1ms;
  }
  if (text == "s") {
    return 1s;
  }
  if (text == "m") {
    return 1min;
  }
  if (text == "h") {
    return 1h;
  }
  return std::nullopt;
}

} // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::uint32_t count = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  const auto read = static_cast<std::size_t>(end - text.data());
  const auto unit = unit_of(text.substr(read));
  constexpr std::chrono::milliseconds longest = std::chrono::hours{24};
  if (!unit || count > longest / *unit) {
    return std::nullopt;
  }
  return count * *unit;
}

} // namespace search_service

#pragma once

// A name in an options struct.

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace wharf::inline v1::detail {

/// A text that lies in place, cut at 47 characters. It has no destructor: g++
/// 12 destroys brace-built temporaries in an expression with co_await twice,
/// and options are such temporaries.
class short_name {
public:
  template <class Text>
    requires std::convertible_to<const Text&, std::string_view>
  constexpr short_name(const Text& text) noexcept {
    const std::string_view all = text;
    size_ = std::min(all.size(), text_.size());
    std::copy_n(all.begin(), size_, text_.begin());
  }

  constexpr operator std::string_view() const noexcept {
    return {text_.data(), size_};
  }

private:
  std::array<char, 47> text_{};
  std::size_t size_ = 0;
};

} // namespace wharf::inline v1::detail

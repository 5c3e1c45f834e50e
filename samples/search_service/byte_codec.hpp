#pragma once

// Owns how numbers and texts are laid out as bytes: the same on every machine,
// and small numbers in few of them.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace search_service {

/// Appends to a string.
class byte_writer {
public:
  explicit byte_writer(std::string& to) : to_{to} {}

  /// Seven bits a byte, the lowest first; the eighth says that more follow.
  void number(std::uint64_t value) {
    while (value >= 0x80) {
      to_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    to_.push_back(static_cast<char>(value));
  }

  void text(std::string_view value) {
    number(value.size());
    to_ += value;
  }

private:
  std::string& to_;
};

/// What is read is not what was written.
class malformed_bytes : public std::runtime_error {
public:
  malformed_bytes() : std::runtime_error{"its content makes no sense"} {}
};

/// Reads what a byte_writer wrote. Whatever the bytes are, it reads nothing but
/// them; what makes no sense throws malformed_bytes.
///
/// Lifetime: the bytes must outlive the reader and the texts that it returns.
class byte_reader {
public:
  explicit byte_reader(std::string_view from) : rest_{from} {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if ((byte & 0x80) == 0) {
        return value;
      }
    }
    throw malformed_bytes{};
  }

  /// A number of at most `limit`.
  std::uint32_t number_up_to(std::uint32_t limit) {
    const std::uint64_t value = number();
    if (value > limit) {
      throw malformed_bytes{};
    }
    return static_cast<std::uint32_t>(value);
  }

  std::string_view text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) {
      throw malformed_bytes{};
    }
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  bool at_end() const { return rest_.empty(); }

private:
  std::string_view rest_;
};

} // namespace search_service

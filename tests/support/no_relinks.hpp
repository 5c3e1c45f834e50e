#pragma once

// The promise of receives, joins and choices: nothing is ever put back.

#include <wharf/detail/port_core.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace wharf::test {

/// Fails the test if a message is linked back into a port while it lives.
class no_relinks {
public:
  no_relinks() noexcept : before_{detail::relinks()} {}
  ~no_relinks() { EXPECT_EQ(detail::relinks(), before_); }
  no_relinks(const no_relinks&) = delete;
  no_relinks& operator=(const no_relinks&) = delete;

private:
  const std::uint64_t before_;
};

} // namespace wharf::test

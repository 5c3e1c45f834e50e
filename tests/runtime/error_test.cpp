#include <wharf/error.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

namespace wharf {
namespace {

static_assert(std::is_base_of_v<std::runtime_error, port_closed>);
static_assert(std::is_base_of_v<std::runtime_error, timed_out>);
static_assert(std::is_base_of_v<std::runtime_error, unanswered>);

TEST(ErrorTest, PortClosedCarriesItsSentence) {
  try {
    throw port_closed{"port \"numbers\" is closed"};
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "port \"numbers\" is closed");
  }
}

} // namespace
} // namespace wharf

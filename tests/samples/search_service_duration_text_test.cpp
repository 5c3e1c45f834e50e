#include "search_service/duration_text.hpp"

#include <gtest/gtest.h>

namespace search_service {
namespace {

using namespace std::chrono_literals;

TEST(SearchServiceDurationTextTest, ReadsAWholeNumberWithItsUnit) {
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("2s"), 2s);
  EXPECT_EQ(parse_duration("1m"), 1min);
  EXPECT_EQ(parse_duration("24h"), 24h);
  EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(SearchServiceDurationTextTest, AnythingElseIsNothing) {
  for (const char* text :
       {"", "s", "2", "2 s", " 2s", "2s ", "2S", "-2s", "+2s", "1.5s", "2sec",
        "2s2s", "0x2s", "25h", "86401s", "4294967295h", "99999999999999999s",
        "two seconds"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

} // namespace
} // namespace search_service

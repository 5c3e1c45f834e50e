// Random programs, each run on Wharf and explained by the model.

#include "bites.hpp"
#include "check.hpp"
#include "generator.hpp"
#include "last_words.hpp"
#include "program.hpp"
#include "runner.hpp"
#include "shrink.hpp"

#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>

namespace wharf::laws {
namespace {

std::optional<std::uint64_t> number_from_environment(const char* name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing else runs yet.
  const char* text = std::getenv(name);
  return text != nullptr ? std::optional{std::strtoull(text, nullptr, 10)}
                         : std::nullopt;
}

finding judge_program(const program& p) {
  return check(p, run(p));
}

/// The failure as a text: what broke, and the smallest program that does.
std::string report(const program& p, const finding& found) {
  const program small =
      shrink(p, [](const program& q) { return !judge_program(q).lawful; });
  const finding again = judge_program(small);
  std::ostringstream text;
  text << "seed " << p.seed << ", step " << found.step << ": " << found.why
       << "\nreplay: WHARF_SEED=" << p.seed << "\n\nshrunk, step " << again.step
       << ": " << again.why << "\n"
       << to_text(small);
  return text.str();
}

/// How often each rule mattered.
class bite_table {
public:
  void add(const bites& marks) {
    ++programs_;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      counts_[i] += marks.test(i) ? 1 : 0;
    }
  }
  /// At least one in a hundred.
  bool enough() const {
    for (std::size_t each : counts_) {
      if (each * 100 < programs_) {
        return false;
      }
    }
    return true;
  }
  void print(std::ostream& out) const {
    out << programs_ << " programs; in how many each rule mattered:\n";
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      out << std::setw(8) << counts_[i] << "  " << name_of(static_cast<rule>(i))
          << (counts_[i] * 100 < programs_ ? "   TOO FEW" : "") << "\n";
    }
  }

private:
  std::size_t programs_ = 0;
  std::array<std::size_t, static_cast<std::size_t>(rule::count)> counts_{};
};

TEST(RandomProgramTest, DoesWhatTheModelSays) {
  if (const auto seed = number_from_environment("WHARF_SEED")) {
    const program p = generate(*seed);
    const finding found = judge_program(p);
    std::cout << to_text(p);
    ASSERT_TRUE(found.lawful) << report(p, found);
    return;
  }
  const std::uint64_t seeds =
      number_from_environment("WHARF_LAW_PROGRAMS")
          .value_or(static_cast<std::uint64_t>(test::scaled(10'000)));
  bite_table table;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const last_words if_it_dies{seed};
    const program p = generate(seed);
    const finding found = judge_program(p);
    ASSERT_TRUE(found.lawful) << report(p, found);
    table.add(found.marks);
  }
  table.print(std::cout);
  if (seeds >= 5'000) { // fewer say little about what is rare
    EXPECT_TRUE(table.enough()) << "a law that hardly bites proves little";
  }
}

} // namespace
} // namespace wharf::laws

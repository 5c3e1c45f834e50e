#pragma once

// Which program was at work when the test crashed or hung: there is no time
// for a report then.

#include <cstdint>

namespace wharf::laws {

/// While it lives, a crash or a hang on this thread names the seed.
class last_words {
public:
  explicit last_words(std::uint64_t seed);
  ~last_words();
  last_words(const last_words&) = delete;
  last_words& operator=(const last_words&) = delete;
};

} // namespace wharf::laws

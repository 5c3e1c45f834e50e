#pragma once

// How much of a load this build carries in the time that a test has.

namespace wharf::test {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WHARF_TEST_SANITIZED 1
#endif
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WHARF_TEST_SANITIZED 1
#endif

#if defined(WHARF_TEST_SANITIZED)
inline constexpr int load_divisor = 20;
#elif !defined(__OPTIMIZE__)
inline constexpr int load_divisor = 4;
#else
inline constexpr int load_divisor = 1;
#endif

/// `full` in an optimised build, less where everything is slower.
constexpr int scaled(int full) noexcept {
  return full / load_divisor > 0 ? full / load_divisor : 1;
}

} // namespace wharf::test

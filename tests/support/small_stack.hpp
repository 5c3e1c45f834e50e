#pragma once

// Threads with little stack: what takes a frame for each step of a long chain
// does not get far there.

#include <pthread.h>

#include <cstddef>
#include <thread>

namespace wharf::test {

#if defined(__SANITIZE_THREAD__)
#define WHARF_TEST_STACK_KIB 2048
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WHARF_TEST_STACK_KIB 2048
#endif
#endif
#if !defined(WHARF_TEST_STACK_KIB)
#define WHARF_TEST_STACK_KIB 256
#endif

/// While one lives, threads start with a stack of 256 KiB, the workers of
/// dispatchers included. ThreadSanitizer keeps so much there itself that it
/// needs 2 MiB. For one test at a time.
class small_stacks {
public:
  small_stacks() {
    ::pthread_getattr_default_np(&before_);
    ::pthread_attr_t small;
    ::pthread_attr_init(&small);
    ::pthread_attr_setstacksize(&small,
                                std::size_t{WHARF_TEST_STACK_KIB} * 1024);
    ::pthread_setattr_default_np(&small);
    ::pthread_attr_destroy(&small);
  }
  ~small_stacks() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  small_stacks(const small_stacks&) = delete;
  small_stacks& operator=(const small_stacks&) = delete;

private:
  ::pthread_attr_t before_{};
};

/// Runs `body` on such a thread; so run the dispatchers that it makes.
template <class Body>
void on_small_stacks(Body body) {
  const small_stacks here;
  std::thread{body}.join();
}

} // namespace wharf::test

#pragma once

// A move-only message that is counted: at the end of a test none may live.

#include <atomic>
#include <utility>

namespace wharf::test {

class counted {
public:
  explicit counted(int v = 0) noexcept : value{v} { ++count(); }
  counted(counted&& other) noexcept : value{std::exchange(other.value, -1)} {
    ++count();
  }
  counted& operator=(counted&& other) noexcept {
    value = std::exchange(other.value, -1);
    return *this;
  }
  ~counted() { --count(); }

  /// Objects alive, moved-from ones included.
  static long live() noexcept { return count().load(); }

  int value;

private:
  static std::atomic<long>& count() noexcept {
    static std::atomic<long> live{0};
    return live;
  }
};

} // namespace wharf::test

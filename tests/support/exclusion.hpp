#pragma once

// What must hold of the handlers of one interleave, checked by themselves.

#include <atomic>

namespace wharf::test {

/// Handlers of one interleave at work: -1 is a writer, n > 0 are readers.
class exclusion {
public:
  void read() {
    if (++inside_ <= 0 || over_) {
      ++violations_;
    }
    --inside_;
  }
  void write() {
    if (inside_-- != 0 || over_) {
      ++violations_;
    }
    ++inside_;
  }
  void tear_down() {
    write();
    over_ = true;
    ++teardowns_;
  }
  int violations() const { return violations_; }
  int teardowns() const { return teardowns_; }

private:
  std::atomic<int> inside_{0};
  std::atomic<int> violations_{0};
  std::atomic<int> teardowns_{0};
  std::atomic<bool> over_{false};
};

} // namespace wharf::test

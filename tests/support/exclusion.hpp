#pragma once

// What must hold of the handlers of one interleave, checked by themselves.

#include <atomic>

namespace wharf::test {

/// Handlers of one interleave at work: -1 is a writer, n > 0 are readers.
class exclusion {
public:
  void begin_read() { expect(++inside_ > 0); }
  void end_read() { --inside_; }
  void begin_write() { expect(inside_-- == 0); }
  void end_write() { ++inside_; }

  void read() {
    begin_read();
    end_read();
  }
  void write() {
    begin_write();
    end_write();
  }
  void tear_down() {
    write();
    over_ = true;
    ++teardowns_;
  }

  int violations() const { return violations_; }
  int teardowns() const { return teardowns_; }
  bool idle() const { return inside_ == 0; }

private:
  void expect(bool rule) {
    if (!rule || over_) {
      ++violations_;
    }
  }

  std::atomic<int> inside_{0};
  std::atomic<int> violations_{0};
  std::atomic<int> teardowns_{0};
  std::atomic<bool> over_{false};
};

} // namespace wharf::test

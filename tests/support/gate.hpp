#pragma once

// A gate that a test holds shut inside handlers, so that what happens
// meanwhile is certain.

#include <condition_variable>
#include <mutex>

namespace wharf::test {

class gate {
public:
  /// In a handler: counts itself in and waits until the gate is open.
  void pass() {
    std::unique_lock lock{mutex_};
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }

  /// In the test: waits until `n` handlers have come to the gate.
  void wait_for(int n) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this, n] { return inside_ >= n; });
  }

  /// Lets everybody through, from now on.
  void open() {
    const std::lock_guard lock{mutex_};
    open_ = true;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int inside_ = 0;
  bool open_ = false;
};

} // namespace wharf::test

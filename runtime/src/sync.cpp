// The slow paths of detail/sync.hpp.

#include <wharf/detail/sync.hpp>

namespace wharf::inline v1::detail {

void mutex::lock_contended() noexcept {
  // Critical sections here are a few dozen instructions, so a short spin
  // usually outlasts them; the bound covers an owner that lost its processor.
  constexpr int spins = 60;
  for (int i = 0; i < spins; ++i) {
    if (word_.load(std::memory_order_relaxed) == word_free && try_lock()) {
      return;
    }
    spin_hint();
  }
  while (word_.exchange(word_contended, std::memory_order_acquire) !=
         word_free) {
    word_.wait(word_contended, std::memory_order_relaxed);
  }
}

void parker::park() {
  std::unique_lock lock{mutex_};
  wake_.wait(lock, [this] { return woken_; });
  woken_ = false;
}

void parker::park_until(steady_clock::time_point deadline) {
  std::unique_lock lock{mutex_};
  wake_.wait_until(lock, deadline, [this] { return woken_; });
  woken_ = false;
}

void parker::unpark() noexcept {
  {
    std::lock_guard lock{mutex_};
    woken_ = true;
  }
  wake_.notify_one();
}

} // namespace wharf::inline v1::detail

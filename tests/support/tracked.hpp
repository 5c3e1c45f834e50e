#pragma once

// Values that tell what happened to them.

#include <atomic>
#include <stdexcept>
#include <utility>

namespace wharf::test {

/// What the tracked values that share it have been through.
struct tally {
  std::atomic<int> alive{0};
  std::atomic<int> copies{0};
};

/// A value that counts its copies and the objects that are alive.
class tracked {
public:
  explicit tracked(tally& counts, int number = 0) noexcept
      : value{number}, counts_{&counts} {
    ++counts_->alive;
  }
  tracked(const tracked& other) noexcept
      : value{other.value}, counts_{other.counts_} {
    ++counts_->alive;
    ++counts_->copies;
  }
  tracked(tracked&& other) noexcept
      : value{std::exchange(other.value, -1)}, counts_{other.counts_} {
    ++counts_->alive;
  }
  tracked& operator=(const tracked&) = delete;
  tracked& operator=(tracked&&) = delete;
  ~tracked() { --counts_->alive; }

  int value; // -1 once moved from

private:
  tally* counts_;
};

/// A value whose move throws when a number of moves is used up.
class fragile {
public:
  /// `moves_left` nullptr: it never throws.
  explicit fragile(int number, int* moves_left = nullptr) noexcept
      : value{number}, moves_left_{moves_left} {}
  fragile(fragile&& other)
      : value{other.value}, moves_left_{other.moves_left_} {
    if (moves_left_ != nullptr && --*moves_left_ < 0) {
      throw std::runtime_error{"broken on the way"};
    }
  }
  fragile& operator=(fragile&&) = delete;

  int value;

private:
  int* moves_left_;
};

} // namespace wharf::test

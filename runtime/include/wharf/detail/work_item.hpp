#pragma once

// What a dispatcher runs: work items, in intrusive lists, so that scheduling
// allocates nothing.

#include <wharf/detail/graveyard.hpp>

#include <chrono>
#include <cstdint>

namespace wharf::inline v1::detail {

class queue_core;

/// What a worker may still do before it turns to the next queue: a number of
/// handlers and a span of time. The clock is read after 2 and 4 handlers, then
/// when the span should be over at the pace so far, but not later than after
/// as many again: light handlers hardly pay for it, and turns of handlers that
/// cost the same are cut after about the same number of them.
class turn {
public:
  explicit turn(std::uint32_t handlers) noexcept : left_{handlers} {}

  bool over() const noexcept { return left_ == 0; }
  std::uint32_t left() const noexcept { return left_; }

  /// One handler was run.
  void spend() noexcept {
    left_ -= left_ != 0 ? 1 : 0;
    if (++spent_ == next_look_ && left_ != 0) {
      look_at_clock();
    }
  }

private:
  static constexpr std::chrono::microseconds span{50};

  void look_at_clock() noexcept;

  std::uint32_t left_;
  std::uint32_t spent_ = 0;
  std::uint32_t next_look_ = 2;
  std::chrono::steady_clock::time_point first_look_{};
};

/// One entry in the line of a dispatcher queue. An item is in at most one line
/// at a time; whoever schedules it sees to that.
class work_item : public doomed {
public:
  /// Runs on a worker, with no lock held. Must not throw: what user code
  /// throws is reported by the item.
  virtual void run(turn& budget) noexcept = 0;

  /// Called instead of run() if the queue ended first. Tells the queue of a
  /// decided handler that is discarded, before anybody hears that it has ended.
  virtual void discard() noexcept = 0;

  /// Whether it runs even on an ended queue: a coroutine that has started does,
  /// since nobody may destroy it.
  virtual bool survives_close() const noexcept { return false; }

  queue_core& queue() const noexcept { return *queue_; }

protected:
  explicit work_item(queue_core& queue) noexcept : queue_{&queue} {}
  ~work_item() = default;

  queue_core* const queue_;

private:
  friend class work_list;
  work_item* next_work_ = nullptr;
};

/// A FIFO of work items.
class work_list {
public:
  bool empty() const noexcept { return head_ == nullptr; }

  void push_back(work_item& item) noexcept {
    item.next_work_ = nullptr;
    (head_ ? tail_->next_work_ : head_) = &item;
    tail_ = &item;
  }

  work_item* pop_front() noexcept {
    work_item* item = head_;
    if (item != nullptr) {
      head_ = item->next_work_;
    }
    return item;
  }

private:
  work_item* head_ = nullptr;
  work_item* tail_ = nullptr;
};

} // namespace wharf::inline v1::detail

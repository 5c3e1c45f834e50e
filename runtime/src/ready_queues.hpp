#pragma once

// Which queues of a dispatcher have work: one bit for each, so that finding
// the next one in turn takes a few loads whatever the number of idle queues.

#include <wharf/detail/queue_core.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace wharf::inline v1::detail {

/// Thread safety: set, clear, any, next and holds may be called from any
/// thread; add and remove under the dispatcher's lock.
/// Lifetime: blocks live as long as the object, so readers need no lock.
class ready_queues {
public:
  ready_queues() = default;
  ready_queues(const ready_queues&) = delete;
  ready_queues& operator=(const ready_queues&) = delete;
  ~ready_queues() {
    for (block* b = first_.next.load(); b != nullptr;) {
      delete std::exchange(b, b->next.load());
    }
  }

  /// Gives the queue a bit. Throws std::bad_alloc.
  void add(queue_core& queue) {
    block* b = &first_;
    for (std::size_t base = 0;; base += block_size) {
      for (std::size_t i = 0; i < block_size; ++i) {
        if (b->queues[i].load(memory_order_relaxed) == nullptr) {
          queue.slot_ = base + i;
          b->queues[i].store(&queue);
          return;
        }
      }
      if (b->next.load() == nullptr) {
        b->next.store(new block);
      }
      b = b->next.load();
    }
  }

  void remove(queue_core& queue) noexcept {
    block_of(queue).queues[queue.slot_ % block_size].store(nullptr);
  }

  void set(queue_core& queue) noexcept {
    block_of(queue).ready.fetch_or(bit_of(queue)); // seq_cst: [S1]
  }
  void clear(queue_core& queue) noexcept {
    block_of(queue).ready.fetch_and(~bit_of(queue));
  }

  bool any() const noexcept {
    for (const block* b = &first_; b != nullptr; b = b->next.load()) {
      if (b->ready.load() != 0) { // seq_cst: [S2]
        return true;
      }
    }
    return false;
  }

  /// The first ready queue behind `cursor` in round-robin order, or nullptr.
  /// `serving` names it before this returns, and holds() was true after that,
  /// so it stays alive until `serving` is reset.
  queue_core* next(std::size_t& cursor, atomic<queue_core*>& serving) noexcept {
    if (queue_core* found = scan(cursor, ~std::size_t{0}, serving)) {
      return found;
    }
    std::size_t from_start = 0;
    return cursor == 0 ? nullptr : scan(from_start, cursor, serving, &cursor);
  }

private:
  static constexpr std::size_t block_size = 64;

  struct block {
    atomic<std::uint64_t> ready{0};
    std::array<atomic<queue_core*>, block_size> queues{};
    atomic<block*> next{nullptr};
  };

  static std::uint64_t bit_of(const queue_core& queue) noexcept {
    return std::uint64_t{1} << (queue.slot_ % block_size);
  }

  block& block_of(const queue_core& queue) noexcept {
    block* b = &first_;
    for (std::size_t i = queue.slot_ / block_size; i != 0; --i) {
      b = b->next.load();
    }
    return *b;
  }

  /// Looks at the slots from `cursor` up to `end`; moves the cursor behind
  /// what it finds.
  queue_core* scan(std::size_t& cursor, std::size_t end,
                   atomic<queue_core*>& serving,
                   std::size_t* moved = nullptr) noexcept {
    std::size_t base = 0;
    for (block* b = &first_; b != nullptr && base < end;
         b = b->next.load(), base += block_size) {
      if (base + block_size <= cursor) {
        continue;
      }
      std::uint64_t ready = b->ready.load();
      if (cursor > base) {
        ready &= ~std::uint64_t{0} << (cursor - base);
      }
      while (ready != 0) {
        const auto i = static_cast<std::size_t>(std::countr_zero(ready));
        if (base + i >= end) {
          return nullptr;
        }
        queue_core* queue = b->queues[i].load();
        if (queue != nullptr) {
          serving.store(queue); // seq_cst: [H1], pairs with [H2]
          if (b->queues[i].load() == queue) {
            (moved != nullptr ? *moved : cursor) = base + i + 1;
            return queue;
          }
          serving.store(nullptr); // retired meanwhile; the caller tells
          return nullptr;
        }
        ready &= ready - 1;
      }
    }
    return nullptr;
  }

  block first_;
};

} // namespace wharf::inline v1::detail

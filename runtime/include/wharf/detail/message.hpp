#pragma once

// Messages as the runtime sees them: nodes with a link and an arrival number,
// in lists that are relinked and never copied. The typed node adds the value.

#include <wharf/detail/context.hpp>
#include <wharf/detail/node_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <typeinfo>
#include <utility>

namespace wharf::inline v1::detail {

struct message_node {
  message_node* next = nullptr;
  std::uint64_t number = 0; // place in its port: ascending in arrival order
  context_ref under{};      // the poster's causalities
};

/// What the untyped runtime must know of a port's message type.
struct message_type {
  void (*destroy)(message_node*) noexcept;
  const char* (*name)() noexcept;
};

template <class T>
struct message final : message_node {
  template <class... Args>
  explicit message(Args&&... args) : value(std::forward<Args>(args)...) {}

  static constexpr bool pooled = alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  static void* operator new(std::size_t bytes) {
    if constexpr (pooled) {
      return node_allocate(bytes);
    } else {
      return ::operator new(bytes, std::align_val_t{alignof(T)});
    }
  }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    if constexpr (pooled) {
      node_release(memory, bytes);
    } else {
      ::operator delete(memory, bytes, std::align_val_t{alignof(T)});
    }
  }

  T value;
};

template <class T>
T& value_of(message_node* node) noexcept {
  return static_cast<message<T>*>(node)->value;
}

const char* demangled(const char* mangled) noexcept;

template <class T>
const char* type_name() noexcept;

template <class T>
inline constexpr message_type message_type_of{
    [](message_node* node) noexcept { delete static_cast<message<T>*>(node); },
    &type_name<T>};

/// A FIFO of nodes, ascending by number. Owns nothing by itself: whoever holds
/// the list decides when its nodes die.
class message_list {
public:
  message_list() noexcept = default;
  message_list(message_list&& other) noexcept
      : head_{std::exchange(other.head_, nullptr)},
        tail_{std::exchange(other.tail_, nullptr)},
        size_{std::exchange(other.size_, 0)} {}
  message_list& operator=(message_list&& other) noexcept {
    head_ = std::exchange(other.head_, nullptr);
    tail_ = std::exchange(other.tail_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }
  message_node* front() const noexcept { return head_; }

  void push_back(message_node* node) noexcept {
    node->next = nullptr;
    (head_ ? tail_->next : head_) = node;
    tail_ = node;
    ++size_;
  }

  message_node* pop_front() noexcept {
    message_node* node = head_;
    if (node != nullptr) {
      head_ = node->next;
      --size_;
      if (head_ == nullptr) {
        tail_ = nullptr;
      }
    }
    return node;
  }

  void append(message_list&& other) noexcept {
    if (other.head_ == nullptr) {
      return;
    }
    (head_ ? tail_->next : head_) = other.head_;
    tail_ = other.tail_;
    size_ += other.size_;
    other = message_list{};
  }

  /// Unlinks the node behind `before` (nullptr: the first one).
  message_node* remove_after(message_node* before) noexcept {
    if (before == nullptr) {
      return pop_front();
    }
    message_node* node = before->next;
    before->next = node->next;
    if (tail_ == node) {
      tail_ = before;
    }
    --size_;
    return node;
  }

  /// Whether `node` belongs before the last one.
  bool precedes_last(const message_node& node) const noexcept {
    return head_ != nullptr && node.number < tail_->number;
  }

  /// Links `node` where its number belongs. `from` is a node known to lie
  /// before that place, or nullptr; linear in what is stepped over.
  void insert_in_place(message_node* node, message_node* from) noexcept {
    if (head_ == nullptr || tail_->number < node->number) {
      push_back(node);
      return;
    }
    if (head_->number > node->number) {
      node->next = head_;
      head_ = node;
    } else {
      message_node* before = from != nullptr ? from : head_;
      while (before->next->number < node->number) {
        before = before->next;
      }
      node->next = before->next;
      before->next = node;
    }
    ++size_;
  }

private:
  message_node* head_ = nullptr;
  message_node* tail_ = nullptr;
  std::size_t size_ = 0;
};

/// The union of what the messages from `first` on carry. They carry nothing
/// afterwards.
context_ref united_contexts(message_node& first) noexcept;

/// What a handler of these messages runs under. They carry nothing afterwards.
inline context_ref taken_contexts(const message_list& unit) noexcept {
  for (message_node* node = unit.front(); node != nullptr; node = node->next) {
    if (node->under) [[unlikely]] {
      return united_contexts(*node);
    }
  }
  return context_ref{};
}

template <class T>
const char* type_name() noexcept {
#if defined(__GXX_RTTI)
  static const char* const name = demangled(typeid(T).name());
  return name;
#else
  return "?";
#endif
}

} // namespace wharf::inline v1::detail

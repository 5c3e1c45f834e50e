#pragma once

// Under which causalities something runs: what messages carry, what arbiters
// are armed under, and what handlers and coroutines work for.

#include <wharf/detail/graveyard.hpp>
#include <wharf/detail/node_pool.hpp>
#include <wharf/detail/sync.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace wharf::inline v1::detail {

class causality_core;
class context_line;

/// One line of causalities, or several: what a handler of several messages runs
/// under. Immutable, counted, and none at all (null) where nobody has opened a
/// causality_scope.
///
/// Ended in a loop, as a line may be long.
class context : public doomed {
public:
  static void* operator new(std::size_t bytes) { return node_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    node_release(memory, bytes);
  }

  void add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void drop_ref() noexcept {
    if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) {
      bury(*this);
    }
  }

  /// The lines; of a line, itself.
  std::uint32_t size() const noexcept { return size_; }
  virtual context_line& at(std::uint32_t line) noexcept = 0;

protected:
  explicit context(std::uint32_t lines) noexcept : size_{lines} {}
  ~context() = default;

private:
  atomic<std::uint32_t> refs_{1};
  const std::uint32_t size_;
};

/// A counted reference to a context, or none.
class context_ref {
public:
  context_ref() noexcept = default;
  /// Takes over a reference.
  explicit context_ref(context* owned) noexcept : context_{owned} {}
  static context_ref share(context* shared) noexcept {
    if (shared != nullptr) {
      shared->add_ref();
    }
    return context_ref{shared};
  }
  context_ref(const context_ref& other) noexcept
      : context_ref{share(other.context_)} {}
  context_ref(context_ref&& other) noexcept
      : context_{std::exchange(other.context_, nullptr)} {}
  context_ref& operator=(context_ref other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~context_ref() {
    if (context_ != nullptr) {
      context_->drop_ref();
    }
  }

  context* get() const noexcept { return context_; }
  context* operator->() const noexcept { return context_; }
  context* release() noexcept { return std::exchange(context_, nullptr); }
  explicit operator bool() const noexcept { return context_ != nullptr; }

private:
  context* context_ = nullptr;
};

/// A causality and what was outside of it when its scope was entered.
class context_line final : public context {
public:
  /// Throws std::bad_alloc.
  context_line(causality_core& innermost, context_ref outer);

  causality_core& innermost() const noexcept { return innermost_; }
  const context_ref& outer() const noexcept { return outer_; }
  context_line& at(std::uint32_t) noexcept override { return *this; }
  bool same(const context_line& other) const noexcept {
    return &innermost_ == &other.innermost_ &&
           outer_.get() == other.outer_.get();
  }

private:
  ~context_line() = default;
  void perish() noexcept override;

  causality_core& innermost_; // counted
  context_ref outer_;
};

/// The lines of both, each once. Without memory for that those of `a`.
context_ref unite(context_ref a, context_ref b) noexcept;

/// `innermost` inside of `outer`. A causality is in a line once, so that scopes
/// that are entered in turns for ever don't add up: entered again, it moves
/// inwards. Looked for among the innermost 64. Throws std::bad_alloc.
context_ref enter(causality_core& innermost, const context_ref& outer);

// What the calling thread runs under.

/// Owns its contexts, though it does not look so: a thread-local that has a
/// destructor costs a call at each access.
struct context_state {
  context* effective = nullptr; // what posts carry, and failures go to
  context* own = nullptr;       // if `taken_on`: that without the message's
  const void* scope = nullptr;  // the innermost causality_scope
  bool taken_on = false;
};

/// For the sources of the library: a coroutine may migrate between two looks at
/// a thread-local, so what is inlined into user code calls the functions below.
extern constinit thread_local context_state running_under;

context_ref current_context() noexcept;

/// From now on the coroutine that runs works for a message's causalities beside
/// its own, in place of those that it took on before. Until the causality_scope
/// that it is in, or the coroutine, ends.
void take_on(context_ref of_message) noexcept;

/// Round every run of user code: it runs under `under`, whatever the thread was
/// at. For the sources of the library.
class context_scope {
public:
  explicit context_scope(context_ref&& under) noexcept
      : changes_{under || running_under.effective != nullptr} {
    if (changes_) [[unlikely]] {
      begin(under.release());
    }
  }
  explicit context_scope(const context_ref& under) noexcept
      : context_scope{context_ref{under}} {}
  ~context_scope() {
    if (changes_) [[unlikely]] {
      end();
    }
  }
  context_scope(const context_scope&) = delete;
  context_scope& operator=(const context_scope&) = delete;

private:
  void begin(context* under) noexcept;
  void end() noexcept;

  const bool changes_;
  context_state before_; // written only if `changes_`: most runs have nothing
};

} // namespace wharf::inline v1::detail

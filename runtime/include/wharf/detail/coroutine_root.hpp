#pragma once

// A coroutine that runs: what its queue holds, what is resumed, cancelled and
// waited for. All tasks that it awaits run under it.

#include <wharf/detail/node_pool.hpp>
#include <wharf/detail/one_time.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace wharf::inline v1::detail {

/// PROTOCOL
///
///   run() is a trampoline: it resumes one frame at a time. A frame that awaits
///   a task names the task's frame as the next one and suspends; a task that
///   ends names its awaiter's. So no chain of tasks grows the stack, whatever
///   the compiler makes of tail calls.
///
///   A frame that awaits an arbiter adds the arbiter's branches, which lie in
///   the frame, and suspends; run() then arms them. So nothing of the frame is
///   published while its thread is still inside it. Once armed, whoever decides
///   the root schedules it, and run() touches nothing more, unless the decision
///   fell while arming on this very thread: then it goes on at once.
///
///   state_ (one_time's word) has further bits:
///     started     run() has begun; until then cancel() ends it outright
///     cancelled   every await from now on throws, and the present one ends
///     forced      likewise, in shielded parts too: the queue has ended
///     shielded    inside shielded(); written by the coroutine itself
///     bound       inside a wait that ends by itself soon and must not be cut
///     over        the outermost task has ended
///   While the coroutine runs the root is `decided`, so a cancel only leaves
///   its bit; opening the word for an await and cancelling change the one word
///   by compare-exchange, so one of the two sees the other.
///
///   A branch that waits for something foreign (completion.hpp) can't take its
///   word back: the other side uses memory of the frame until it is over. Such
///   a branch holds the root from the moment it is armed, and releases it then,
///   whoever has won. holds_ counts these and the decision itself; who brings
///   it to zero schedules the root.
///
/// INVARIANTS
///
///   K1  A started root is in line, or run() is at it, or it is armed, exactly
///       one of the three: its steps never overlap.
///   K2  A frame that was resumed is never destroyed from outside.
class coroutine_root : public one_time {
public:
  static void* operator new(std::size_t bytes) { return frame_allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    frame_release(memory, bytes);
  }

  /// Puts it in line for its start, unless the queue has ended.
  void launch() noexcept;
  /// Starts it here and now, inside the run of another item of its queue.
  void start_now(turn& budget) noexcept;

  bool cancel() noexcept final;
  bool end_with_queue(port_names* names) noexcept final;
  bool active() const noexcept final;
  bool survives_close() const noexcept final; // once started
  const coroutine_scope* belongs_to() const noexcept final { return scope_; }
  void run(turn& budget) noexcept final;
  void discard() noexcept final;

  // What the frames call, on the thread that runs them.

  /// The frame that goes on when the present one has suspended; null: none, the
  /// outermost one has ended.
  void transfer(std::coroutine_handle<> next) noexcept { next_ = next; }
  /// An await begins: `leaf` is resumed when a branch that is added after this
  /// has won, or when the root has ended unfired.
  void begin_await(std::coroutine_handle<> leaf) noexcept;
  /// Throws what the await ended with, if no branch has won.
  branch& end_await();
  /// Whether an await that began now would be cut short.
  bool refuses_awaits() const noexcept;

  /// The await that is at hand does not end before as many release().
  /// Requires: called by a branch in arm() or disarm().
  void hold() noexcept { holds_.fetch_add(1, memory_order_relaxed); }
  /// Any thread. The frame may be gone when it returns.
  void release() noexcept;

  /// Cancels do not reach what runs inside. Scopes nest.
  class shield {
  public:
    explicit shield(coroutine_root& root) noexcept
        : shield{root, bit_shielded} {}
    ~shield() {
      if (outermost_) {
        root_.state_.fetch_and(~bit_, memory_order_acq_rel);
      }
    }
    shield(const shield&) = delete;
    shield& operator=(const shield&) = delete;

  protected:
    shield(coroutine_root& root, std::uint32_t bit) noexcept
        : root_{root}, bit_{bit},
          outermost_{(root.state_.fetch_or(bit, memory_order_acq_rel) & bit) ==
                     0} {}

  private:
    coroutine_root& root_;
    const std::uint32_t bit_;
    const bool outermost_;
  };

  /// For waits that Wharf itself ends soon: not even the queue's end cuts them.
  class bound_wait : public shield {
  public:
    explicit bound_wait(coroutine_root& root) noexcept
        : shield{root, bit_bound} {}
  };

protected:
  explicit coroutine_root(queue_core& queue,
                          const coroutine_scope* scope = nullptr) noexcept;
  ~coroutine_root() override;

  /// Makes the outermost frame, unstarted. May throw.
  virtual std::coroutine_handle<> make_frame() = 0;
  /// What the outermost task threw, or null. Called once it is over.
  virtual std::exception_ptr failure() const noexcept = 0;
  /// The frame is about to be destroyed; then whatever it referred to.
  virtual void destroy_arguments() noexcept = 0;
  /// All is destroyed. `failure`: null also for one that was asked to end and
  /// ended with `cancelled`. Reports it by default.
  virtual void finished(std::exception_ptr failure) noexcept;

private:
  static constexpr std::uint32_t bit_started = 8;
  static constexpr std::uint32_t bit_cancelled = 16;
  static constexpr std::uint32_t bit_forced = 32;
  static constexpr std::uint32_t bit_shielded = 64;
  static constexpr std::uint32_t bit_bound = 128;
  static constexpr std::uint32_t bit_over = 256;

  static bool cut(std::uint32_t state) noexcept;
  bool claim_start() noexcept;
  bool request_cancel(std::uint32_t bits, port_names* names) noexcept;
  void begin(turn& budget) noexcept;
  void steps(turn& budget) noexcept;
  /// False: somebody else resumes it, perhaps at this moment.
  bool arm_await() noexcept;
  void end(std::exception_ptr failure) noexcept;
  void destroy_payload() noexcept final;
  void payload_destroyed() noexcept final;
  void settled(decision& d) noexcept final;
  bool last_hold() noexcept;

  const coroutine_scope* const scope_;
  /// Between its steps what it runs under lies here, its `effective` in under_.
  context_state suspended_{};
  atomic<std::uint32_t> holds_{1};
  std::coroutine_handle<> frame_; // the outermost
  std::coroutine_handle<> next_;
  bool awaiting_ = false;           // the last step began an await
  std::exception_ptr arm_failure_;  // why the await could not begin
  std::exception_ptr last_failure_; // of the outermost task, on its way out
};

/// The coroutine that runs on the calling thread, or nullptr.
coroutine_root* current_coroutine() noexcept;

bool is_cancelled(const std::exception_ptr& failure) noexcept;

} // namespace wharf::inline v1::detail

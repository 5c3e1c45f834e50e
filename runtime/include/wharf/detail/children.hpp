#pragma once

// Coroutines that another one starts and must not outlive them.

#include <wharf/activation.hpp>
#include <wharf/task.hpp>

#include <cstddef>
#include <exception>
#include <span>
#include <vector>

namespace wharf::inline v1::detail {

/// Requires: a coroutine runs on the calling thread. It awaits all() or any()
/// before this dies.
class children {
public:
  /// Throws std::bad_alloc.
  explicit children(std::size_t most) { running_.reserve(most); }

  /// Starts one on the queue of the coroutine that runs. What fails here is
  /// thrown by all() and any(), when those that were started have ended.
  void add(task<void> child) noexcept;
  void add_to(queue_core& queue, task<void> child) noexcept;

  /// Resumes when all have ended. If that is cut short by a cancel it cancels
  /// them, and throws when they have ended.
  entered_task<void> all() { return {wait_all(), entry::always}; }
  /// Resumes when one has ended, and the others, cancelled, have too; gives its
  /// index.
  entered_task<std::size_t> any() { return {wait_any(), entry::always}; }

private:
  task<void> wait_all();
  task<std::size_t> wait_any();
  task<void> cancel_all();

  std::vector<activation> running_;
  std::exception_ptr failure_;
};

/// Throws the first of them, if there is one, and reports the others.
void throw_first(std::span<const std::exception_ptr> failures);

/// Reports those of all but one; `cancelled` is as it should be there.
void report_others(std::span<const std::exception_ptr> failures,
                   std::size_t but);

} // namespace wharf::inline v1::detail

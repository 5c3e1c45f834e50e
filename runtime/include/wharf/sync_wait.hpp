#pragma once

// sync_wait: from a thread outside every pool into a coroutine and back.

#include <wharf/detail/outcome.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

/// Runs `t` on `queue` and blocks until it has ended: gives its result, or
/// throws what it threw. Throws wharf::cancelled if the queue ended before the
/// task began.
///
/// For main() and for tests: throws std::logic_error on a worker of any
/// dispatcher, where co_await does the same without holding up a thread. On a
/// dispatcher that is cranked by hand it cranks, and throws std::logic_error if
/// nothing is left to run while the task still waits; it is cancelled then.
template <class T>
T sync_wait(dispatcher_queue& queue, task<T> t) {
  detail::refuse_blocking("sync_wait()");
  detail::outcome<T> result;
  const activation running = spawn(queue, detail::keep(std::move(t), result));
  try {
    running.wait();
  } catch (...) {
    detail_activation_access::cancel_and_wait(running);
    throw;
  }
  if constexpr (std::is_void_v<T>) {
    result.take();
  } else {
    return result.take();
  }
}

} // namespace wharf::inline v1

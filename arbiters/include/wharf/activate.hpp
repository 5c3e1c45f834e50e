#pragma once

// activate: puts an arbiter to work.

#include <wharf/activation.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/stop_link.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/ended.hpp>

#include <stop_token>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

/// Puts an arbiter to work on `queue`. When it returns, the arbiter has looked
/// at what was in its ports, oldest first, and is registered on them; its
/// handlers run on the queue.
///
/// On an ended queue nothing is registered, the handlers are destroyed, and
/// the activation is inactive.
/// Thread safety: any thread. Never runs a handler.
/// Throws std::bad_alloc, in which case nothing is registered, and
/// std::logic_error for a description that was activated before.
/// Cost: one allocation for most arbiters; linear in its ports and in the
/// messages that it looks at.
template <detail::any_builder Arbiter>
activation activate(dispatcher_queue& queue, Arbiter&& arbiter) {
  static_assert(!std::is_lvalue_reference_v<Arbiter>,
                "an arbiter is activated once: pass it with std::move");
  constexpr bool has_handler = !detail::awaited_builder<Arbiter>;
  static_assert(has_handler,
                "this arbiter has no handler: co_await it in a task");
  detail::refuse_in_predicate();
  return detail::activate_builder(detail::queue_access::core(queue),
                                  std::move(arbiter));
}

/// The same, cancelled when `stop` is requested.
template <detail::any_builder Arbiter>
activation activate(dispatcher_queue& queue, Arbiter&& arbiter,
                    std::stop_token stop) {
  activation running = activate(queue, std::forward<Arbiter>(arbiter));
  detail::cancel_on_stop(running, std::move(stop));
  return running;
}

} // namespace wharf::inline v1

#pragma once

// run_on: a step of a coroutine on another queue.

#include <wharf/detail/children.hpp>
#include <wharf/detail/outcome.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/task.hpp>

#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

namespace detail {

template <class R>
struct step_result {
  using type = R;
};
template <class T>
struct step_result<task<T>> {
  using type = T;
};

/// Calls the step where it is spawned.
template <class F, class... Args>
auto as_task(F f, std::tuple<Args...> args)
    -> task<typename step_result<std::invoke_result_t<F&, Args...>>::type> {
  using result = std::invoke_result_t<F&, Args...>;
  if constexpr (is_task<result>) {
    auto inner = std::apply(
        [&f](Args&... each) { return std::invoke(f, std::move(each)...); },
        args);
    co_return co_await std::move(inner);
  } else {
    co_return std::apply(
        [&f](Args&... each) -> decltype(auto) {
          return std::invoke(f, std::move(each)...);
        },
        args);
  }
}

template <class T>
task<T> elsewhere(queue_core& queue, task<T> step) {
  outcome<T> result;
  children running{1};
  running.add_to(queue, keep(std::move(step), result));
  co_await running.all();
  if constexpr (std::is_void_v<T>) {
    result.take();
  } else {
    co_return result.take();
  }
}

} // namespace detail

/// Runs `f(args...)`, a function or a coroutine function, on another queue, and
/// gives its result here, or throws what it threw: `co_await run_on(disk, read,
/// path)`. What blocks belongs on a queue of a dispatcher of its own.
///
/// f and args are moved in. Resumes when the step has ended: if the awaiter is
/// cancelled a step that has not started is dropped, and one that has is
/// awaited, so references to the awaiter's variables are safe in it. Throws
/// wharf::cancelled if that queue has ended.
template <class F, class... Args>
auto run_on(dispatcher_queue& queue, F&& f, Args&&... args) {
  static_assert(std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>,
                "run_on: the function can't be called with these arguments");
  return detail::elsewhere(
      detail::queue_access::core(queue),
      detail::as_task<std::decay_t<F>, std::decay_t<Args>...>(
          std::forward<F>(f),
          std::tuple<std::decay_t<Args>...>{std::forward<Args>(args)...}));
}

} // namespace wharf::inline v1

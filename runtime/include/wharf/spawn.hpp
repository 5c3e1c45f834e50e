#pragma once

// spawn: runs a function or a coroutine once on a dispatcher queue.

#include <wharf/activation.hpp>
#include <wharf/detail/decision.hpp>
#include <wharf/detail/queue_core.hpp>
#include <wharf/detail/stop_link.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/ended.hpp>
#include <wharf/task.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

namespace detail {

/// A function in line, without its type.
class spawned : public arbiter {
public:
  using arbiter::arbiter;

  /// Puts it in line, unless the queue has ended.
  void launch() noexcept;
  bool cancel() noexcept final;
  bool active() const noexcept final;
  void run(turn& budget) noexcept final;
  void discard() noexcept final;

protected:
  virtual void call() = 0;

private:
  bool claim() noexcept { return !claimed_.exchange(true); }

  atomic<bool> claimed_{false}; // by the worker, or by cancel()
};

template <class F, class... Args>
class spawned_call final : public spawned {
public:
  template <class G, class... As>
  explicit spawned_call(queue_core& queue, G&& f, As&&... args)
      : spawned{queue},
        call_{std::in_place, std::forward<G>(f), std::forward<As>(args)...} {}

private:
  struct bound {
    template <class G, class... As>
    explicit bound(G&& g, As&&... as)
        : f(std::forward<G>(g)), args(std::forward<As>(as)...) {}
    F f;
    std::tuple<Args...> args;
  };

  void call() override {
    std::apply(
        [this](Args&... args) { std::invoke(call_->f, std::move(args)...); },
        call_->args);
  }
  void destroy_payload() noexcept override { call_.reset(); }

  std::optional<bound> call_;
};

/// A coroutine function in line, or running, with its arguments.
template <class F, class... Args>
class spawned_coroutine final : public coroutine_root {
public:
  template <class G, class... As>
  explicit spawned_coroutine(queue_core& queue, G&& f, As&&... args)
      : coroutine_root{queue},
        call_{std::in_place, std::forward<G>(f), std::forward<As>(args)...} {}

private:
  struct bound {
    template <class G, class... As>
    explicit bound(G&& g, As&&... as)
        : f(std::forward<G>(g)), args(std::forward<As>(as)...) {}
    F f;
    std::tuple<Args...> args;
  };

  std::coroutine_handle<> make_frame() override {
    task<void> made = std::apply(
        [this](Args&... args) {
          return std::invoke(call_->f, std::move(args)...);
        },
        call_->args);
    const auto frame = task_access::release(made);
    frame.promise().enter(*this, nullptr);
    promise_ = &frame.promise();
    return frame;
  }
  std::exception_ptr failure() const noexcept override {
    return promise_->failure();
  }
  void destroy_arguments() noexcept override { call_.reset(); }

  std::optional<bound> call_;
  promise_base* promise_ = nullptr;
};

/// What a task that is spawned by itself is called through.
class whole_task {
public:
  explicit whole_task(task<void>&& t) noexcept : task_{std::move(t)} {}
  task<void> operator()() noexcept { return std::move(task_); }

private:
  task<void> task_;
};

template <class F, class... Args>
activation spawn_on(queue_core& queue, F&& f, Args&&... args) {
  using result = std::invoke_result_t<std::decay_t<F>&, std::decay_t<Args>...>;
  constexpr bool no_result = !is_task<std::remove_cvref_t<result>> ||
                             std::is_same_v<result, task<void>>;
  static_assert(no_result, "spawn gives no result: the task must be a "
                           "task<void>; co_await or sync_wait give one");
  using item_type = std::conditional_t<
      is_task<std::remove_cvref_t<result>>,
      spawned_coroutine<std::decay_t<F>, std::decay_t<Args>...>,
      spawned_call<std::decay_t<F>, std::decay_t<Args>...>>;
  refuse_in_predicate();
  auto* item =
      new item_type{queue, std::forward<F>(f), std::forward<Args>(args)...};
  const activation handle = detail_activation_access::make(*item);
  item->launch();
  return handle;
}

} // namespace detail

/// Runs `f(args...)` once on `queue`. f and args are moved in and destroyed
/// after the call; move-only ones are welcome. A coroutine function keeps them
/// until its coroutine has ended, so captures and references to arguments are
/// safe in it.
///
/// On an ended queue nothing runs, f is destroyed, and the activation is
/// inactive. cancel() is true if the function had not started, and asks a
/// coroutine to end. A failure goes where those of handlers go.
/// Throws std::bad_alloc and what moving the arguments throws.
template <class F, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<F>, std::stop_token> &&
           !detail::is_task<std::remove_cvref_t<F>>)
activation spawn(dispatcher_queue& queue, F&& f, Args&&... args) {
  static_assert(std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>,
                "spawn: the function can't be called with these arguments");
  return detail::spawn_on(detail::queue_access::core(queue), std::forward<F>(f),
                          std::forward<Args>(args)...);
}

/// Runs a task on `queue`.
template <class T>
activation spawn(dispatcher_queue& queue, task<T> t) {
  static_assert(std::is_void_v<T>,
                "spawn gives no result: the task must be a "
                "task<void>; co_await or sync_wait give one");
  return detail::spawn_on(detail::queue_access::core(queue),
                          detail::whole_task{std::move(t)});
}

/// The same, cancelled when `stop` is requested.
template <class F, class... Args>
activation spawn(dispatcher_queue& queue, std::stop_token stop, F&& f,
                 Args&&... args) {
  activation running =
      spawn(queue, std::forward<F>(f), std::forward<Args>(args)...);
  detail::cancel_on_stop(running, std::move(stop));
  return running;
}

} // namespace wharf::inline v1

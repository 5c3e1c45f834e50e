#pragma once

// spawn: runs a function once on a dispatcher queue.

#include <wharf/activation.hpp>
#include <wharf/detail/decision.hpp>
#include <wharf/detail/queue_core.hpp>
#include <wharf/dispatcher_queue.hpp>

#include <exception>
#include <functional>
#include <optional>
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

} // namespace detail

/// Runs `f(args...)` once on `queue`. f and args are moved in and destroyed
/// after the call; move-only ones are welcome.
///
/// On an ended queue nothing runs, f is destroyed, and the activation is
/// inactive. cancel() is true if the function had not started.
/// Throws std::bad_alloc and what moving the arguments throws.
template <class F, class... Args>
activation spawn(dispatcher_queue& queue, F&& f, Args&&... args) {
  static_assert(std::is_invocable_v<std::decay_t<F>&, std::decay_t<Args>...>,
                "spawn: the function can't be called with these arguments");
  detail::refuse_in_predicate();
  auto* item = new detail::spawned_call<std::decay_t<F>, std::decay_t<Args>...>{
      detail::queue_access::core(queue), std::forward<F>(f),
      std::forward<Args>(args)...};
  const activation handle = detail_activation_access::make(*item);
  item->launch();
  return handle;
}

} // namespace wharf::inline v1

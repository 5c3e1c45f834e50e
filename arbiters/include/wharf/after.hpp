#pragma once

// after and every: time as an arbiter.

#include <wharf/activate.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/durations.hpp>
#include <wharf/detail/handler.hpp>
#include <wharf/detail/timer_core.hpp>

#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

/// What an awaited time gives: in a choice, the branch that says "too late".
struct timeout {
  friend bool operator==(timeout, timeout) noexcept { return true; }
};

namespace detail {

template <class Handler>
class timer_branch_of final : public timer_branch {
public:
  template <class Builder>
  explicit timer_branch_of(Builder&& b)
      : timer_branch{b.when_}, handler_{std::move(b.handler_)} {}

  void add_to(one_time& root) noexcept { root.add(*this); }
  bool is(const branch& winner) const noexcept { return this == &winner; }
  timeout result(branch&) const noexcept { return {}; }

private:
  handled run(turn& budget) override {
    return run_branch_handler(*this, budget, handler_, no_message{});
  }

  Handler handler_;
};

template <class Handler>
class periodic_of final : public periodic {
public:
  periodic_of(queue_core& queue, duration period, Handler&& handler)
      : periodic{queue, period}, handler_{std::move(handler)} {}

private:
  handled tick(turn& budget) override {
    return run_handler(queue(), *this, budget, *handler_, no_message{});
  }
  void destroy_payload() noexcept override { handler_.reset(); }

  std::optional<Handler> handler_;
};

} // namespace detail

/// A time as an arbiter; a branch of choices. Made by after().
template <class Handler>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] one_time_after
    : public detail::builder,
      public detail::awaits_if<Handler> {
public:
  using branch_type = detail::timer_branch_of<Handler>;

  one_time_after(detail::due_time when, Handler handler)
      : when_{when}, handler_{std::move(handler)} {}

private:
  friend branch_type;

  detail::due_time when_;
  Handler handler_;
};

/// A periodic timer. Made by every().
template <class Handler>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] persistent_every
    : public detail::builder {
public:
  persistent_every(detail::duration period, Handler handler)
      : period_{period}, handler_{std::move(handler)} {}

  detail::new_arbiter<detail::periodic_of<Handler>>
  make(detail::queue_core& queue) && {
    return detail::new_arbiter<detail::periodic_of<Handler>>{
        new detail::periodic_of<Handler>{queue, period_, std::move(handler_)}};
  }

private:
  detail::duration period_;
  Handler handler_;
};

/// Runs `handler()` once, `delay` after the activation, by the dispatcher's
/// steady clock. Zero and negative delays fire promptly, through the queue;
/// huge ones never. Equal due times fire in the order of activation.
/// Throws std::invalid_argument for a delay that is not a number.
template <class Rep, class Period, class Handler>
one_time_after<std::decay_t<Handler>>
after(std::chrono::duration<Rep, Period> delay, Handler&& handler) {
  static_assert(detail::handler_for<Handler>::accepts);
  return {detail::due_time{detail::clock_duration(delay)},
          std::forward<Handler>(handler)};
}

/// As above, to be awaited, mostly in a choice: `co_await choice(receive(a),
/// after(1s))`.
template <class Rep, class Period>
one_time_after<detail::no_handler>
after(std::chrono::duration<Rep, Period> delay) {
  return {detail::due_time{detail::clock_duration(delay)},
          detail::no_handler{}};
}

/// `co_await sleep_for(10ms);` suspends the coroutine, blocks no thread, and is
/// cut short by a cancel. Otherwise as after().
template <class Rep, class Period>
one_time_after<detail::no_handler>
sleep_for(std::chrono::duration<Rep, Period> delay) {
  return after(delay);
}

/// Sleeps until the dispatcher's clock, dispatcher::now(), shows `due`; a time
/// that has passed costs one way through the queue.
/// Throws std::invalid_argument for a time that is not a number.
template <class Duration>
one_time_after<detail::no_handler>
sleep_until(std::chrono::time_point<std::chrono::steady_clock, Duration> due) {
  const detail::time_point held{detail::clock_duration(due.time_since_epoch())};
  return {detail::due_time{held}, detail::no_handler{}};
}

/// Runs `handler()` every `period` after the activation, until it is
/// cancelled or its queue ends. Ticks keep to the grid, so lateness does not
/// add up; the handler never overlaps itself, and after a stall at most one
/// tick is made up.
/// Throws std::invalid_argument for a period that is not positive.
template <class Rep, class Period, class Handler>
persistent_every<std::decay_t<Handler>>
every(std::chrono::duration<Rep, Period> period, Handler&& handler) {
  static_assert(detail::handler_for<Handler>::accepts);
  const detail::duration grid = detail::clock_duration(period);
  if (grid <= detail::duration::zero()) {
    throw std::invalid_argument{"every: the period must be positive"};
  }
  return {grid, std::forward<Handler>(handler)};
}

} // namespace wharf::inline v1

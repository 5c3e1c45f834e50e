#pragma once

// How handlers are run: what one run consumes is a unit, and a handler that is
// a coroutine becomes one of its queue, with its unit.

#include <wharf/detail/coroutine_root.hpp>
#include <wharf/detail/description.hpp>
#include <wharf/detail/handler_owner.hpp>
#include <wharf/detail/message.hpp>
#include <wharf/detail/one_time.hpp>
#include <wharf/task.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf::inline v1::detail {

/// Names both types in the compiler's message.
template <class Handler, class... Messages>
struct handler_for {
  static constexpr bool accepts =
      std::is_same_v<Handler, no_handler> ||
      std::is_invocable_v<std::decay_t<Handler>&, Messages...>;
  static_assert(accepts, "the handler can't be called with these messages: "
                         "see handler_for<Handler, Messages...> above");
};

// Units. Each owns its messages, and hands them to a handler once; what was
// not moved out by the handler dies with the unit.

/// One message.
template <class T>
class one_message {
public:
  explicit one_message(message_node* node) noexcept
      : node_{static_cast<message<T>*>(node)} {}
  template <class Handler>
  decltype(auto) hand_over(Handler& handler) {
    return std::invoke(handler, std::move(node_->value));
  }
  T value() { return std::move(node_->value); }

private:
  std::unique_ptr<message<T>> node_;
};

/// One message of a range of ports, with the index of its port.
template <class T>
class indexed_message {
public:
  indexed_message(std::size_t index, message_node* node) noexcept
      : index_{index}, node_{static_cast<message<T>*>(node)} {}
  template <class Handler>
  decltype(auto) hand_over(Handler& handler) {
    return std::invoke(handler, index_, std::move(node_->value));
  }
  std::pair<std::size_t, T> value() {
    return {index_, std::move(node_->value)};
  }

private:
  std::size_t index_;
  std::unique_ptr<message<T>> node_;
};

/// One message each of several types.
template <class... Ts>
class each_of {
public:
  explicit each_of(message_list unit) noexcept {
    std::apply(
        [&](auto&... node) {
          (node.reset(static_cast<message<Ts>*>(unit.pop_front())), ...);
        },
        nodes_);
  }
  template <class Handler>
  decltype(auto) hand_over(Handler& handler) {
    return std::apply(
        [&](auto&... node) -> decltype(auto) {
          return std::invoke(handler, std::move(node->value)...);
        },
        nodes_);
  }
  std::tuple<Ts...> value() {
    return std::apply(
        [](auto&... node) {
          return std::tuple<Ts...>{std::move(node->value)...};
        },
        nodes_);
  }

private:
  std::tuple<std::unique_ptr<message<Ts>>...> nodes_;
};

/// The values of all messages of a list.
template <class T>
class vector_of {
public:
  explicit vector_of(message_list nodes) noexcept : nodes_{std::move(nodes)} {}
  vector_of(vector_of&&) noexcept = default;
  vector_of& operator=(vector_of&&) = delete;
  ~vector_of() { destroy(std::move(nodes_), message_type_of<T>); }

  /// Throws what T's move throws; the messages are spent then.
  std::vector<T>& values() {
    values_.reserve(nodes_.size());
    while (message_node* node = nodes_.pop_front()) {
      const std::unique_ptr<message<T>> owner{static_cast<message<T>*>(node)};
      values_.push_back(std::move(owner->value));
    }
    return values_;
  }
  template <class Handler>
  decltype(auto) hand_over(Handler& handler) {
    return std::invoke(handler, std::move(values()));
  }
  std::vector<T> value() { return std::move(values()); }

private:
  message_list nodes_;
  std::vector<T> values_;
};

/// A list of messages for each of several types.
template <class... Ts>
class lists_of {
public:
  explicit lists_of(vector_of<Ts>... lists) noexcept
      : lists_{std::move(lists)...} {}
  template <class Handler>
  decltype(auto) hand_over(Handler& handler) {
    return std::apply(
        [&](auto&... list) -> decltype(auto) {
          return std::invoke(handler, std::move(list.values())...);
        },
        lists_);
  }
  auto value() {
    if constexpr (sizeof...(Ts) == 1) {
      return std::get<0>(lists_).value();
    } else {
      return std::apply(
          [](auto&... list) {
            return std::tuple<std::vector<Ts>...>{list.value()...};
          },
          lists_);
    }
  }

private:
  std::tuple<vector_of<Ts>...> lists_;
};

/// What a timer brings.
struct no_message {
  template <class Handler>
  decltype(auto) hand_over(Handler& handler) {
    return std::invoke(handler);
  }
};

// Running.

/// A handler that is a coroutine, with what it was called with.
template <class Handler, class Unit>
class handler_coroutine final : public coroutine_root {
public:
  handler_coroutine(queue_core& queue, handler_owner& owner, Handler& handler,
                    Unit unit) noexcept
      : coroutine_root{queue, owner.scope()}, owner_{owner}, handler_{handler},
        unit_{std::in_place, std::move(unit)} {}

private:
  std::coroutine_handle<> make_frame() override {
    task<void> made = unit_->hand_over(handler_);
    const auto frame = task_access::release(made);
    frame.promise().enter(*this, nullptr);
    promise_ = &frame.promise();
    return frame;
  }
  std::exception_ptr failure() const noexcept override {
    return promise_->failure();
  }
  void destroy_arguments() noexcept override { unit_.reset(); }
  void finished(std::exception_ptr failure) noexcept override {
    owner_.handler_ended(std::move(failure));
  }

  handler_owner& owner_; // lives until it has been told
  Handler& handler_;
  std::optional<Unit> unit_;
  promise_base* promise_ = nullptr;
};

/// Runs `handler` with `unit`. Throws what the call throws.
template <class Handler, class Unit>
handled run_handler(queue_core& queue, handler_owner& owner, turn& budget,
                    Handler& handler, Unit unit) {
  using result = decltype(unit.hand_over(handler));
  constexpr bool coroutine = is_task<std::remove_cvref_t<result>>;
  if constexpr (coroutine) {
    static_assert(std::is_same_v<result, task<void>>,
                  "a handler gives no result: it returns task<void>");
    auto* root = new handler_coroutine<Handler, Unit>{queue, owner, handler,
                                                      std::move(unit)};
    root->start_now(budget);
    return handled::goes_on;
  } else {
    static_cast<void>(budget);
    unit.hand_over(handler);
    return handled::over;
  }
}

/// The same for the handler of a branch; an awaited one has none.
template <class Handler, class Unit>
handled run_branch_handler(branch& b, turn& budget, Handler& handler,
                           Unit unit) {
  if constexpr (std::is_same_v<Handler, no_handler>) {
    return handled::over;
  } else {
    one_time& root = b.root();
    return run_handler(root.queue(), root, budget, handler, std::move(unit));
  }
}

/// Whether runs of `handler` with such units are coroutines.
template <class Handler, class Unit>
inline constexpr bool handles_in_coroutines =
    is_task<std::remove_cvref_t<decltype(std::declval<Unit&>().hand_over(
        std::declval<Handler&>()))>>;

} // namespace wharf::inline v1::detail

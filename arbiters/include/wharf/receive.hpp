#pragma once

// receive: one message of one port.

#include <wharf/activate.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/handler.hpp>
#include <wharf/detail/receive_core.hpp>
#include <wharf/persist.hpp>
#include <wharf/port.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

namespace detail {

/// The predicate of a receiver that takes everything.
struct anything {};

template <class T, class Predicate>
bool accepted_by(Predicate& predicate, const message_node* node) {
  if constexpr (std::is_same_v<Predicate, anything>) {
    return true;
  } else {
    return static_cast<bool>(std::invoke(
        predicate, std::as_const(static_cast<const message<T>*>(node)->value)));
  }
}

template <class T, class Handler, class Predicate>
class receive_branch_of final : public receive_branch {
public:
  template <class Builder>
  explicit receive_branch_of(Builder&& b) noexcept(false)
      : receive_branch{std::move(b.port_), b.options_,
                       !std::is_same_v<Predicate, anything>},
        handler_{std::move(b.handler_)}, predicate_{std::move(b.predicate_)} {}

  void add_to(one_time& root) noexcept { root.add(*this); }
  bool is(const branch& winner) const noexcept { return this == &winner; }
  T result(branch&) { return one_message<T>{take_awaited()}.value(); }

private:
  handled run(turn& budget) override {
    return run_branch_handler(*this, budget, handler_,
                              one_message<T>{take_node()});
  }
  bool accepts(const message_node* node) override {
    return accepted_by<T>(predicate_, node);
  }

  [[no_unique_address]] Handler handler_;
  [[no_unique_address]] Predicate predicate_;
};

template <class Handler, class Predicate>
struct receive_payload {
  template <class H, class P>
  receive_payload(H&& h, P&& p)
      : handler(std::forward<H>(h)), predicate(std::forward<P>(p)) {}
  [[no_unique_address]] Handler handler;
  [[no_unique_address]] Predicate predicate;
};

template <class T, class Handler, class Predicate>
class receive_pump_of final : public receive_pump {
public:
  template <class Builder>
  receive_pump_of(queue_core& queue, Builder&& b)
      : receive_pump{queue, std::move(b.port_), b.options_.priority,
                     !std::is_same_v<Predicate, anything>, b.options_.serial},
        payload_{std::in_place, std::move(b.handler_),
                 std::move(b.predicate_)} {}

private:
  handled handle(message_list unit, turn& budget) override {
    return run_handler(queue(), *this, budget, payload_->handler,
                       one_message<T>{unit.front()});
  }
  bool in_coroutines() const noexcept override {
    return handles_in_coroutines<Handler, one_message<T>>;
  }
  bool accepts(const message_node* node) override {
    return accepted_by<T>(payload_->predicate, node);
  }
  void destroy_payload() noexcept override { payload_.reset(); }

  std::optional<receive_payload<Handler, Predicate>> payload_;
};

template <class T, class Handler, class Predicate>
class receive_member_of final : public receive_member {
public:
  template <class Builder>
  receive_member_of(queue_core& queue, Builder&& b)
      : receive_member{queue, std::move(b.port_), b.options_,
                       !std::is_same_v<Predicate, anything>},
        payload_{std::move(b.handler_), std::move(b.predicate_)} {}

private:
  handled handle(message_list unit, turn& budget) override {
    return run_handler(queue(), *this, budget, payload_.handler,
                       one_message<T>{unit.front()});
  }
  bool accepts(const message_node* node) override {
    return accepted_by<T>(payload_.predicate, node);
  }

  receive_payload<Handler, Predicate> payload_;
};

/// What one-time and persistent receivers share.
template <class T, class Handler, class Predicate>
class receive_description : public builder {
public:
  static constexpr bool for_groups = true;
  std::int32_t rank() const noexcept { return options_.priority; }

  receive_description(port_ref port, Handler handler, Predicate predicate,
                      const receive_options& options)
      : port_{std::move(port)}, handler_{std::move(handler)},
        predicate_{std::move(predicate)}, options_{options} {}

protected:
  template <class, class, class>
  friend class receive_branch_of;
  template <class, class, class>
  friend class receive_pump_of;
  template <class, class, class>
  friend class receive_member_of;

  port_ref port_;
  Handler handler_;
  Predicate predicate_;
  receive_options options_;
};

} // namespace detail

/// Waits for one message; then it is gone. Made by receive().
template <class T, class Handler, class Predicate = detail::anything>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] one_time_receive
    : public detail::receive_description<T, Handler, Predicate>,
      public detail::awaits_if<Handler> {
  using base = detail::receive_description<T, Handler, Predicate>;

public:
  using branch_type = detail::receive_branch_of<T, Handler, Predicate>;
  using base::base;

  /// Takes only messages for which `predicate(const T&)` is true; the others
  /// stay. It runs under the port's lock, on whatever thread posts, once per
  /// offer: it must be quick and pure, and must not call Wharf, which throws
  /// std::logic_error. If it throws it has said no, and the failure is
  /// reported.
  template <class P>
  auto when(P predicate) && {
    static_assert(std::is_invocable_r_v<bool, P&, const T&>,
                  "a predicate takes a const message and returns bool");
    this->use(); // this description; the new one is fresh
    return one_time_receive<T, Handler, P>{
        std::move(this->port_), std::move(this->handler_), std::move(predicate),
        this->options_};
  }

  /// Who is asked first for a message; see wharf::priority.
  one_time_receive priority(std::int32_t value) && {
    this->options_.priority = value;
    return std::move(*this);
  }

  /// Awaited: the coroutine goes on under its own causalities and the
  /// message's, in place of those of an earlier message. This lasts until the
  /// causality_scope that it is in, or else the coroutine, ends; in a task that
  /// is awaited it holds for the awaiter too. A handler always runs under its
  /// message's.
  one_time_receive with_causality() && {
    constexpr bool is_awaited = std::is_same_v<Handler, detail::no_handler>;
    static_assert(
        is_awaited,
        "with_causality() is for a receive that is awaited: a handler "
        "runs under its message's anyway");
    this->options_.with_causality = true;
    return std::move(*this);
  }
};

/// Runs its handler for every message. Handlers start in the order of arrival
/// and may overlap, unless one_at_a_time(). Made by receive(persist, ...).
template <class T, class Handler, class Predicate = detail::anything>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] persistent_receive
    : public detail::receive_description<T, Handler, Predicate> {
  using base = detail::receive_description<T, Handler, Predicate>;

public:
  using base::base;

  /// As one_time_receive::when.
  template <class P>
  auto when(P predicate) && {
    static_assert(std::is_invocable_r_v<bool, P&, const T&>,
                  "a predicate takes a const message and returns bool");
    this->use(); // this description; the new one is fresh
    return persistent_receive<T, Handler, P>{
        std::move(this->port_), std::move(this->handler_), std::move(predicate),
        this->options_};
  }

  /// Who is asked first for a message; see wharf::priority.
  persistent_receive priority(std::int32_t value) && {
    this->options_.priority = value;
    return std::move(*this);
  }

  /// The handler never overlaps itself: one message after the other, in order.
  /// In a concurrent group it overlaps the others only; in an exclusive group
  /// this changes nothing.
  persistent_receive one_at_a_time() && {
    this->options_.serial = true;
    return std::move(*this);
  }

  detail::new_arbiter<detail::receive_pump_of<T, Handler, Predicate>>
  make(detail::queue_core& queue) && {
    return detail::new_arbiter<detail::receive_pump_of<T, Handler, Predicate>>{
        new detail::receive_pump_of<T, Handler, Predicate>{queue,
                                                           std::move(*this)}};
  }
  std::unique_ptr<detail::interleave_member>
  make_member(detail::queue_core& queue) && {
    return std::make_unique<detail::receive_member_of<T, Handler, Predicate>>(
        queue, std::move(*this));
  }
};

/// Waits for one message of `from` and runs `handler(T)` with it.
///
/// The handler is moved in, and destroyed after it has run or when the arbiter
/// ends. The arbiter does not keep the port open.
template <class T, class Handler>
one_time_receive<T, std::decay_t<Handler>> receive(const port<T>& from,
                                                   Handler&& handler) {
  static_assert(detail::handler_for<Handler, T>::accepts);
  return {detail::port_ref{detail_port_access::core(from)},
          std::forward<Handler>(handler),
          detail::anything{},
          {}};
}

/// As above, to be awaited: `T value = co_await receive(from);`. Nothing is
/// allocated. Throws, at the await, port_closed, cancelled, and what T's move
/// throws.
template <class T>
one_time_receive<T, detail::no_handler> receive(const port<T>& from) {
  return {detail::port_ref{detail_port_access::core(from)},
          detail::no_handler{},
          detail::anything{},
          {}};
}

/// Runs `handler(T)` for every message of `from`.
template <class T, class Handler>
persistent_receive<T, std::decay_t<Handler>>
receive(persist_t, const port<T>& from, Handler&& handler) {
  static_assert(detail::handler_for<Handler, T>::accepts);
  return {detail::port_ref{detail_port_access::core(from)},
          std::forward<Handler>(handler),
          detail::anything{},
          {}};
}

} // namespace wharf::inline v1

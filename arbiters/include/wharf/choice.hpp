#pragma once

// choice: exactly one of several alternatives.

#include <wharf/activate.hpp>
#include <wharf/detail/builder.hpp>
#include <wharf/detail/handler.hpp>
#include <wharf/detail/port_range.hpp>
#include <wharf/persist.hpp>
#include <wharf/port_set.hpp>
#include <wharf/receive.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace wharf::inline v1 {

namespace detail {

/// The branches of a choice whose types are known.
template <class... Branches>
class choice_branches {
public:
  template <class Builder>
  explicit choice_branches(Builder&& b)
      : choice_branches{std::move(b.builders_),
                        std::index_sequence_for<Branches...>{}} {}

  void add_to(one_time& root) noexcept {
    std::apply([&](auto&... each) { (each.add_to(root), ...); }, branches_);
  }

  // Awaited: what the winner has taken, in the alternative of its branch.

  bool is(const branch& winner) const noexcept {
    return std::apply(
        [&](const auto&... each) { return (each.is(winner) || ...); },
        branches_);
  }
  auto result(branch& winner) { return result_from<0>(winner); }

private:
  template <std::size_t I>
  auto result_from(branch& winner) {
    using outcome = std::variant<decltype(std::declval<Branches&>().result(
        std::declval<branch&>()))...>;
    auto& here = std::get<I>(branches_);
    if constexpr (I + 1 < sizeof...(Branches)) {
      if (!here.is(winner)) {
        return result_from<I + 1>(winner);
      }
    }
    return outcome{std::in_place_index<I>, here.result(winner)};
  }

  template <class Tuple, std::size_t... I>
  choice_branches(Tuple&& builders, std::index_sequence<I...>)
      : branches_{std::move(std::get<I>(builders))...} {}

  std::tuple<Branches...> branches_;
};

/// A choice is awaited if its branches are.
template <class... Builders>
struct awaits_all {};
template <awaited_builder... Builders>
  requires(sizeof...(Builders) > 0)
struct awaits_all<Builders...> {
  using awaited = void;
};

/// Branches whose types and number are known at run time only: a list, so
/// that a tree of any depth is flat from the start.
struct branch_holder {
  branch_holder() noexcept = default;
  virtual ~branch_holder() = default;
  branch_holder(const branch_holder&) = delete;
  branch_holder& operator=(const branch_holder&) = delete;
  virtual void add_to(one_time& root) noexcept = 0;

  branch_holder* next = nullptr;
};

template <class Branch>
struct holder_of final : branch_holder {
  template <class Builder>
  explicit holder_of(Builder&& b) : branch(std::move(b)) {}
  void add_to(one_time& root) noexcept override { branch.add_to(root); }
  Branch branch;
};

class holder_list {
public:
  holder_list() noexcept = default;
  holder_list(holder_list&& other) noexcept
      : head_{std::exchange(other.head_, nullptr)},
        tail_{std::exchange(other.tail_, nullptr)} {}
  holder_list& operator=(holder_list&& other) noexcept {
    std::swap(head_, other.head_);
    std::swap(tail_, other.tail_);
    return *this;
  }
  ~holder_list() {
    while (head_ != nullptr) {
      delete std::exchange(head_, head_->next);
    }
  }

  void append(std::unique_ptr<branch_holder> holder) noexcept {
    branch_holder* last = holder.release();
    (head_ ? tail_->next : head_) = last;
    tail_ = last;
  }
  void append(holder_list&& other) noexcept {
    if (other.head_ != nullptr) {
      (head_ ? tail_->next : head_) = other.head_;
      tail_ = std::exchange(other.tail_, nullptr);
      other.head_ = nullptr;
    }
  }
  void add_to(one_time& root) noexcept {
    for (branch_holder* h = head_; h != nullptr; h = h->next) {
      h->add_to(root);
    }
  }

private:
  branch_holder* head_ = nullptr;
  branch_holder* tail_ = nullptr;
};

/// The branches of a choice over a list.
class listed_branches {
public:
  template <class Builder>
  explicit listed_branches(Builder&& b) : list_{std::move(b.list_)} {}
  void add_to(one_time& root) noexcept { list_.add_to(root); }

private:
  holder_list list_;
};

/// The branches of a choice over a range of ports: one handler for all.
template <class T, class Handler>
class indexed_branches {
public:
  template <class Builder>
  explicit indexed_branches(Builder&& b) : handler_{std::move(b.handler_)} {
    branches_.reserve(b.ports_.size());
    for (port_ref& port : b.ports_) {
      branches_.push_back(
          std::make_unique<one>(*this, branches_.size(), std::move(port)));
    }
  }
  void add_to(one_time& root) noexcept {
    for (const auto& each : branches_) {
      root.add(*each);
    }
  }
  bool is(const branch& winner) const noexcept {
    return std::any_of(branches_.begin(), branches_.end(),
                       [&](const auto& each) { return each.get() == &winner; });
  }
  std::pair<std::size_t, T> result(branch& winner) {
    return static_cast<one&>(winner).take().value();
  }

private:
  class one final : public receive_branch {
  public:
    one(indexed_branches& all, std::size_t index, port_ref port) noexcept
        : receive_branch{std::move(port), {}, false}, all_{all}, index_{index} {
    }

    indexed_message<T> take() { return {index_, take_node()}; }

  private:
    handled run(turn& budget) override {
      return run_branch_handler(*this, budget, all_.handler_, take());
    }
    bool accepts(const message_node*) override { return true; }

    indexed_branches& all_;
    const std::size_t index_;
  };

  Handler handler_;
  std::vector<std::unique_ptr<one>> branches_;
};

} // namespace detail

/// Several alternatives, of which exactly one fires. Made by choice().
template <class... Builders>
class [[nodiscard("an arbiter does nothing until it is activated")]] choice_of
    : public detail::builder,
      public detail::awaits_all<Builders...> {
public:
  using branch_type =
      detail::choice_branches<typename Builders::branch_type...>;
  static constexpr bool for_groups = true;
  std::int32_t rank() const noexcept { return wharf::priority::normal; }

  explicit choice_of(Builders... builders) : builders_{std::move(builders)...} {
    std::apply([](auto&... each) { (each.use(), ...); }, builders_);
  }

private:
  template <class...>
  friend class detail::choice_branches;

  std::tuple<Builders...> builders_;
};

/// A choice whose branches are known at run time only. Made by choice().
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] choice_of_list
    : public detail::builder {
public:
  using branch_type = detail::listed_branches;
  static constexpr bool for_groups = true;
  std::int32_t rank() const noexcept { return wharf::priority::normal; }

  explicit choice_of_list(detail::holder_list list) noexcept
      : list_{std::move(list)} {}

private:
  friend class detail::listed_branches;
  friend class branch;

  detail::holder_list list_;
};

/// A choice over a range of ports. Made by choice().
template <class T, class Handler>
class [[nodiscard(
    "an arbiter does nothing until it is activated")]] choice_of_ports
    : public detail::builder,
      public detail::awaits_if<Handler> {
public:
  using branch_type = detail::indexed_branches<T, Handler>;
  static constexpr bool for_groups = true;
  std::int32_t rank() const noexcept { return wharf::priority::normal; }

  choice_of_ports(std::vector<detail::port_ref> ports, Handler handler)
      : ports_{std::move(ports)}, handler_{std::move(handler)} {}

private:
  friend class detail::indexed_branches<T, Handler>;

  std::vector<detail::port_ref> ports_;
  Handler handler_;
};

/// Any one-time arbiter, its type forgotten: what a choice takes when its
/// branches are put together at run time. A choice among them dissolves into
/// its branches, so a tree of any depth costs no stack.
class branch {
public:
  /// Takes over a description. Throws std::logic_error if it was used before.
  template <detail::one_time_builder Builder>
    requires(!std::is_lvalue_reference_v<Builder> &&
             !detail::awaited_builder<Builder>)
  branch(Builder&& builder) {
    builder.use();
    if constexpr (std::is_same_v<Builder, choice_of_list>) {
      list_ = std::move(builder.list_);
    } else {
      list_.append(
          std::make_unique<detail::holder_of<typename Builder::branch_type>>(
              std::move(builder)));
    }
  }

private:
  friend choice_of_list choice(std::vector<branch> branches);

  detail::holder_list list_;
};

/// choice(receive(a, f), join(b, c, g), after(250ms, h)): exactly one branch
/// fires, decided in one step; the others leave their ports untouched before
/// its handler starts.
///
/// Branches that can go at once are looked at in the order of the list; a time
/// never beats a message that is there. A persistent branch does not compile.
template <class... Builders>
  requires(sizeof...(Builders) >= 1 && (detail::any_builder<Builders> && ...))
auto choice(Builders... branches) {
  constexpr bool all_once = (detail::one_time_builder<Builders> && ...);
  static_assert(all_once,
                "a branch of a choice fires once: receive, join, gather, after "
                "or choice, none of them persistent");
  constexpr std::size_t without_handler =
      (std::size_t{detail::awaited_builder<Builders>} + ...);
  static_assert(without_handler == 0 || without_handler == sizeof...(Builders),
                "the branches of a choice have handlers, to be activated, or "
                "none of them has, to be awaited");
  if constexpr (all_once) {
    return choice_of<Builders...>{std::move(branches)...};
  }
}

/// One branch for each type of a port set: choice(response, on_text,
/// on_failure).
template <class... Ts, class... Handlers>
  requires(sizeof...(Ts) == sizeof...(Handlers))
auto choice(const port_set<Ts...>& set, Handlers&&... handlers) {
  return choice(
      receive(set.template get<Ts>(), std::forward<Handlers>(handlers))...);
}

/// As above, to be awaited: `auto answer = co_await choice(response);` gives a
/// std::variant with one alternative for each type of the set.
template <class... Ts>
auto choice(const port_set<Ts...>& set) {
  return choice(receive(set.template get<Ts>())...);
}

/// Branches that are put together at run time. Without branches it never
/// fires: it ends at once.
inline choice_of_list choice(std::vector<branch> branches) {
  detail::holder_list list;
  for (branch& each : branches) {
    list.append(std::move(each.list_));
  }
  return choice_of_list{std::move(list)};
}

/// One message of any port of a range: handler(index of the port, T).
template <detail::port_range Ports, class Handler>
auto choice(const Ports& ports, Handler&& handler) {
  using T = detail::port_range_value<Ports>;
  static_assert(detail::handler_for<Handler, std::size_t, T>::accepts);
  return choice_of_ports<T, std::decay_t<Handler>>{
      detail::refs_of_range(ports), std::forward<Handler>(handler)};
}

/// As above, to be awaited; gives a std::pair of the index and the message.
template <detail::port_range Ports>
auto choice(const Ports& ports) {
  using T = detail::port_range_value<Ports>;
  return choice_of_ports<T, detail::no_handler>{detail::refs_of_range(ports),
                                                detail::no_handler{}};
}

} // namespace wharf::inline v1

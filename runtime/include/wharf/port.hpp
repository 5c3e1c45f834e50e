#pragma once

// Ports: typed FIFO channels, the places where messages wait for arbiters.

#include <wharf/detail/message.hpp>
#include <wharf/detail/port_core.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace wharf::inline v1 {

/// A FIFO channel of one message type, and a cheap handle to it: copies refer
/// to the same port.
///
/// The members are const as those of a pointer are: they change the port, not
/// the handle.
///
/// A message is posted, waits in the port while nobody wants it, and is taken
/// by exactly one arbiter (or by try_take). It is moved, never copied.
///
/// Thread safety: every member of the port may be called from any thread. One
/// handle object is as thread-safe as a std::shared_ptr object.
/// Lifetime: handles keep the port open. Arbiters that wait on it do not: with
/// the last handle the port closes and its waiters leave. A message that holds
/// a handle of the port it lies in is a cycle, ended by clear(); a handler that
/// holds one of the port it waits on, by close().
/// Order: messages leave in the order of their posts; of two posts, the one
/// that returned before the other began is first. A message that no predicate
/// wants stays in its place and holds up nobody.
template <class T>
class port {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> &&
                    !std::is_volatile_v<T> && !std::is_array_v<T>,
                "a port carries values: not references, const types, arrays "
                "or void");
  static_assert(std::is_move_constructible_v<T>,
                "a port moves its messages: the type must be movable");

public:
  using value_type = T;

  /// An open, empty port. Diagnostics name it by its type and `where`.
  /// Throws std::bad_alloc.
  explicit(false)
      port(std::source_location where = std::source_location::current())
      : port(std::string_view{}, where) {}

  /// As above, with a name for diagnostics.
  explicit port(std::string_view name,
                std::source_location where = std::source_location::current())
      : core_{new detail::port_core{
            detail::message_type_of<T>, name,
            detail::made_at{where.file_name(), where.line()}}} {}

  port(const port& other) noexcept : core_{other.core_} { core_->add_handle(); }
  port& operator=(const port& other) noexcept {
    other.core_->add_handle();
    std::exchange(core_, other.core_)->drop_handle();
    return *this;
  }
  ~port() { core_->drop_handle(); }

  /// Posts a message: decides on the calling thread who takes it, and
  /// schedules the handler. Never blocks and never runs a handler.
  ///
  /// Returns false if the port is closed; an rvalue argument has its value
  /// back then.
  /// Throws what T's move (or copy) throws, and std::bad_alloc; the port is
  /// unchanged then. Throws std::logic_error inside a predicate.
  /// Cost: constant; no allocation for small messages once warm. A post to a
  /// port that a join watches also locks the join's other ports.
  bool post(T&& value) const {
    if (core_->closed()) {
      return false;
    }
    auto node = std::make_unique<detail::message<T>>(std::move(value));
    bool accepted = false;
    try {
      accepted = core_->post(node.get());
    } catch (...) {
      restore(value, node->value);
      throw;
    }
    if (accepted) {
      node.release();
    } else {
      restore(value, node->value);
    }
    return accepted;
  }

  /// Posts a copy.
  bool post(const T& value) const
    requires std::is_copy_constructible_v<T>
  {
    if (core_->closed()) {
      return false;
    }
    auto node = std::make_unique<detail::message<T>>(value);
    return core_->post(node.get()) && (node.release(), true);
  }

  /// Takes the oldest message that belongs to nobody, if there is one.
  /// Throws what T's move throws; the message is spent then.
  std::optional<T> try_take() const {
    std::optional<T> taken;
    if (detail::message_node* node = core_->try_take()) {
      const std::unique_ptr<detail::message<T>> owner{
          static_cast<detail::message<T>*>(node)};
      taken.emplace(std::move(owner->value));
    }
    return taken;
  }

  /// Takes all messages that belong to nobody, oldest first.
  std::vector<T> try_take_all() const {
    struct rest {
      ~rest() { detail::destroy(std::move(nodes), detail::message_type_of<T>); }
      detail::message_list nodes;
    } rest{core_->try_take_all()};
    std::vector<T> taken;
    taken.reserve(rest.nodes.size());
    while (detail::message_node* node = rest.nodes.pop_front()) {
      const std::unique_ptr<detail::message<T>> owner{
          static_cast<detail::message<T>*>(node)};
      taken.push_back(std::move(owner->value));
    }
    return taken;
  }

  /// Messages that lie here: those that belong to nobody, and those that an
  /// arbiter has been given whose handler has not started.
  std::size_t size() const { return core_->size(); }
  bool empty() const { return size() == 0; }

  /// Destroys the messages that belong to nobody; returns how many.
  std::size_t clear() const { return core_->clear(); }

  /// From now on posts are refused. What is there stays takeable and still
  /// reaches the receivers that it belongs to; then the waiters leave: a
  /// one-time arbiter is destroyed unfired, a join once this port can't serve
  /// it, a choice with its last branch, a gather once all its ports are
  /// closed. Closing twice is closing once.
  void close() const { core_->close(); }
  bool closed() const noexcept { return core_->closed(); }

  /// The name given at construction, or the type and the place where the port
  /// was made.
  std::string name() const {
    return core_->name() != nullptr ? *core_->name() : core_->describe();
  }

  /// Whether two handles refer to the same port.
  friend bool operator==(const port& a, const port& b) noexcept {
    return a.core_ == b.core_;
  }

private:
  friend struct detail_port_access;

  explicit port(detail::port_core& core) noexcept : core_{&core} {
    core.add_handle();
  }

  /// Gives a refused message its value back.
  static void restore(T& to, T& from) {
    if constexpr (std::is_nothrow_move_constructible_v<T>) {
      std::destroy_at(&to);
      std::construct_at(&to, std::move(from));
    } else if constexpr (std::is_move_assignable_v<T>) {
      to = std::move(from);
    }
  }

  detail::port_core* core_; // never null
};

/// How the library's templates reach the core behind a handle.
struct detail_port_access {
  template <class T>
  static detail::port_core& core(const port<T>& p) noexcept {
    return *p.core_;
  }
  /// One more handle of a port of T.
  template <class T>
  static port<T> handle(detail::port_core& core) noexcept {
    return port<T>{core};
  }
};

} // namespace wharf::inline v1

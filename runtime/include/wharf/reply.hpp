#pragma once

// reply: where one answer goes.

#include <wharf/detail/reply_core.hpp>
#include <wharf/error.hpp>
#include <wharf/port.hpp>
#include <wharf/port_set.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace wharf::inline v1 {

/// The right, and the duty, to answer once. It travels inside a request, and
/// whoever holds it in the end posts the answer, or fails it:
///
///     struct query {
///       std::string text;
///       reply<int> answer;
///     };
///     port_set<int, std::exception_ptr> response;
///     service.post(query{"how many", reply<int>{response}});
///
/// A reply that dies unanswered answers for itself: it posts wharf::unanswered
/// as a std::exception_ptr, wherever it dies: in a handler that threw, in a
/// port that was cleared or has gone, at the end of a queue. So who waits for
/// the answer and the failure never waits for ever.
///
/// Move-only. Thread safety and cost: as a std::unique_ptr.
/// Lifetime: a handle of both ports until it dies, answered or not.
template <class T>
class reply {
  static_assert(!std::is_same_v<T, std::exception_ptr>,
                "a reply answers with a value; a std::exception_ptr is what it "
                "fails with");

public:
  using value_type = T;

  /// Answers to a port set that has ports of T and of std::exception_ptr.
  /// Throws std::bad_alloc.
  template <class... Ts>
  explicit reply(const port_set<Ts...>& response)
      : reply{response.template get<T>(),
              response.template get<std::exception_ptr>()} {}

  reply(const port<T>& answers, const port<std::exception_ptr>& errors)
      : core_{detail_port_access::core(answers),
              detail_port_access::core(errors)} {}

  reply(reply&&) noexcept = default;
  /// A reply that is assigned to dies first: unanswered, if it is.
  reply& operator=(reply&&) noexcept = default;

  /// Answers. Returns false if the port is closed, so that nobody can hear the
  /// answer; an rvalue has its value back then. It is answered in either case.
  /// Throws std::logic_error if it was answered or moved from, and inside a
  /// predicate; and what T's move (or copy) throws, and std::bad_alloc: then it
  /// is unanswered still.
  bool post(T&& value) {
    core_.require_unanswered();
    return done(answers().post(std::move(value)));
  }
  bool post(const T& value)
    requires std::is_copy_constructible_v<T>
  {
    core_.require_unanswered();
    return done(answers().post(value));
  }

  /// Answers that it went wrong. Allocates nothing. Returns and throws as
  /// post(), and std::invalid_argument for a null pointer.
  bool fail(std::exception_ptr error) { return core_.fail(std::move(error)); }
  /// As above, with any exception object: `r.fail(std::runtime_error{"no"})`.
  template <class Error>
    requires(!std::convertible_to<Error, std::exception_ptr>)
  bool fail(Error&& error) {
    core_.require_unanswered();
    return core_.fail(std::make_exception_ptr(std::forward<Error>(error)));
  }

  /// Whether it has been answered, or was moved from.
  bool answered() const noexcept { return core_.answered(); }

private:
  port<T> answers() const noexcept {
    return detail_port_access::handle<T>(core_.answers());
  }
  bool done(bool accepted) noexcept {
    core_.set_answered();
    return accepted;
  }

  detail::reply_core core_;
};

template <class T>
reply(const port_set<T, std::exception_ptr>&) -> reply<T>;
template <class T>
reply(const port<T>&, const port<std::exception_ptr>&) -> reply<T>;

} // namespace wharf::inline v1

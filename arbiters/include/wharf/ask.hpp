#pragma once

// ask: a question to a service, and its answer.

#include <wharf/after.hpp>
#include <wharf/choice.hpp>
#include <wharf/detail/question.hpp>
#include <wharf/error.hpp>
#include <wharf/port.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>
#include <wharf/task.hpp>

#include <chrono>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace wharf::inline v1 {

namespace detail {

/// Closes where an answer would arrive when the asker leaves, for whatever
/// reason: a late answer is refused, and its service can see that.
template <class T>
class closed_at_end {
public:
  explicit closed_at_end(
      const port_set<T, std::exception_ptr>& response) noexcept
      : response_{response} {}
  ~closed_at_end() { response_.close(); }
  closed_at_end(const closed_at_end&) = delete;
  closed_at_end& operator=(const closed_at_end&) = delete;

private:
  const port_set<T, std::exception_ptr>& response_;
};

template <class Query>
void post_question(const port<Query>& service, Query&& question) {
  if (!service.post(std::move(question))) {
    throw port_closed{"ask: " + service.name() + " is closed"};
  }
}

template <class T, class... Others>
T answer_from(std::variant<T, std::exception_ptr, Others...>&& what) {
  if (what.index() == 1) {
    std::rethrow_exception(std::get<1>(std::move(what)));
  }
  return std::get<0>(std::move(what));
}

template <class Query, class T>
task<T> ask_and_wait(port<Query> service, Query question,
                     port_set<T, std::exception_ptr> response) {
  const closed_at_end<T> here{response};
  post_question(service, std::move(question));
  auto what = co_await choice(response);
  co_return answer_from(std::move(what));
}

template <class Query, class T>
task<T> ask_until(port<Query> service, duration deadline, Query question,
                  port_set<T, std::exception_ptr> response) {
  const closed_at_end<T> here{response};
  post_question(service, std::move(question));
  auto what = co_await choice(
      receive(response.template get<T>()),
      receive(response.template get<std::exception_ptr>()), after(deadline));
  if (what.index() == 2) {
    throw timed_out{"ask: " + service.name() + " did not answer in time"};
  }
  co_return answer_from(std::move(what));
}

} // namespace detail

/// Asks a service and awaits its answer:
///
///     struct query {
///       std::string text;
///       reply<int> answer;
///     };
///     int n = co_await ask<query>(service, 300ms, "how many");
///
/// Posts `Query(args..., reply)` to `service`, a port<Query> or a port set that
/// has one, when it is awaited, and waits for the answer at most as long as
/// `deadline`. Each question has a reply port of its own, so that a late answer
/// never reaches the next question: it is refused.
///
/// What a question is answered with is the T of its reply<T>. ask finds it in
/// a plain struct of up to eight members, where the reply follows those that
/// `args` make; any other type says `using answer_type = T;`.
///
/// At the await, throws
///   what the service failed the reply with;
///   unanswered if it dropped the reply;
///   timed_out if neither came in time;
///   port_closed if `service` refused the question;
///   cancelled if the asker was cancelled.
/// At the call: std::invalid_argument if the deadline is not a number, and what
/// the question's constructor throws.
///
/// A leading std::chrono::duration is the deadline. A question whose own first
/// argument is one is asked with a deadline, if only
/// `std::chrono::hours::max()`.
template <class Query, class Service, class Rep, class Period, class... Args>
auto ask(const Service& service, std::chrono::duration<Rep, Period> deadline,
         Args&&... args) {
  using T = typename decltype(detail::answer_of<Query, Args...>())::type;
  const detail::duration within = detail::clock_duration(deadline);
  port_set<T, std::exception_ptr> response;
  reply<T> answer{response};
  return detail::ask_until<Query, T>(
      detail::port_for<Query>(service), within,
      Query(std::forward<Args>(args)..., std::move(answer)), response);
}

/// As above, without a deadline. A service that keeps the reply and never
/// answers keeps the asker waiting until it is cancelled.
template <class Query, class Service, class... Args>
  requires(!detail::begins_with_duration<Args...>)
auto ask(const Service& service, Args&&... args) {
  using T = typename decltype(detail::answer_of<Query, Args...>())::type;
  port_set<T, std::exception_ptr> response;
  reply<T> answer{response};
  return detail::ask_and_wait<Query, T>(
      detail::port_for<Query>(service),
      Query(std::forward<Args>(args)..., std::move(answer)), response);
}

} // namespace wharf::inline v1

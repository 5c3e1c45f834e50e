#pragma once

// when_all and when_any: several tasks side by side, none of which outlives
// the await.

#include <wharf/activation.hpp>
#include <wharf/detail/children.hpp>
#include <wharf/detail/outcome.hpp>
#include <wharf/task.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace wharf::inline v1 {

namespace detail {

template <class R>
concept range_of_tasks =
    std::ranges::input_range<R> && is_task<std::ranges::range_value_t<R>>;

template <class... Ts, std::size_t... I>
task<std::tuple<stored_result<Ts>...>> all_of(std::index_sequence<I...>,
                                              task<Ts>... tasks) {
  std::tuple<outcome<Ts>...> outcomes;
  children running{sizeof...(Ts)};
  (running.add(keep(std::move(tasks), std::get<I>(outcomes))), ...);
  co_await running.all();
  std::array<std::exception_ptr, sizeof...(Ts)> failures{
      std::get<I>(outcomes).failure()...};
  throw_first(failures);
  co_return std::tuple<stored_result<Ts>...>{std::get<I>(outcomes).take()...};
}

template <std::size_t I, class Variant, class Outcomes>
Variant outcome_at(std::size_t index, Outcomes& outcomes) {
  if constexpr (I + 1 < std::tuple_size_v<Outcomes>) {
    if (index != I) {
      return outcome_at<I + 1, Variant>(index, outcomes);
    }
  }
  return Variant{std::in_place_index<I>, std::get<I>(outcomes).take()};
}

template <class... Ts, std::size_t... I>
task<std::variant<stored_result<Ts>...>> any_of(std::index_sequence<I...>,
                                                task<Ts>... tasks) {
  std::tuple<outcome<Ts>...> outcomes;
  children running{sizeof...(Ts)};
  (running.add(keep(std::move(tasks), std::get<I>(outcomes))), ...);
  const std::size_t first = co_await running.any();
  std::array<std::exception_ptr, sizeof...(Ts)> failures{
      std::get<I>(outcomes).failure()...};
  report_others(failures, first);
  co_return outcome_at<0, std::variant<stored_result<Ts>...>>(first, outcomes);
}

template <class T>
task<std::vector<stored_result<T>>> all_of(std::vector<task<T>> tasks) {
  std::vector<outcome<T>> outcomes(tasks.size());
  children running{tasks.size()};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    running.add(keep(std::move(tasks[i]), outcomes[i]));
  }
  co_await running.all();
  std::vector<std::exception_ptr> failures;
  for (const outcome<T>& each : outcomes) {
    failures.push_back(each.failure());
  }
  throw_first(failures);
  std::vector<stored_result<T>> results;
  results.reserve(outcomes.size());
  for (outcome<T>& each : outcomes) {
    results.push_back(each.take());
  }
  co_return results;
}

template <class T>
task<std::pair<std::size_t, stored_result<T>>>
any_of(std::vector<task<T>> tasks) {
  std::vector<outcome<T>> outcomes(tasks.size());
  children running{tasks.size()};
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    running.add(keep(std::move(tasks[i]), outcomes[i]));
  }
  const std::size_t first = co_await running.any();
  std::vector<std::exception_ptr> failures;
  for (const outcome<T>& each : outcomes) {
    failures.push_back(each.failure());
  }
  report_others(failures, first);
  co_return std::pair<std::size_t, stored_result<T>>{first,
                                                     outcomes[first].take()};
}

template <range_of_tasks R>
std::vector<std::ranges::range_value_t<R>> moved_into_vector(R&& tasks) {
  std::vector<std::ranges::range_value_t<R>> all;
  for (auto&& each : tasks) {
    all.push_back(std::move(each));
  }
  return all;
}

} // namespace detail

/// Runs the tasks side by side, each a coroutine of the awaiter's queue, and
/// gives all their results: `auto [a, b] = co_await when_all(f(), g());`
/// (std::monostate for void).
///
/// Resumes when all have ended, also if one fails or the awaiter is cancelled,
/// which cancels them: none outlives the await, so references to the awaiter's
/// variables are safe in them. A failure stops nobody else; of several the
/// first in the order of the tasks is thrown, the others are reported.
/// Cost: a coroutine for each task.
template <class... Ts>
  requires(sizeof...(Ts) >= 1)
task<std::tuple<detail::stored_result<Ts>...>> when_all(task<Ts>... tasks) {
  return detail::all_of(std::index_sequence_for<Ts...>{}, std::move(tasks)...);
}

/// As above, for a range of tasks, which are moved out of it; gives a
/// std::vector in the order of the range.
template <detail::range_of_tasks R>
auto when_all(R tasks) {
  return detail::all_of(detail::moved_into_vector(std::move(tasks)));
}

/// Runs the tasks side by side until the first has ended, cancels the others,
/// and resumes when they have ended too. Gives the first one's result as a
/// std::variant whose index is the task's, or throws what it threw. What the
/// others threw is reported, unless they ended as they were asked to.
template <class... Ts>
  requires(sizeof...(Ts) >= 1)
task<std::variant<detail::stored_result<Ts>...>> when_any(task<Ts>... tasks) {
  return detail::any_of(std::index_sequence_for<Ts...>{}, std::move(tasks)...);
}

/// As above, for a range; gives a std::pair of the index and the result.
/// Throws std::invalid_argument if the range is empty.
template <detail::range_of_tasks R>
auto when_any(R tasks) {
  return detail::any_of(detail::moved_into_vector(std::move(tasks)));
}

} // namespace wharf::inline v1

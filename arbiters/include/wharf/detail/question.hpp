#pragma once

// What ask() must know of a question: whom to post it to, and what it is
// answered with.

#include <wharf/port.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <chrono>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1::detail {

template <class T>
inline constexpr bool is_reply = false;
template <class T>
inline constexpr bool is_reply<reply<T>> = true;

template <class... Args>
inline constexpr bool begins_with_duration = false;
template <class First, class... Args>
inline constexpr bool begins_with_duration<First, Args...> =
    requires(std::remove_cvref_t<First> d) {
      []<class Rep, class Period>(std::chrono::duration<Rep, Period>) {}(d);
    };

/// Stands for the reply while its type is not known.
struct any_reply {
  template <class T>
  operator reply<T>() const;
};
/// Stands for what may come behind it.
struct any_member {
  template <class T>
  operator T() const;
};

template <class Query, class... Args>
concept built_from = requires { Query(std::declval<Args>()...); };

inline constexpr std::size_t members_max = 8;

/// How many members a plain struct has that is built from these.
template <class Query, class... Args>
constexpr std::size_t count_members() {
  if constexpr (sizeof...(Args) < members_max &&
                built_from<Query, Args..., any_member>) {
    return count_members<Query, Args..., any_member>();
  } else {
    return sizeof...(Args);
  }
}

template <std::size_t Index, class... Members>
auto pick(Members&...) {
  return std::type_identity<
      std::tuple_element_t<Index, std::tuple<Members...>>>{};
}

/// The type of one member of a plain struct with `Count` of them. Never called.
template <std::size_t Index, std::size_t Count, class Query>
auto type_of_member(Query& query) {
  if constexpr (Count == 1) {
    auto& [a] = query;
    return pick<Index>(a);
  } else if constexpr (Count == 2) {
    auto& [a, b] = query;
    return pick<Index>(a, b);
  } else if constexpr (Count == 3) {
    auto& [a, b, c] = query;
    return pick<Index>(a, b, c);
  } else if constexpr (Count == 4) {
    auto& [a, b, c, d] = query;
    return pick<Index>(a, b, c, d);
  } else if constexpr (Count == 5) {
    auto& [a, b, c, d, e] = query;
    return pick<Index>(a, b, c, d, e);
  } else if constexpr (Count == 6) {
    auto& [a, b, c, d, e, f] = query;
    return pick<Index>(a, b, c, d, e, f);
  } else if constexpr (Count == 7) {
    auto& [a, b, c, d, e, f, g] = query;
    return pick<Index>(a, b, c, d, e, f, g);
  } else {
    auto& [a, b, c, d, e, f, g, h] = query;
    return pick<Index>(a, b, c, d, e, f, g, h);
  }
}

template <class Query>
concept names_answer = requires { typename Query::answer_type; };

/// What a question that is built from Args and a reply is answered with.
template <class Query, class... Args>
auto answer_of() {
  if constexpr (names_answer<Query>) {
    using answer = typename Query::answer_type;
    static_assert(built_from<Query, Args..., reply<answer>>,
                  "ask posts Query(args..., reply<answer_type>), which these "
                  "arguments do not make");
    return std::type_identity<answer>{};
  } else {
    static_assert(built_from<Query, Args..., any_reply>,
                  "ask posts Query(args..., reply), which these arguments do "
                  "not make");
    constexpr bool plain =
        std::is_aggregate_v<Query> && sizeof...(Args) < members_max;
    static_assert(plain, "ask can't see what this question is answered with: "
                         "let it say so, using answer_type = T; (a plain "
                         "struct with a member reply<T> needs not)");
    if constexpr (built_from<Query, Args..., any_reply> && plain) {
      constexpr std::size_t count = count_members<Query, Args..., any_reply>();
      using member = typename decltype(type_of_member<sizeof...(Args), count>(
          std::declval<Query&>()))::type;
      static_assert(is_reply<member>,
                    "behind what ask is given, the question has its reply<T>");
      return std::type_identity<typename member::value_type>{};
    }
  }
}

template <class Query>
const port<Query>& port_for(const port<Query>& service) noexcept {
  return service;
}
template <class Query, class... Ts>
const port<Query>& port_for(const port_set<Ts...>& service) noexcept {
  static_assert(count_of<Query, Ts...> == 1,
                "ask: the port set has no port of this question");
  return service.template get<Query>();
}

} // namespace wharf::inline v1::detail

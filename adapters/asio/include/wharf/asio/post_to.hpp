#pragma once

// post_to: a completion token that posts the result of an operation of
// Boost.Asio to a port or a port set.

#include <wharf/port.hpp>
#include <wharf/port_set.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/system_error.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1::asio {

/// What an operation came to, as a message: port<result<std::size_t>> for
/// void(error_code, std::size_t).
template <class... Values>
class result {
public:
  explicit result(boost::system::error_code error, Values... values)
      : error_{error}, values_{std::move(values)...} {}

  const boost::system::error_code& error() const noexcept { return error_; }
  bool failed() const noexcept { return error_.failed(); }

  /// The values of an operation that has not failed: nothing, one, or a tuple.
  /// Throws boost::system::system_error.
  auto get() && {
    if (error_.failed()) {
      throw boost::system::system_error{error_};
    }
    if constexpr (sizeof...(Values) == 1) {
      return std::get<0>(std::move(values_));
    } else if constexpr (sizeof...(Values) > 1) {
      return std::move(values_);
    }
  }

private:
  boost::system::error_code error_;
  std::tuple<Values...> values_;
};

namespace detail {

/// Braces: what would lose something does not compile, and structs need no
/// constructor. An error_code is no bool here.
template <class T, class... Values>
concept made_of = requires(Values... values) { T{std::move(values)...}; } &&
                  (!std::same_as<T, bool> || (std::same_as<T, Values> && ...));

template <class T>
inline constexpr bool tells_failure =
    std::same_as<T, boost::system::error_code> ||
    std::same_as<T, std::exception_ptr>;

inline std::exception_ptr as_exception(boost::system::error_code error) {
  return error ? std::make_exception_ptr(boost::system::system_error{error})
               : nullptr;
}
inline std::exception_ptr as_exception(std::exception_ptr failure) noexcept {
  return failure;
}

template <class T, class... Values>
inline constexpr bool is_exactly = false;
template <class T>
inline constexpr bool is_exactly<T, T> = true;

/// The type of a set that is made of the values. A type that is their only
/// value is preferred to others.
template <class Set, class... Values>
struct chosen_of;
template <class... Ts, class... Values>
struct chosen_of<port_set<Ts...>, Values...> {
  template <class T>
  static constexpr bool exact = is_exactly<T, Values...>;
  template <class T>
  static constexpr bool fits =
      !std::same_as<T, std::exception_ptr> && made_of<T, Values...>;

  static constexpr bool any_exact = (exact<Ts> || ...);
  static constexpr std::size_t count =
      any_exact ? 1 : (std::size_t{0} + ... + (fits<Ts> ? 1U : 0U));

  template <class T>
  static constexpr bool is = any_exact ? exact<T> : fits<T>;
};

/// Posts what is made of the values to the port of its type.
template <class... Ts, class... Values>
void post_chosen(const port_set<Ts...>& set, Values&... values) {
  using chosen = chosen_of<port_set<Ts...>, Values...>;
  static_assert(chosen::count != 0,
                "post_to: no type of the port set can be made, in braces, from "
                "what the operation gives");
  static_assert(chosen::count < 2,
                "post_to: several types of the port set can be made from what "
                "the operation gives");
  const auto post_if_chosen = [&]<class T>(const port<T>& to) {
    if constexpr (chosen::template is<T>) {
      to.post(T{std::move(values)...});
    }
  };
  (post_if_chosen(set.template get<Ts>()), ...);
}

template <class T, class... Values>
void post_result(const port<T>& to, Values&... values) {
  constexpr bool fits = made_of<T, Values...>;
  static_assert(fits, "post_to: the port's messages can't be made, in braces, "
                      "from what the operation gives: its error_code and its "
                      "values. Use wharf::asio::result<values...>, a struct, "
                      "or a port set with std::exception_ptr for failures");
  if constexpr (fits) {
    to.post(T{std::move(values)...});
  }
}

template <class... Ts>
void post_result(const port_set<Ts...>& to) {
  post_chosen(to);
}
template <class... Ts, class First, class... Rest>
void post_result(const port_set<Ts...>& to, First& first, Rest&... rest) {
  constexpr bool has_failures = (std::same_as<Ts, std::exception_ptr> || ...);
  if constexpr (has_failures && tells_failure<First>) {
    if (std::exception_ptr failure = as_exception(std::move(first))) {
      to.post(std::move(failure));
    } else {
      post_chosen(to, rest...);
    }
  } else {
    post_chosen(to, first, rest...);
  }
}

template <class Target, class... Results>
class post_handler {
public:
  explicit post_handler(Target&& to) noexcept : to_{std::move(to)} {}

  void operator()(Results... results) { post_result(to_, results...); }

private:
  Target to_;
};

} // namespace detail

/// What post_to() returns.
template <class Target>
class post_to_t {
public:
  explicit post_to_t(const Target& to) noexcept : to_{to} {}
  Target target() const noexcept { return to_; }

private:
  Target to_;
};

/// `socket.async_read_some(buffer, post_to(port));` posts T{error_code,
/// values...} to a port<T>: T is wharf::asio::result<values...>, or a struct or
/// class of your own that is made of these.
///
/// Context goes with it by Asio's own means:
/// `boost::asio::append(post_to(port), id)` posts T{error_code, values..., id}.
///
/// The post is made where the operation's handler runs, as a rule on the thread
/// of its io_context; it never blocks. The token holds a handle, so the port
/// stays open until the operation has come back. If the port has been closed
/// the result is destroyed (an accepted socket is closed). If the context is
/// destroyed with the operation pending, nothing is posted.
template <class T>
post_to_t<port<T>> post_to(const port<T>& to) noexcept {
  return post_to_t<port<T>>{to};
}

/// As above, to a port set or a class derived from one. If one of its types is
/// std::exception_ptr, a failure goes there, as boost::system::system_error;
/// else T{values...} is posted, T being the one type of the set that is made of
/// them. Without std::exception_ptr it is the one that is made of the
/// error_code and the values.
template <class... Ts>
post_to_t<port_set<Ts...>> post_to(const port_set<Ts...>& to) noexcept {
  return post_to_t<port_set<Ts...>>{to};
}

} // namespace wharf::inline v1::asio

template <class Target, class R, class... Results>
class boost::asio::async_result<wharf::asio::post_to_t<Target>, R(Results...)> {
public:
  template <class Initiation, class... Args>
  static void initiate(Initiation&& initiation,
                       const wharf::asio::post_to_t<Target>& token,
                       Args&&... args) {
    using handler =
        wharf::asio::detail::post_handler<Target, std::decay_t<Results>...>;
    std::forward<Initiation>(initiation)(handler{token.target()},
                                         std::forward<Args>(args)...);
  }
};

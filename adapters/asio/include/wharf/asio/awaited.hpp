#pragma once

// awaited: a completion token with which a coroutine awaits an operation of
// Boost.Asio.

#include <wharf/asio/detail/operation.hpp>
#include <wharf/completion.hpp>

#include <boost/asio/async_result.hpp>

#include <tuple>
#include <type_traits>
#include <utility>

namespace wharf::inline v1::asio {

/// The type of awaited.
struct awaited_t {};

/// `std::size_t n = co_await socket.async_read_some(buffer, awaited);` in a
/// task. The coroutine goes on in its own queue and gets what the operation
/// gives beside its error_code: nothing (std::monostate), a value, or a tuple
/// of several. An error throws boost::system::system_error; to have it as a
/// value instead: `auto [error, n] = co_await socket.async_read_some(buffer,
/// boost::asio::as_tuple(awaited));`.
///
/// It is a branch of an awaited choice like others, so it can have a time-out:
/// `co_await choice(timer.async_wait(awaited), after(1s))`.
///
/// The operation begins when it is awaited, on the thread of the coroutine. An
/// I/O object is used by one coroutine at a time, and not by others meanwhile;
/// that of a context that several threads run must be on a strand.
///
/// If the coroutine is cancelled, its queue ends, or another branch of its
/// choice wins, the operation is cancelled through its cancellation slot. The
/// await ends when it has come back, so buffers in the frame are safe; then it
/// throws wharf::cancelled, or gives that other branch. What the operation gave
/// meanwhile is lost. One that can't be cancelled is waited for, and so is one
/// whose context nobody runs: let the context run until the coroutines have
/// ended. If the context is destroyed with the operation pending, the await
/// throws boost::system::system_error with operation_aborted.
///
/// Cost: Asio's own memory for the operation lies in the frame; what remains is
/// a small allocation of its cancellation slot.
inline constexpr awaited_t awaited{};

} // namespace wharf::inline v1::asio

template <class R, class... Results>
class boost::asio::async_result<wharf::asio::awaited_t, R(Results...)> {
public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation&& initiation, wharf::asio::awaited_t,
                       Args&&... args) {
    using operation =
        wharf::asio::detail::operation<std::tuple<std::decay_t<Results>...>,
                                       std::decay_t<Initiation>,
                                       std::decay_t<Args>...>;
    return wharf::await_completion<operation>(
        std::forward<Initiation>(initiation), std::forward<Args>(args)...);
  }
};

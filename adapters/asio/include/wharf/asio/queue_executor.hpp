#pragma once

// queue_executor: a dispatcher queue as an executor of Boost.Asio.

#include <wharf/detail/queue_core.hpp>
#include <wharf/dispatcher_queue.hpp>
#include <wharf/spawn.hpp>

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>

#include <utility>

namespace wharf::inline v1::asio {

/// Runs functions as work items of a dispatcher queue, so that handlers of Asio
/// run where the handlers of Wharf do:
///
///     timer.async_wait(boost::asio::bind_executor(queue_executor{queue}, f));
///
/// An Asio executor: it never runs a function inside execute(), and converts to
/// any_io_executor. Functions that it is given one after the other start in
/// that order and may overlap, as spawned ones do; in a strand of it they do
/// not.
///
/// Thread safety: all of it, from any thread.
/// Lifetime: may outlive the queue. What is executed on a queue that has ended
/// is destroyed without being run, and what a function throws goes where the
/// queue's failures go, as with spawn. That ends an operation of Asio whose
/// handler is bound to it: its handler is destroyed.
class queue_executor {
public:
  explicit queue_executor(dispatcher_queue& queue) noexcept
      : queue_{&wharf::detail::queue_access::core(queue)} {
    queue_->add_ref();
  }
  queue_executor(const queue_executor& other) noexcept : queue_{other.queue_} {
    queue_->add_ref();
  }
  queue_executor& operator=(const queue_executor& other) noexcept {
    other.queue_->add_ref();
    std::exchange(queue_, other.queue_)->drop_ref();
    return *this;
  }
  ~queue_executor() { queue_->drop_ref(); }

  /// Throws std::bad_alloc and what moving the function throws.
  template <class F>
  void execute(F&& f) const {
    wharf::detail::spawn_on(*queue_, std::forward<F>(f));
  }

  friend bool operator==(const queue_executor& a,
                         const queue_executor& b) noexcept {
    return a.queue_ == b.queue_;
  }

  // The properties that Asio asks for.

  static constexpr boost::asio::execution::blocking_t
  query(boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking_t::never_t{};
  }
  queue_executor
  require(boost::asio::execution::blocking_t::never_t) const noexcept {
    return *this;
  }
  /// One for all queues: it holds what Asio keeps for its strands.
  boost::asio::execution_context&
      query(boost::asio::execution::context_t) const noexcept;

private:
  wharf::detail::queue_core* queue_; // a reference
};

} // namespace wharf::inline v1::asio

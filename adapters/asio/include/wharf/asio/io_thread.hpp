#pragma once

// io_thread: an io_context of Boost.Asio and the thread that runs it.

#include <wharf/detail/sync.hpp>
#include <wharf/port.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace wharf::inline v1::asio {

/// An io_context with a thread of its own that waits for the system, so that no
/// worker of a dispatcher does. One thread, since what it runs only hands over:
/// the work is done on dispatcher queues.
///
/// Thread safety: every member may be called from any thread.
/// Lifetime: it must outlive the I/O objects made on its context, and run while
/// coroutines await their operations. So make it before the dispatcher queues
/// that use it. Must not be destroyed on its own thread.
class io_thread {
public:
  using executor_type = boost::asio::io_context::executor_type;

  /// Runs from now on. Throws std::system_error if there is no thread to be
  /// had.
  explicit io_thread(std::string_view name = "io");

  /// Stops, and waits for the thread. Operations that are pending come to
  /// nothing: their handlers are destroyed.
  ~io_thread();

  io_thread(const io_thread&) = delete;
  io_thread& operator=(const io_thread&) = delete;

  boost::asio::io_context& context() noexcept { return context_; }
  executor_type get_executor() noexcept { return context_.get_executor(); }

  /// Where exceptions go that escape from handlers; each costs its handler and
  /// nothing else. Without a port, or if it is closed, they are logged and
  /// counted.
  void on_failure(const port<std::exception_ptr>& failures)
      WHARF_EXCLUDES(mutex_);
  std::uint64_t unhandled_failures() const noexcept {
    return unhandled_.load(wharf::detail::memory_order_relaxed);
  }

private:
  void run() noexcept;
  void report(std::exception_ptr failure) noexcept WHARF_EXCLUDES(mutex_);

  const std::string name_;
  boost::asio::io_context context_{1}; // one thread runs it
  boost::asio::executor_work_guard<executor_type> open_;

  wharf::detail::mutex mutex_;
  std::optional<port<std::exception_ptr>> failures_ WHARF_GUARDED_BY(mutex_);

  wharf::detail::atomic<std::uint64_t> unhandled_{0};
  wharf::detail::thread thread_; // last: it uses the others
};

} // namespace wharf::inline v1::asio

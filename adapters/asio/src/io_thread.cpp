// See io_thread.hpp. The only file of the adapter that makes a thread.

#include <wharf/asio/io_thread.hpp>

#include <wharf/detail/log.hpp>

#include <utility>

#include <pthread.h>

namespace wharf::inline v1::asio {

io_thread::io_thread(std::string_view name)
    : name_{name}, open_{context_.get_executor()}, thread_{[this] { run(); }} {
  // A hint: a platform that refuses it loses nothing else.
  pthread_setname_np(thread_.native_handle(), name_.substr(0, 15).c_str());
}

io_thread::~io_thread() {
  context_.stop();
  thread_.join();
}

void io_thread::on_failure(const port<std::exception_ptr>& failures) {
  std::optional<port<std::exception_ptr>> other{failures};
  const wharf::detail::lock_guard lock{mutex_};
  failures_.swap(other); // the one before dies after the lock
}

void io_thread::run() noexcept {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (...) {
      report(std::current_exception());
    }
  }
}

void io_thread::report(std::exception_ptr failure) noexcept {
  try {
    std::optional<port<std::exception_ptr>> to;
    {
      const wharf::detail::lock_guard lock{mutex_};
      to = failures_;
    }
    if (to.has_value() && to->post(failure)) {
      return;
    }
  } catch (...) {
    // No memory: the log may need none.
  }
  unhandled_.fetch_add(1, wharf::detail::memory_order_relaxed);
  wharf::detail::log_failure("io thread", name_, {}, std::move(failure));
}

} // namespace wharf::inline v1::asio

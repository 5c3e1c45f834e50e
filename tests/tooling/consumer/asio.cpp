#include <wharf/asio.hpp>
#include <wharf/wharf.hpp>

#include <boost/asio/steady_timer.hpp>

wharf::task<void> wait(boost::asio::io_context& context) {
  boost::asio::steady_timer timer{context, std::chrono::milliseconds{1}};
  co_await timer.async_wait(wharf::asio::awaited);
}

int main() {
  wharf::asio::io_thread io;
  wharf::dispatcher pool;
  wharf::dispatcher_queue queue{pool, "queue"};
  wharf::sync_wait(queue, wait(io.context()));
}

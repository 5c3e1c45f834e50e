// See queue_executor.hpp.

#include <wharf/asio/queue_executor.hpp>

namespace wharf::inline v1::asio {

boost::asio::execution_context&
queue_executor::query(boost::asio::execution::context_t) const noexcept {
  static boost::asio::execution_context context;
  return context;
}

} // namespace wharf::inline v1::asio

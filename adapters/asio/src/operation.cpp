// See detail/operation.hpp.

#include <wharf/asio/detail/operation.hpp>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/post.hpp>

namespace wharf::inline v1::asio::detail {

/// Emits the signal where the operation's steps run.
class operation_base::emission {
public:
  explicit emission(operation_base& of) noexcept : of_{&of} { of.hold(); }
  emission(emission&& other) noexcept
      : of_{std::exchange(other.of_, nullptr)} {}
  emission& operator=(emission&&) = delete;
  ~emission() {
    if (of_ != nullptr) {
      of_->release();
    }
  }

  void operator()() {
    if (!of_->back_.load()) {
      // The strongest: nobody will go on with a part of what it has done.
      of_->signal_.emit(boost::asio::cancellation_type::terminal);
    }
  }

private:
  operation_base* of_;
};

void operation_base::stop() noexcept {
  if (known_.load() != knowledge::told) {
    return; // it ends by itself
  }
  try {
    boost::asio::post(executor_, emission{*this});
  } catch (...) {
    // No memory: likewise.
  }
}

void operation_base::come_back() noexcept {
  back_.store(true);
  complete();
}

} // namespace wharf::inline v1::asio::detail

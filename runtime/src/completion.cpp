// See the head comment in completion.hpp.

#include <wharf/completion.hpp>

namespace wharf::inline v1 {

void completion::arm(detail::decision&) {
  coroutine().hold(); // until complete(), whoever wins
  try {
    start();
    started_ = true;
  } catch (...) {
    failure_ = std::current_exception();
    complete();
  }
}

void completion::disarm(detail::decision&) noexcept {
  if (started_) {
    stop();
  }
}

void completion::complete() noexcept {
  if (root().claim(this)) {
    detail::decision d;
    d.settle(root());
  }
  release();
}

} // namespace wharf::inline v1

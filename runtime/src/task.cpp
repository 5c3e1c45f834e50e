// The end of tasks that never began.

#include <wharf/task.hpp>

#include <utility>

namespace wharf::inline v1::detail {
namespace {

// So deep parameters die where they should, inside the frame that has them;
// those further in die behind it.
constexpr int nested_max = 16;

struct unbegun_frames {
  int nested;
  promise_base* first;
};

constinit thread_local unbegun_frames dying{};

} // namespace

void promise_base::destroy_unbegun(std::coroutine_handle<> frame) noexcept {
  if (dying.nested == nested_max) {
    awaiter_ = frame;
    next_unbegun_ = std::exchange(dying.first, this);
    return;
  }
  ++dying.nested;
  frame.destroy();
  while (dying.nested == 1 && dying.first != nullptr) {
    promise_base& next = *dying.first;
    dying.first = next.next_unbegun_;
    next.awaiter_.destroy();
  }
  --dying.nested;
}

} // namespace wharf::inline v1::detail

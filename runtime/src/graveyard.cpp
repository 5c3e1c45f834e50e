// Destruction without recursion: the list of the dead of each thread.

#include <wharf/detail/graveyard.hpp>

#include <utility>

namespace wharf::inline v1::detail {
namespace {

struct graveyard {
  unsigned depth;
  doomed* first;
};

constinit thread_local graveyard yard{};

} // namespace

void bury(doomed& dead) noexcept {
  burial here;
  dead.next_dead_ = std::exchange(yard.first, &dead);
}

burial::burial() noexcept {
  ++yard.depth;
}

burial::~burial() {
  // Still inside while the dead are ended: what they hold is collected too.
  while (yard.depth == 1 && yard.first != nullptr) {
    doomed* dead = std::exchange(yard.first, yard.first->next_dead_);
    dead->perish();
  }
  --yard.depth;
}

} // namespace wharf::inline v1::detail

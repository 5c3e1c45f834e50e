// Functions in line.

#include <wharf/spawn.hpp>

namespace wharf::inline v1::detail {

void spawned::launch() noexcept {
  // The line takes over the first reference; discard() ends it if the queue
  // has ended already.
  queue().enqueue(*this);
}

bool spawned::active() const noexcept {
  return !claimed_.load(memory_order_relaxed);
}

bool spawned::cancel() noexcept {
  if (!claim()) {
    return false;
  }
  finish(true); // the item is still in line and keeps its reference
  return true;
}

void spawned::run(turn& budget) noexcept {
  if (!claim()) {
    drop_ref();
    return;
  }
  budget.spend();
  const context_scope scope{std::move(under_)};
  try {
    call();
  } catch (...) {
    queue().report(std::current_exception());
  }
  finish();
}

void spawned::discard() noexcept {
  if (!claim()) {
    drop_ref();
    return;
  }
  queue().count_discarded();
  finish();
}

} // namespace wharf::inline v1::detail

// See detail/children.hpp.

#include <wharf/detail/children.hpp>

#include <wharf/ended.hpp>
#include <wharf/spawn.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace wharf::inline v1::detail {
namespace {

/// Awaits an end that no cancel may cut short.
class bound_end {
public:
  explicit bound_end(const activation& of) noexcept : of_{of} {}

  class wait_for : public await_of<ended_branch> {
  public:
    explicit wait_for(when_ended&& end) : await_of{end} {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      scope_.emplace(self.promise().root());
      await_of::await_suspend(self);
    }
    void await_resume() {
      await_of::await_resume();
      scope_.reset();
    }

  private:
    std::optional<coroutine_root::bound_wait> scope_;
  };

  wait_for awaiter() && { return wait_for{when_ended{of_}}; }

private:
  const activation& of_;
};

void report_here(std::exception_ptr failure) noexcept {
  current_coroutine()->queue().report(std::move(failure));
}

} // namespace

void children::add(task<void> child) noexcept {
  add_to(current_coroutine()->queue(), std::move(child));
}

void children::add_to(queue_core& queue, task<void> child) noexcept {
  if (failure_ != nullptr) {
    return;
  }
  try {
    running_.push_back(spawn_on(queue, whole_task{std::move(child)}));
  } catch (...) {
    failure_ = std::current_exception();
  }
}

task<void> children::cancel_all() {
  for (activation& each : running_) {
    each.cancel();
  }
  for (const activation& each : running_) {
    bound_end over{each};
    co_await std::move(over);
  }
}

task<void> children::wait_all() {
  std::exception_ptr cut = failure_;
  try {
    for (std::size_t i = 0; i < running_.size() && cut == nullptr; ++i) {
      co_await running_[i].ended();
    }
  } catch (...) {
    cut = std::current_exception();
  }
  if (cut != nullptr) {
    auto ending = cancel_all();
    co_await shielded(std::move(ending));
    std::rethrow_exception(cut);
  }
}

task<std::size_t> children::wait_any() {
  std::exception_ptr cut = failure_;
  std::size_t first = 0;
  if (running_.empty() && cut == nullptr) {
    throw std::invalid_argument{"when_any needs at least one task"};
  }
  try {
    if (cut == nullptr) {
      first_ended ends{running_};
      first = co_await ends;
    }
  } catch (...) {
    cut = std::current_exception();
  }
  auto ending = cancel_all();
  co_await shielded(std::move(ending));
  if (cut != nullptr) {
    std::rethrow_exception(cut);
  }
  co_return first;
}

void throw_first(std::span<const std::exception_ptr> failures) {
  std::exception_ptr first;
  for (const std::exception_ptr& each : failures) {
    if (each != nullptr && first == nullptr) {
      first = each;
    } else if (each != nullptr && !is_cancelled(each)) {
      report_here(each);
    }
  }
  if (first != nullptr) {
    std::rethrow_exception(first);
  }
}

void report_others(std::span<const std::exception_ptr> failures,
                   std::size_t but) {
  for (std::size_t i = 0; i < failures.size(); ++i) {
    if (i != but && failures[i] != nullptr && !is_cancelled(failures[i])) {
      report_here(failures[i]);
    }
  }
}

} // namespace wharf::inline v1::detail

// Where a failure goes (rule R28): to each innermost causality that it arose
// under; for a line of causalities that takes it nowhere, and without one, to
// the queue's port, the dispatcher's, the log and the counter.

#include "dispatcher_core.hpp"
#include <wharf/detail/log.hpp>

#include <wharf/detail/causality_core.hpp>
#include <wharf/detail/failure_port.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace wharf::inline v1::detail {
namespace {

using ports = std::span<port_core* const>;

/// A failure on its way outwards through the causalities.
class failure_route {
public:
  failure_route(const std::exception_ptr& failure, ports not_to)
      : failure_{failure}, not_to_{not_to} {}

  /// True: every line has told somebody.
  bool tell(context_ref lines) {
    bool all_told = static_cast<bool>(lines);
    while (lines) {
      causality_core& innermost = lines->at(0).innermost();
      bool outermost = false;
      context_ref others;
      context_ref outer;
      for (std::uint32_t i = 0; i < lines->size(); ++i) {
        context_line& line = lines->at(i);
        if (&line.innermost() != &innermost) {
          others = unite(std::move(others), context_ref::share(&line));
        } else if (line.outer()) {
          outer = unite(std::move(outer), line.outer());
        } else {
          outermost = true;
        }
      }
      if (told(innermost) || tell_one(innermost, outer)) {
        lines = std::move(others);
      } else {
        passed_over_ +=
            (passed_over_.empty() ? "\"" : ", \"") + innermost.name() + '"';
        all_told = all_told && !outermost;
        // Whoever is further out comes last: it may be told by then.
        lines = unite(std::move(others), std::move(outer));
      }
    }
    return all_told;
  }

  /// The causalities that could not be told, for the log.
  const std::string& passed_over() const noexcept { return passed_over_; }

private:
  bool told(const causality_core& which) const noexcept {
    return std::find(told_.begin(), told_.end(), &which) != told_.end();
  }

  bool tell_one(causality_core& which, const context_ref& outer) {
    told_.push_back(&which); // first: it may throw
    // The report carries what is outside, so whoever fails over it is told
    // about further out, and nothing comes round again.
    const context_scope carried{outer};
    if (which.failures().post(failure_, not_to_)) {
      return true;
    }
    told_.pop_back();
    return false;
  }

  const std::exception_ptr& failure_;
  const ports not_to_;
  std::vector<const causality_core*> told_;
  std::string passed_over_;
};

} // namespace

bool failure_port::post(const std::exception_ptr& failure,
                        ports not_to) const noexcept {
  if (port_ == nullptr || !port_->has_readers() ||
      std::find(not_to.begin(), not_to.end(), port_) != not_to.end()) {
    return false;
  }
  try {
    auto node = std::make_unique<message<std::exception_ptr>>(failure);
    return port_->post(node.get()) && (node.release(), true);
  } catch (...) {
    return false; // no memory: the next one in line may need none
  }
}

void queue_core::report(std::exception_ptr failure, ports not_to) noexcept {
  failure_route route{failure, not_to};
  try {
    if (route.tell(current_context())) {
      return;
    }
  } catch (const std::bad_alloc&) { // the ports below need none to refuse
  }
  const context_scope carries_nothing{context_ref{}};
  if (!failure_sink().post(failure, not_to) &&
      !pool_.failure_sink().post(failure, not_to)) {
    pool_.count_unhandled();
    log_failure("queue", name_, route.passed_over(), std::move(failure));
  }
}

failure_port queue_core::failure_sink() const noexcept {
  const lock_guard lock{list_mutex_};
  return failures_;
}

void queue_core::set_failure_port(port_core& failures) noexcept {
  failure_port next{failures}; // what was there before ends outside the lock
  const lock_guard lock{list_mutex_};
  std::swap(failures_, next);
}

failure_port dispatcher_core::failure_sink() const noexcept {
  const lock_guard lock{mutex_};
  return failures_;
}

void dispatcher_core::set_failure_port(port_core& failures) noexcept {
  failure_port next{failures};
  const lock_guard lock{mutex_};
  std::swap(failures_, next);
}

} // namespace wharf::inline v1::detail

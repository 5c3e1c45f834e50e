// model_view.cpp -- what can be looked at from outside.

#include "model.hpp"

#include <algorithm>

namespace wharf::laws {

int model::size(std::size_t port) const {
  std::size_t count = ports_[port].unowned.size();
  const auto add = [&](const messages& all) {
    for (const message& m : all) {
      count += m.port == port ? 1 : 0;
    }
  };
  for (const waiter& w : waiters_) {
    add(w.kept);
  }
  for (const root_state& r : roots_) {
    for (const unit& u : r.waiting) {
      if (u.counted) {
        add(u.with);
      }
    }
  }
  return static_cast<int>(count);
}

bool model::all_over(const arbiter_state& a) const {
  return std::all_of(a.roots.begin(), a.roots.end(),
                     [&](std::size_t root) { return roots_[root].over; });
}

maybe model::active(std::size_t arbiter) const {
  const arbiter_state& a = arbiters_[arbiter];
  if (!a.open) {
    return maybe::no;
  }
  if (!all_over(a)) {
    return maybe::yes;
  }
  // It has what it will ever have. Until that is handled, nothing says whether
  // it is active; but a one-time arbiter that is decided is not.
  for (std::size_t root : a.roots) {
    const root_state& r = roots_[root];
    const bool alone = r.in == group::none && !r.persists();
    if (!alone && (!r.waiting.empty() || r.running != 0)) {
      return maybe::open;
    }
  }
  return maybe::no;
}

// R31.
maybe model::may_cancel(std::size_t arbiter) const {
  const maybe still = active(arbiter);
  if (still != maybe::open) {
    return still;
  }
  // Nothing more will be decided for it. What waits can still be given back;
  // if only its last handler runs, the two answers say the same.
  for (std::size_t root : arbiters_[arbiter].roots) {
    if (!roots_[root].waiting.empty()) {
      return maybe::yes;
    }
  }
  return maybe::open;
}

std::vector<int> model::all_messages() const {
  std::vector<int> all;
  const auto add = [&](const messages& some) {
    for (const message& m : some) {
      all.push_back(m.id);
    }
  };
  for (const port_state& p : ports_) {
    add(p.unowned);
  }
  for (const waiter& w : waiters_) {
    add(w.kept);
  }
  for (const root_state& r : roots_) {
    for (const unit& u : r.waiting) {
      add(u.with);
    }
  }
  return all;
}

} // namespace wharf::laws

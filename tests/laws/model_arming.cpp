// model_arming.cpp -- what an arbiter does when it is activated: it looks at
// what is there, and registers.

#include "model.hpp"

#include <cstddef>
#include <utility>

namespace wharf::laws {

void model::add_waiters(const spec& s, std::size_t root, int depth) {
  const auto add = [&](const std::vector<std::size_t>& ports, int which) {
    const std::size_t leaf = roots_[root].leaves;
    waiters_.push_back({.what = &s,
                        .root = root,
                        .handler = {roots_[root].arbiter, leaf},
                        .which = which,
                        .depth = depth,
                        .ports = ports});
    roots_[root].waiters.push_back(waiters_.size() - 1);
    ++roots_[root].live;
  };
  if (s.what == kind::choice && s.range) {
    for (std::size_t i = 0; i < s.ports.size(); ++i) {
      add({s.ports[i]}, static_cast<int>(i));
    }
  } else if (s.what != kind::choice) {
    add(s.ports, 0);
  }
  roots_[root].leaves += has_handler(s) ? 1 : 0;
  for (const spec& part : s.parts) {
    add_waiters(part, root, depth + 1);
  }
}

void model::activate(std::size_t arbiter, std::size_t queue) {
  arbiter_state& a = arbiters_[arbiter];
  a.queue = queue;
  const bool many = a.what->what == kind::interleave;
  std::size_t leaves = 0;
  for (std::size_t i = 0; i < (many ? a.what->parts.size() : 1); ++i) {
    const spec& s = many ? a.what->parts[i] : *a.what;
    roots_.push_back(
        {.what = &s, .arbiter = arbiter, .in = s.in, .leaves = leaves});
    a.roots.push_back(roots_.size() - 1);
    add_waiters(s, roots_.size() - 1, 0);
    leaves = roots_.back().leaves;
  }
  if (queues_[queue].closed) { // R15
    mark(rule::ended_queue_refuses);
    a.open = false;
  }
  for (std::size_t root : a.roots) {
    if (a.open) {
      arm(root);
      settle();
    } else {
      roots_[root].over = roots_[root].left = true;
    }
  }
}

// R17: what can go at once is looked at in list order, times last.
void model::arm(std::size_t root) {
  root_state& r = roots_[root];
  r.over = r.waiters.empty(); // a choice of nothing
  for (std::size_t w : r.waiters) {
    if (!r.over && !waiters_[w].ports.empty()) {
      look(w);
    }
  }
  for (std::size_t w : r.waiters) {
    if (waiters_[w].ports.empty()) {
      waiter& timer = waiters_[w];
      if (!r.over) {
        timer.registered = true;
        timer.due = now_ + timer.what->number;
        timer.armed = ++last_armed_;
      } else if (r.decided() && timer.what->number == 0) {
        mark(rule::message_beats_time);
      }
    }
  }
}

void model::look(std::size_t w) {
  waiter& it = waiters_[w];
  it.place = it.first_place = ++last_place_;
  switch (it.what->what) {
  case kind::join:
    look_join(w);
    break;
  case kind::gather:
    look_gather(w);
    break;
  default:
    look_receive(w);
    break;
  }
  const root_state& r = roots_[it.root];
  if (r.decided()) {
    for (std::size_t later : r.waiters) {
      const waiter& other = waiters_[later];
      if (later > w && other.what->what == kind::receive &&
          !ports_[other.ports[0]].unowned.empty()) {
        mark(rule::list_order_decides);
      }
    }
  }
}

void model::look_receive(std::size_t w) {
  waiter& it = waiters_[w];
  const root_state& r = roots_[it.root];
  messages& there = ports_[it.ports[0]].unowned;
  for (std::size_t i = 0; i < there.size() && !r.over;) {
    if (!wants(w, there[i])) {
      ++i;
      continue;
    }
    if (i != 0) {
      mark(rule::taken_from_the_middle);
    }
    const message m = there[i];
    there.erase(there.begin() + static_cast<std::ptrdiff_t>(i));
    decide(w, {m});
  }
  check_short(it.ports[0]);
  if (r.over) {
    return;
  }
  if (ports_[it.ports[0]].closed) {
    lose_branch(w);
  } else {
    it.registered = true;
  }
}

void model::look_join(std::size_t w) {
  waiter& it = waiters_[w];
  const root_state& r = roots_[it.root];
  while (!r.over && enough(it, none)) {
    decide(w, take_set(it));
  }
  for (std::size_t port : it.ports) {
    check_short(port);
  }
  if (r.over) {
    return;
  }
  if (hopeless(it)) {
    lose_branch(w);
  } else {
    it.registered = true;
  }
}

void model::look_gather(std::size_t w) {
  waiter& it = waiters_[w];
  const root_state& r = roots_[it.root];
  if (it.what->number == 0) {
    decide(w, {});
    return;
  }
  std::vector<std::size_t> rest = it.ports;
  while (!rest.empty() && !r.over) {
    const auto at = static_cast<std::ptrdiff_t>(free_.choose(rest.size()));
    const std::size_t port = rest[static_cast<std::size_t>(at)];
    rest.erase(rest.begin() + at);
    messages& there = ports_[port].unowned;
    while (!there.empty() && !r.over) {
      const message m = there.front();
      there.erase(there.begin());
      keep(w, m);
    }
    if (!there.empty()) {
      mark(rule::gather_leaves_surplus);
    }
    check_short(port);
    if (ports_[port].closed) {
      it.gone.push_back(port);
    }
  }
  if (r.over) {
    return;
  }
  it.registered = true;
  if (it.gone.size() == it.ports.size()) {
    lose_branch(w);
  }
}

} // namespace wharf::laws

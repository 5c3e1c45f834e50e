// model.cpp -- how messages find their receivers.

#include "model.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wharf::laws {

std::size_t chooser::choose(std::size_t options) {
  if (options < 2) {
    return 0;
  }
  if (asked_ == script_.size()) {
    script_.push_back({0, options});
  }
  return script_[asked_++].taken;
}

bool chooser::next() {
  asked_ = 0;
  while (!script_.empty() &&
         script_.back().taken + 1 == script_.back().options) {
    script_.pop_back();
  }
  if (script_.empty()) {
    return false;
  }
  ++script_.back().taken;
  return true;
}

model::model(const program& p, chooser& free, bites& marks)
    : program_{p}, free_{free}, marks_{marks}, arbiters_(p.arbiters.size()) {
  for (std::size_t i = 0; i < arbiters_.size(); ++i) {
    arbiters_[i].what = &p.arbiters[i];
  }
}

effects model::take_effects() {
  return std::exchange(effects_, {});
}

// R1, R3, R10.
int model::post(std::size_t port, int value) {
  const message m{++last_message_, value, port};
  if (ports_[port].closed) {
    mark(rule::refused_by_closed_port);
    return 0;
  }
  if (!running_.empty()) {
    mark(rule::handler_posts);
  }
  if (!offer(m)) {
    ports_[port].unowned.push_back(m);
    for (const waiter& w : waiters_) {
      if (roots_[w.root].in == group::teardown && !w.ports.empty() &&
          w.ports[0] == port && !arbiters_[w.handler.arbiter].open) {
        mark(rule::second_teardown_stays);
      }
    }
  }
  settle();
  return 1;
}

int model::take(std::size_t port) {
  messages& there = ports_[port].unowned;
  if (there.empty()) {
    return 0;
  }
  const message m = there.front();
  there.erase(there.begin());
  for (const waiter& w : waiters_) {
    if (w.registered && w.what->what == kind::join && need(w, port) != 0) {
      mark(rule::join_loses_part); // it held nothing, so others may take
    }
  }
  check_short(port);
  settle();
  return m.id;
}

int model::clear(std::size_t port) {
  const messages all = std::exchange(ports_[port].unowned, {});
  lose(all);
  check_short(port);
  settle();
  return static_cast<int>(all.size());
}

// R2: by descending priority, then in order of registration.
std::vector<std::size_t> model::in_order(std::size_t port) const {
  std::vector<std::size_t> order;
  for (std::size_t w = 0; w < waiters_.size(); ++w) {
    const auto& names = waiters_[w].ports;
    if (waiters_[w].registered &&
        std::find(names.begin(), names.end(), port) != names.end()) {
      order.push_back(w);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int first = waiters_[a].what->priority;
    const int second = waiters_[b].what->priority;
    return first != second ? first > second
                           : waiters_[a].place < waiters_[b].place;
  });
  return order;
}

/// R1: the first that is willing takes it.
bool model::offer(const message& m) {
  if (ports_[m.port].closed) {
    return false; // its waiters have left, but joins that can't use it
  }
  const std::vector<std::size_t> order = in_order(m.port);
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::size_t> others;
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      if (would_take(order[j], m)) {
        others.push_back(order[j]);
      }
    }
    if (take_if_wanted(order[i], m)) {
      for (std::size_t other : others) {
        note_order(order[i], other);
      }
      return true;
    }
  }
  return false;
}

void model::note_order(std::size_t taker, std::size_t other) {
  const waiter& t = waiters_[taker];
  const waiter& o = waiters_[other];
  if (o.what->priority != t.what->priority) {
    if (o.first_place < t.first_place) {
      mark(rule::priority_asks_first);
    }
  } else if (o.first_place < t.first_place) {
    mark(rule::joins_take_turns); // it was first, has fired, and went back
  } else {
    mark(rule::registration_asks_first);
  }
}

/// As take_if_wanted, but nothing happens and nobody is asked.
bool model::would_take(std::size_t w, const message& m) const {
  const waiter& it = waiters_[w];
  if (!open(roots_[it.root])) {
    return false;
  }
  switch (it.what->what) {
  case kind::join:
    return enough(it, m.port);
  case kind::gather:
    return true;
  default:
    return judge(it.what->when, m.value) == verdict::yes;
  }
}

bool model::take_if_wanted(std::size_t w, const message& m) {
  waiter& it = waiters_[w];
  if (!open(roots_[it.root])) {
    return false; // decided: its other branches have not left yet
  }
  switch (it.what->what) {
  case kind::join: {
    if (!enough(it, m.port)) {
      mark(rule::join_waits_for_all);
      return false;
    }
    insert(ports_[m.port].unowned, m);
    decide(w, take_set(it));
    it.place = ++last_place_; // R22; a one-time join has left anyway
    for (std::size_t port : it.ports) {
      check_short(port);
    }
    return true;
  }
  case kind::gather:
    keep(w, m);
    return true;
  default:
    if (!wants(w, m)) {
      return false;
    }
    decide(w, {m});
    return true;
  }
}

// R12: once per offer; to throw is to say no, and is reported.
bool model::wants(std::size_t w, const message& m) {
  const waiter& it = waiters_[w];
  if (it.what->when == filter::everything) {
    return true;
  }
  effects_.asked.push_back({it.handler, m.id});
  const verdict v = judge(it.what->when, m.value);
  if (v == verdict::fails) {
    mark(rule::predicate_throws);
    const std::size_t queue = arbiters_[it.handler.arbiter].queue;
    effects_.failures[queue].push_back(failure_of_predicate(it.handler));
  } else if (v == verdict::no) {
    mark(rule::predicate_refuses);
  }
  return v == verdict::yes;
}

/// How many messages of a port the set of a join has.
std::size_t model::need(const waiter& w, std::size_t port) {
  if (w.ports.size() == 1) {
    return w.ports[0] == port ? static_cast<std::size_t>(w.what->number) : 0;
  }
  return static_cast<std::size_t>(
      std::count(w.ports.begin(), w.ports.end(), port));
}

// R20: a message on offer counts as if it lay in its port.
bool model::enough(const waiter& w, std::size_t extra_port) const {
  return std::all_of(w.ports.begin(), w.ports.end(), [&](std::size_t port) {
    const std::size_t extra = port == extra_port ? 1 : 0;
    return ports_[port].unowned.size() + extra >= need(w, port);
  });
}

/// A closed port lacks what a join needs (R14).
bool model::hopeless(const waiter& w) const {
  return std::any_of(w.ports.begin(), w.ports.end(), [&](std::size_t port) {
    return ports_[port].closed && ports_[port].unowned.size() < need(w, port);
  });
}

model::messages model::take_set(const waiter& w) {
  const std::size_t count = w.ports.size() == 1
                                ? static_cast<std::size_t>(w.what->number)
                                : w.ports.size();
  messages set;
  for (std::size_t i = 0; i < count; ++i) {
    messages& there = ports_[w.ports[i % w.ports.size()]].unowned;
    set.push_back(there.front());
    there.erase(there.begin());
  }
  if (w.what->range) {
    mark(rule::join_of_range);
  } else if (w.ports.size() == 1 && count > 1) {
    mark(rule::join_of_many);
  }
  for (std::size_t port : w.ports) {
    if (w.ports.size() > 1 && need(w, port) > 1) {
      mark(rule::same_port_twice);
    }
  }
  return set;
}

// R23.
void model::keep(std::size_t w, const message& m) {
  waiter& it = waiters_[w];
  insert(it.kept, m);
  if (it.kept.size() < static_cast<std::size_t>(it.what->number)) {
    return;
  }
  messages by_port;
  for (std::size_t port : it.ports) {
    std::copy_if(it.kept.begin(), it.kept.end(), std::back_inserter(by_port),
                 [&](const message& each) { return each.port == port; });
  }
  if (by_port.front().port != by_port.back().port) {
    mark(rule::gather_of_set);
  }
  it.kept.clear();
  decide(w, std::move(by_port));
}

} // namespace wharf::laws

// model_ends.cpp -- how arbiters are decided, leave their ports, and give back;
// how ports, queues and messages end.

#include "model.hpp"

#include <algorithm>
#include <utility>

namespace wharf::laws {

bool model::open(const root_state& r) const {
  return !r.over && (r.in == group::none || arbiter_of(r).open);
}

/// `w` has what it waited for. R4: what a one-time arbiter takes is consumed
/// at once; what others take belongs to them until the handler starts.
void model::decide(std::size_t w, messages with) {
  waiter& it = waiters_[w];
  root_state& r = roots_[it.root];
  const bool counted =
      r.persists() || r.in != group::none || it.what->what == kind::gather;
  auto at = r.waiting.end();
  if (it.what->what == kind::receive) { // R8: in order of arrival
    at = std::find_if(r.waiting.begin(), r.waiting.end(), [&](const unit& u) {
      return u.with.front().id > with.front().id;
    });
  }
  r.waiting.insert(at, {w, std::move(with), counted});
  if (r.persists()) {
    r.slots.push_back(++last_slot_);
    return;
  }
  if (it.depth >= 2) {
    mark(rule::nested_choice_decides);
  }
  if (it.which > 0) {
    mark(rule::choice_over_range);
  }
  r.over = r.fired = true;
  decided_.push_back(it.root);
  if (r.in == group::teardown) { // R27: the first one ends the interleave
    arbiter_of(r).open = false;
    arbiter_of(r).tearing = it.root;
  }
}

/// R14: a branch can bring nothing any more; with the last one its root ends.
void model::lose_branch(std::size_t w) {
  waiters_[w].registered = false;
  root_state& r = root_of(w);
  if (r.over) {
    return;
  }
  mark(rule::waiter_left_closed_port);
  if (--r.live != 0) {
    return;
  }
  r.over = true;
  if (!r.waiting.empty()) {
    mark(rule::drained_after_close);
  }
  if (!r.persists()) {
    decided_.push_back(waiters_[w].root);
  }
}

/// All branches leave their ports; gathers give back (R18).
void model::unregister(root_state& r) {
  for (std::size_t w : r.waiters) {
    waiter& it = waiters_[w];
    const bool winner = !r.waiting.empty() && r.waiting.front().waiter == w;
    if (it.registered && !winner && r.fired) {
      mark(rule::loser_leaves);
    }
    it.registered = false;
    if (!it.kept.empty()) {
      mark(r.fired ? rule::losing_gather_gives_back : rule::gather_ends_short);
      give_back(std::exchange(it.kept, {}));
    }
  }
}

template <class T>
T model::draw(std::vector<T>& from) {
  const std::size_t at = free_.choose(from.size());
  T drawn = std::move(from[at]);
  from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
  return drawn;
}

/// In which order the gifts arrive at different ports is open.
void model::put_all_back() {
  while (!gifts_.empty()) {
    put_back(draw(gifts_));
  }
}

/// R7: works off what follows from a decision until nothing does. The order is
/// open where several have been decided at once.
void model::settle() {
  put_all_back();
  while (!decided_.empty()) {
    root_state& r = roots_[draw(decided_)];
    unregister(r);
    put_all_back();
    if (!r.fired) {
      continue;
    }
    // R18: only now is it scheduled, and so arrives in its group.
    r.slots.push_back(++last_slot_);
    arbiter_state& a = arbiter_of(r);
    if (r.in == group::teardown) {
      leave(r.arbiter);
      put_all_back();
    }
    if (queues_[a.queue].closed &&
        (r.in == group::none || r.in == group::teardown)) {
      discard(r);
    }
  }
}

/// R34: decided, but its queue has ended.
void model::discard(root_state& r) {
  mark(rule::end_discards);
  arbiter_state& a = arbiter_of(r);
  for (const unit& each : std::exchange(r.waiting, {})) {
    lose(each.with);
    ++queues_[a.queue].discarded;
  }
  r.left = true;
  a.tearing = none;
}

void model::insert(messages& into, const message& m) {
  const auto at =
      std::find_if(into.begin(), into.end(),
                   [&](const message& each) { return each.id > m.id; });
  into.insert(at, m);
}

/// One gift for each port.
void model::give_back(const messages& all) {
  for (std::size_t port = 0; port < port_count; ++port) {
    gift g{port, {}};
    for (const message& m : all) {
      if (m.port == port) {
        insert(g.back, m);
      }
    }
    if (!g.back.empty()) {
      gifts_.push_back(std::move(g));
    }
  }
}

/// R6: in one step, oldest first.
void model::put_back(const gift& g) {
  port_state& p = ports_[g.port];
  for (const message& m : g.back) {
    if (offer(m)) {
      mark(rule::gift_to_another);
      continue;
    }
    if (!p.unowned.empty() && p.unowned.back().id > m.id) {
      mark(rule::given_back_in_place);
    }
    insert(p.unowned, m);
  }
  check_short(g.port);
}

/// R14: messages have left a closed port; joins that lack there now end.
void model::check_short(std::size_t port) {
  if (!ports_[port].closed) {
    return;
  }
  for (std::size_t w : in_order(port)) {
    if (waiters_[w].what->what == kind::join && hopeless(waiters_[w])) {
      lose_branch(w);
    }
  }
}

void model::close(std::size_t port) {
  if (ports_[port].closed) {
    return;
  }
  ports_[port].closed = true;
  for (std::size_t w : in_order(port)) {
    waiter& it = waiters_[w];
    switch (it.what->what) {
    case kind::join:
      break; // see check_short
    case kind::gather:
      it.gone.push_back(port);
      if (it.gone.size() == it.ports.size()) {
        lose_branch(w);
      }
      break;
    default:
      lose_branch(w);
      break;
    }
  }
  check_short(port);
  settle();
}

// R13: what nobody can take any more is destroyed; a join may have a use for
// it still.
void model::drop(std::size_t port) {
  close(port);
  ports_[port].dropped = true;
  const bool of_use =
      std::any_of(waiters_.begin(), waiters_.end(), [&](const waiter& w) {
        return w.registered && w.what->what == kind::join && need(w, port) != 0;
      });
  if (!of_use) {
    const messages all = std::exchange(ports_[port].unowned, {});
    if (!all.empty()) {
      mark(rule::last_handle_destroys);
    }
    lose(all);
  }
}

bool model::forget(int id) {
  for (std::size_t port = 0; port < port_count; ++port) {
    messages& there = ports_[port].unowned;
    const auto found =
        std::find_if(there.begin(), there.end(),
                     [&](const message& m) { return m.id == id; });
    if (found != there.end() && ports_[port].dropped &&
        in_order(port).empty()) {
      there.erase(found);
      return true;
    }
  }
  return false;
}

void model::lose(const messages& all) {
  for (const message& each : all) {
    effects_.lost.push_back(each.id);
  }
}

/// A root ends before its time: nothing more of it will start.
void model::leave_root(std::size_t root) {
  root_state& r = roots_[root];
  if (r.left) {
    return;
  }
  const bool undecided = !r.over;
  r.over = r.left = true;
  if (undecided) {
    r.fired = false;
  }
  messages all;
  for (const unit& each : std::exchange(r.waiting, {})) {
    all.insert(all.end(), each.with.begin(), each.with.end());
  }
  r.slots.clear();
  unregister(r);
  give_back(all);
}

/// Cancel, teardown, or the end of its queue.
void model::leave(std::size_t arbiter) {
  arbiter_state& a = arbiters_[arbiter];
  a.open = false;
  if (a.what->what == kind::interleave) {
    effects_.leaving.push_back(arbiter);
  }
  for (std::size_t root : a.roots) {
    if (root == a.tearing) {
      continue;
    }
    if (a.tearing != none && !roots_[root].waiting.empty()) {
      mark(rule::teardown_overtakes);
    }
    leave_root(root);
  }
}

void model::cancel(std::size_t arbiter) {
  leave(arbiter);
  if (!gifts_.empty()) {
    mark(rule::cancel_gives_back);
  }
  settle();
}

// R34.
void model::finish(std::size_t queue) {
  if (queues_[queue].closed) {
    return;
  }
  queues_[queue].closed = true;
  std::vector<std::size_t> rest;
  for (std::size_t i = 0; i < arbiters_.size(); ++i) {
    arbiter_state& a = arbiters_[i];
    if (a.queue != queue) {
      continue;
    }
    for (std::size_t root : a.roots) {
      root_state& r = roots_[root];
      const bool alone = r.in == group::none && !r.persists();
      if (!r.waiting.empty() && (alone || root == a.tearing)) {
        discard(r);
      }
    }
    rest.push_back(i);
  }
  // In the order of activation, or another; if nobody holds anything they are
  // all the same.
  const bool holding = std::any_of(rest.begin(), rest.end(), [&](auto each) {
    return holds(arbiters_[each]);
  });
  while (!rest.empty()) {
    if (holding) {
      leave(draw(rest));
    } else {
      leave(rest.back());
      rest.pop_back();
    }
    if (!gifts_.empty()) {
      mark(rule::end_gives_back);
    }
    settle();
  }
}

bool model::holds(const arbiter_state& a) const {
  return std::any_of(a.roots.begin(), a.roots.end(), [&](std::size_t root) {
    const root_state& r = roots_[root];
    return !r.waiting.empty() ||
           std::any_of(r.waiters.begin(), r.waiters.end(), [&](std::size_t w) {
             return !waiters_[w].kept.empty();
           });
  });
}

} // namespace wharf::laws

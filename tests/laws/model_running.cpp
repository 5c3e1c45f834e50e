// model_running.cpp -- which handler may start, interleaves, and time.

#include "model.hpp"

#include <algorithm>
#include <utility>

namespace wharf::laws {

/// The root of a group whose unit is next: by priority, then by arrival (R26);
/// who runs one at a time has no next while one runs.
/// `only`: among these slots.
std::size_t model::first_in(const arbiter_state& a, group in,
                            const std::vector<int>* only) const {
  std::size_t best = none;
  for (std::size_t root : a.roots) {
    const root_state& r = roots_[root];
    const bool has_to_wait =
        in == group::concurrent && r.what->serial && r.running != 0;
    if (r.in != in || r.waiting.empty() || has_to_wait ||
        (only != nullptr && std::find(only->begin(), only->end(),
                                      r.slots.front()) == only->end())) {
      continue;
    }
    if (best == none || r.what->priority > roots_[best].what->priority ||
        (r.what->priority == roots_[best].what->priority &&
         r.slots.front() < roots_[best].slots.front())) {
      best = root;
    }
  }
  return best;
}

/// R24, R25, R27: the only root of the interleave that may start now.
std::size_t model::next_of(const arbiter_state& a) const {
  const bool busy = a.exclusive_running || a.concurrent_running != 0;
  if (a.tearing != none) {
    return busy || roots_[a.tearing].waiting.empty() ? none : a.tearing;
  }
  if (!a.open || a.exclusive_running) {
    return none;
  }
  if (!a.batch.empty()) {
    return first_in(a, group::concurrent, &a.batch);
  }
  const std::size_t exclusive = first_in(a, group::exclusive, nullptr);
  const std::size_t concurrent = first_in(a, group::concurrent, nullptr);
  if (exclusive == none) {
    return concurrent;
  }
  if (busy) {
    return none;
  }
  const bool patience_over = a.in_a_row >= a.what->number;
  return patience_over && concurrent != none ? concurrent : exclusive;
}

bool model::may_start(const root_state& r) const {
  const arbiter_state& a = arbiter_of(r);
  const queue_state& q = queues_[a.queue];
  if (q.suspended || q.closed || r.waiting.empty()) {
    return false;
  }
  if (r.in != group::none) {
    const std::size_t next = next_of(a);
    return next != none && &roots_[next] == &r;
  }
  const bool alone = r.what->serial || r.what->what == kind::every;
  return !alone || r.running == 0;
}

void model::note_waiting() {
  for (const arbiter_state& a : arbiters_) {
    note_waits(a);
  }
  for (const root_state& r : roots_) {
    if (r.what->serial && r.in != group::exclusive && r.running != 0 &&
        !r.waiting.empty()) {
      mark(rule::one_at_a_time_waits);
    }
  }
}

bool model::ready() {
  bool any = false;
  for (const root_state& r : roots_) {
    any = any || may_start(r);
    queue_state& q = queues_[arbiter_of(r).queue];
    if (q.suspended && !q.closed) {
      q.suspended = false;
      if (may_start(r)) {
        mark(rule::suspended_holds_back);
      }
      q.suspended = true;
    }
  }
  return any;
}

/// Marks what kept others of the interleave from starting before this one.
void model::note_turn(const arbiter_state& a, const root_state& r) {
  for (std::size_t root : a.roots) {
    const root_state& other = roots_[root];
    if (&other == &r || other.waiting.empty() || other.in != r.in) {
      continue;
    }
    if (other.what->priority < r.what->priority &&
        other.slots.front() < r.slots.front()) {
      mark(rule::group_priority);
    } else if (other.what->priority == r.what->priority &&
               other.slots.front() > r.slots.front()) {
      mark(rule::group_arrival);
    }
  }
}

void model::note_waits(const arbiter_state& a) {
  const bool writer = first_in(a, group::exclusive, nullptr) != none;
  const bool reader = first_in(a, group::concurrent, nullptr) != none;
  if (a.tearing != none && !roots_[a.tearing].waiting.empty() &&
      (a.exclusive_running || a.concurrent_running != 0)) {
    mark(rule::teardown_waits);
  }
  if (writer && a.concurrent_running != 0) {
    mark(rule::exclusive_waits);
  }
  if (reader && a.exclusive_running) {
    mark(rule::concurrent_waits_for_running);
  }
  if (reader && writer && a.concurrent_running != 0) {
    mark(rule::concurrent_waits_for_waiting);
  }
}

void model::begin(arbiter_state& a, root_state& r) {
  note_turn(a, r);
  if (r.in != group::concurrent) {
    a.exclusive_running = true;
    ++a.in_a_row;
    if (std::exchange(a.batch_ran, false) &&
        first_in(a, group::concurrent, nullptr) != none) {
      mark(rule::batch_excludes_later);
    }
    return;
  }
  if (a.batch.empty() && first_in(a, group::exclusive, nullptr) != none) {
    mark(rule::batch_runs);
    a.batch_ran = true;
    for (std::size_t root : a.roots) {
      if (roots_[root].in == group::concurrent) {
        a.batch.insert(a.batch.end(), roots_[root].slots.begin(),
                       roots_[root].slots.end());
      }
    }
  }
  const auto left = std::find(a.batch.begin(), a.batch.end(), r.slots.front());
  if (left != a.batch.end()) {
    a.batch.erase(left);
  }
  a.in_a_row = 0;
  ++a.concurrent_running;
}

bool model::start(handler_id who, int which, const std::vector<int>& ids) {
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    root_state& r = roots_[i];
    if (r.arbiter != who.arbiter || r.waiting.empty()) {
      continue;
    }
    const unit& u = r.waiting.front();
    std::vector<int> with;
    for (const message& m : u.with) {
      with.push_back(m.id);
    }
    if (waiters_[u.waiter].handler != who ||
        waiters_[u.waiter].which != which || with != ids || !may_start(r)) {
      continue;
    }
    if (r.in != group::none) {
      begin(arbiter_of(r), r);
    }
    r.waiting.erase(r.waiting.begin());
    r.slots.erase(r.slots.begin());
    ++r.running;
    running_.push_back({i, who});
    return true;
  }
  return false;
}

void model::end(bool failed) {
  const run over = running_.back();
  running_.pop_back();
  root_state& r = roots_[over.root];
  arbiter_state& a = arbiter_of(r);
  --r.running;
  if (failed) { // R28
    mark(a.queue == 0 ? rule::failure_to_queue : rule::failure_to_pool);
    effects_.failures[a.queue].push_back(failure_of_handler(over.who));
  }
  if (std::exchange(r.tick_again, false) && !r.over) {
    mark(rule::tick_made_up);
    r.waiting.push_back({r.waiters.front(), {}, false});
    r.slots.push_back(++last_slot_);
  }
  if (r.in == group::concurrent) {
    --a.concurrent_running;
  } else {
    a.exclusive_running = false;
  }
  if (r.in == group::teardown) {
    end_interleave(a);
  }
}

// R27: the ports close, and what is left in them is destroyed.
void model::end_interleave(arbiter_state& a) {
  a.tearing = none;
  if (!a.what->then_close) {
    return;
  }
  std::vector<std::size_t> closing;
  for (std::size_t root : a.roots) {
    for (std::size_t w : roots_[root].waiters) {
      const auto& ports = waiters_[w].ports;
      closing.insert(closing.end(), ports.begin(), ports.end());
    }
  }
  for (std::size_t port : closing) {
    close(port);
  }
  for (std::size_t port : closing) {
    const messages left = std::exchange(ports_[port].unowned, {});
    if (!left.empty()) {
      mark(rule::then_close_destroys);
    }
    lose(left);
    check_short(port);
  }
  settle();
}

/// R32, R33: what is due fires by due time, then in order of arming.
void model::fire_due() {
  for (;;) {
    std::size_t first = none;
    for (std::size_t w = 0; w < waiters_.size(); ++w) {
      const waiter& it = waiters_[w];
      const bool timer = it.registered && it.ports.empty();
      if (timer && it.due <= now_ &&
          (first == none || it.due < waiters_[first].due ||
           (it.due == waiters_[first].due &&
            it.armed < waiters_[first].armed))) {
        first = w;
      }
    }
    if (first == none) {
      break;
    }
    fire(first);
  }
  settle();
}

void model::note_time(const root_state& r, const waiter& winner) {
  for (std::size_t w : r.waiters) {
    const waiter& other = waiters_[w];
    if (!other.registered) {
      continue;
    }
    mark(rule::time_wins);
    if (other.ports.empty() && other.due <= now_) {
      mark(other.due == winner.due ? rule::timers_in_arming_order
                                   : rule::timers_in_due_order);
    }
  }
}

void model::fire(std::size_t w) {
  waiter& it = waiters_[w];
  root_state& r = roots_[it.root];
  if (it.what->what == kind::after) {
    it.registered = false;
    if (open(r)) {
      note_time(r, it);
      decide(w, {});
    }
    return;
  }
  // A tick that comes while another one waits is left out; one that comes
  // while the handler runs is made up.
  if (r.running != 0 && r.waiting.empty()) {
    r.tick_again = true;
  } else if (r.waiting.empty()) {
    decide(w, {});
  } else {
    mark(rule::ticks_left_out);
  }
  const int period = it.what->number;
  const int missed = (now_ - it.due) / period;
  if (missed != 0) {
    mark(rule::ticks_left_out);
  }
  it.due += (missed + 1) * period;
  it.armed = ++last_armed_;
}

} // namespace wharf::laws

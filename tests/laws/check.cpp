// See check.hpp.

#include "check.hpp"

#include "model.hpp"

#include <algorithm>
#include <utility>

namespace wharf::laws {
namespace {

// How many resolutions of what the rules leave open are tried.
constexpr int attempts_max = 2000;

constexpr int skipped = -2;

struct broken {
  std::string why;
};

std::string text_of(const std::vector<int>& numbers) {
  std::string text;
  for (int each : numbers) {
    text += (text.empty() ? "" : " ") + std::to_string(each);
  }
  return "{" + text + "}";
}

std::string text_of(handler_id who) {
  return "handler " + std::to_string(who.leaf) + " of #" +
         std::to_string(who.arbiter);
}

template <class T>
bool remove_one(std::vector<T>& from, const T& what) {
  const auto found = std::find(from.begin(), from.end(), what);
  if (found == from.end()) {
    return false;
  }
  from.erase(found);
  return true;
}

template <class T>
bool contains(const std::vector<T>& in, const T& what) {
  return std::find(in.begin(), in.end(), what) != in.end();
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void require(bool holds, const std::string& why) {
  if (!holds) {
    throw broken{why};
  }
}

/// One walk along a trace, beside a model.
class walk {
public:
  walk(const program& p, const trace& seen, chooser& free, bites& marks)
      : trace_{seen}, model_{p, free, marks} {}

  void all();
  int step() const { return step_; }

private:
  /// What belongs to one action.
  struct frame {
    effects expected{};
    std::vector<effects::asking> asked{};
    std::vector<int> lost{};
  };

  const event& next() { return trace_.events[at_++]; }
  bool more() const { return at_ < trace_.events.size(); }
  void one_action();
  void apply(const action& a, int answer);
  void apply_to_port(const action& a, int answer);
  void apply_cancel(std::size_t arbiter, int answer);
  int answer_ahead() const;
  void collect(frame& f);
  void handler(const event& e, frame& f);
  void compare(frame& f, const view& seen);
  void compare_failures(const view& seen);
  void compare_state(const view& seen);

  const trace& trace_;
  model model_;
  std::size_t at_ = 0;
  int depth_ = 0;
  int step_ = 0;
  std::array<std::vector<int>, queue_count> owed_{}; // failures
  std::vector<std::size_t> leaving_{};               // since the step began
};

void expect(int answer, int right) {
  require(answer == right, "answered " + std::to_string(answer) + ", not " +
                               std::to_string(right));
}

void walk::all() {
  while (more() && trace_.events[at_].what == event::type::does) {
    one_action();
  }
  std::vector<int> left = model_.all_messages();
  while (more()) {
    const event& e = next();
    if (e.what == event::type::asked) {
      continue; // what the queues' end gives back is on offer once more
    }
    require(e.what == event::type::lost && remove_one(left, e.number),
            "at the end: message " + std::to_string(e.number) +
                " is destroyed, and nobody had it");
  }
  require(left.empty(),
          "at the end: messages " + text_of(left) + " are not destroyed");
  require(trace_.handlers_left == 0, "at the end: handlers are not destroyed");
}

void walk::one_action() {
  const event& first = next();
  step_ = first.number;
  if (depth_ == 0) {
    leaving_.clear();
  }
  const action a = first.did;
  frame f;
  bool answered = false;
  if (a.what == does::run) {
    if (answer_ahead() != skipped) {
      model_.note_waiting();
      model_.fire_due();
    }
  } else {
    apply(a, answer_ahead());
  }
  for (;;) {
    require(more(), "the trace ends early");
    const event& e = next();
    switch (e.what) {
    case event::type::asked:
      f.asked.push_back({e.who, e.number});
      break;
    case event::type::lost:
      f.lost.push_back(e.number);
      break;
    case event::type::starts:
      require(a.what == does::run,
              text_of(e.who) + " is run outside the dispatcher");
      handler(e, f);
      break;
    case event::type::answer:
      answered = true;
      if (a.what == does::run && e.number == 0 && depth_ == 0) {
        require(!model_.ready(), "nothing runs, though a handler is ready");
      }
      break;
    case event::type::looks:
      require(answered, "no answer");
      compare(f, e.seen);
      return;
    default:
      require(false, "out of place");
    }
  }
}

/// The answer of the action that begins here; of a run it lies behind those of
/// the handlers' actions.
int walk::answer_ahead() const {
  int open = 0;
  for (std::size_t i = at_; i < trace_.events.size(); ++i) {
    const event::type what = trace_.events[i].what;
    open += what == event::type::does ? 1 : 0;
    if (what == event::type::answer && open-- == 0) {
      return trace_.events[i].number;
    }
  }
  return skipped;
}

void walk::collect(frame& f) {
  effects more = model_.take_effects();
  append(f.expected.asked, more.asked);
  append(f.expected.lost, more.lost);
  append(leaving_, more.leaving);
  for (std::size_t i = 0; i < queue_count; ++i) {
    append(owed_[i], more.failures[i]);
  }
}

void walk::handler(const event& e, frame& f) {
  collect(f);
  require(model_.start(e.who, e.number, e.messages),
          text_of(e.who) + " must not start with " + text_of(e.messages));
  ++depth_;
  while (more() && trace_.events[at_].what == event::type::does) {
    one_action();
  }
  --depth_;
  require(more(), "a handler does not end");
  const event& last = next();
  require(last.what == event::type::ends && last.who == e.who,
          "something happens in a handler that it did not do");
  model_.end(last.number == 1);
}

void walk::apply(const action& a, int answer) {
  switch (a.what) {
  case does::activate:
    if (answer != skipped) {
      model_.activate(a.on, static_cast<std::size_t>(a.value));
    }
    break;
  case does::cancel:
    apply_cancel(a.on, answer);
    break;
  case does::advance:
    model_.advance(a.value);
    break;
  case does::suspend:
    model_.suspend(a.on);
    break;
  case does::resume:
    model_.resume(a.on);
    break;
  case does::finish:
    model_.finish(a.on);
    break;
  default:
    apply_to_port(a, answer);
    break;
  }
}

void walk::apply_to_port(const action& a, int answer) {
  if (!model_.has_handle(a.on)) {
    expect(answer, skipped);
    return;
  }
  switch (a.what) {
  case does::post:
    expect(answer, model_.post(a.on, a.value));
    break;
  case does::take:
    expect(answer, model_.take(a.on));
    break;
  case does::clear:
    expect(answer, model_.clear(a.on));
    break;
  case does::close:
    model_.close(a.on);
    break;
  case does::drop:
    model_.drop(a.on);
    break;
  default:
    break;
  }
}

void walk::apply_cancel(std::size_t arbiter, int answer) {
  if (answer == skipped) {
    return;
  }
  const maybe right = model_.may_cancel(arbiter);
  require(right == maybe::open || (answer == 1) == (right == maybe::yes),
          std::string{"cancel answered "} + (answer == 1 ? "true" : "false"));
  if (answer == 1) {
    model_.cancel(arbiter);
  } else {
    model_.note_too_late();
  }
}

void walk::compare(frame& f, const view& seen) {
  collect(f);
  for (const effects::asking& each : f.expected.asked) {
    require(remove_one(f.asked, each), "the predicate of " + text_of(each.who) +
                                           " was not asked about message " +
                                           std::to_string(each.message));
  }
  for (const effects::asking& each : f.asked) {
    require(contains(leaving_, each.who.arbiter),
            "the predicate of " + text_of(each.who) +
                " was asked about message " + std::to_string(each.message));
  }
  for (int each : f.expected.lost) {
    require(remove_one(f.lost, each),
            "message " + std::to_string(each) + " was not destroyed");
  }
  for (int each : f.lost) {
    require(model_.forget(each),
            "message " + std::to_string(each) + " was destroyed");
  }
  compare_failures(seen);
  compare_state(seen);
}

void walk::compare_failures(const view& seen) {
  for (std::size_t i = 0; i < queue_count; ++i) {
    for (int each : seen.failures[i]) {
      const bool excused =
          !leaving_.empty() && each >= failure_of_predicate({});
      require(remove_one(owed_[i], each) || excused,
              "failure " + std::to_string(each) + " was reported");
    }
    require(depth_ != 0 || owed_[i].empty(),
            "failures " + text_of(owed_[i]) + " were not reported");
  }
}

void walk::compare_state(const view& seen) {
  for (std::size_t i = 0; i < port_count; ++i) {
    if (model_.has_handle(i)) {
      require(seen.sizes[i] == model_.size(i),
              std::string{port_name(i)} + ".size() is " +
                  std::to_string(seen.sizes[i]) + ", not " +
                  std::to_string(model_.size(i)));
    }
  }
  for (std::size_t i = 0; i < seen.active.size(); ++i) {
    if (seen.active[i] == view::unseen) {
      continue;
    }
    const maybe right = model_.active(i);
    require(right == maybe::open ||
                (seen.active[i] == 1) == (right == maybe::yes),
            "#" + std::to_string(i) + ".active() is " +
                (seen.active[i] == 1 ? "true" : "false"));
  }
  for (std::size_t i = 0; i < queue_count; ++i) {
    require(seen.discarded[i] == model_.discarded(i),
            "q" + std::to_string(i) + ".discarded() is " +
                std::to_string(seen.discarded[i]) + ", not " +
                std::to_string(model_.discarded(i)));
  }
}

} // namespace

finding check(const program& p, const trace& seen) {
  finding first;
  chooser free;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    bites marks;
    walk along{p, seen, free, marks};
    try {
      along.all();
      return {.marks = marks};
    } catch (const broken& b) {
      // The difference that the walk got furthest to tells most.
      if (first.lawful || along.step() > first.step) {
        first = {.lawful = false, .step = along.step(), .why = b.why};
      }
    }
    if (!free.next()) {
      break;
    }
  }
  return first;
}

} // namespace wharf::laws

#pragma once

// The rules as a program: what ports and arbiters do, written from section 2
// of docs/architecture.md (R1 to R35) with vectors and loops, one thread, and
// no thought of speed. It knows nothing of the runtime.
//
// Where the rules leave an order open the model asks a chooser; the checker
// tries other choices if the first ones do not explain what was seen.

#include "bites.hpp"
#include "program.hpp"
#include "trace.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace wharf::laws {

/// Answers the questions that the rules leave open, by a script.
class chooser {
public:
  /// 0 to `options` - 1.
  std::size_t choose(std::size_t options);
  /// Starts over, with the next script. False: all have been tried.
  bool next();

private:
  struct choice {
    std::size_t taken;
    std::size_t options;
  };
  std::vector<choice> script_;
  std::size_t asked_ = 0;
};

/// What an action brings about beside the state that can be looked at.
struct effects {
  struct asking {
    handler_id who;
    int message;
    friend bool operator==(const asking&, const asking&) = default;
  };
  std::vector<asking> asked{};
  std::vector<int> lost{};
  std::array<std::vector<int>, queue_count> failures{};
  /// Interleaves that end: their members leave one by one, and nothing says
  /// whether the predicates of those that are still there are asked meanwhile.
  std::vector<std::size_t> leaving{};
};

/// Yes, no, or left open by the rules.
enum class maybe : std::uint8_t { no, yes, open };

class model {
public:
  model(const program& p, chooser& free, bites& marks);

  // Actions. Each returns the answer, if the rules settle it.

  /// 1: accepted, 0: refused.
  int post(std::size_t port, int value);
  /// The message, or 0.
  int take(std::size_t port);
  int clear(std::size_t port);
  void close(std::size_t port);
  void drop(std::size_t port);
  void activate(std::size_t arbiter, std::size_t queue);
  maybe may_cancel(std::size_t arbiter) const;
  void cancel(std::size_t arbiter);
  void note_too_late() { mark(rule::cancel_too_late); }
  void advance(int ms) { now_ += ms; }
  void fire_due();
  void suspend(std::size_t queue) { queues_[queue].suspended = true; }
  void resume(std::size_t queue) { queues_[queue].suspended = false; }
  void finish(std::size_t queue);

  /// A handler starts; false: the rules do not allow it.
  bool start(handler_id who, int which, const std::vector<int>& ids);
  /// The handler that started last and has not ended.
  void end(bool failed);
  /// Whether a handler may start now.
  bool ready();
  /// Marks the rules that hold handlers back at the moment.
  void note_waiting();

  // What can be looked at.

  bool has_handle(std::size_t port) const { return !ports_[port].dropped; }
  bool activated(std::size_t arbiter) const {
    return arbiters_[arbiter].queue != none;
  }
  int size(std::size_t port) const;
  maybe active(std::size_t arbiter) const;
  int discarded(std::size_t queue) const { return queues_[queue].discarded; }
  /// Whether the rules allow the message, unreachable now, to be lost.
  bool forget(int message);
  std::vector<int> all_messages() const;

  /// What happened since the last call.
  effects take_effects();

private:
  static constexpr std::size_t none = ~std::size_t{0};

  struct message {
    int id; // ascending, so it is also the place in the port
    int value;
    std::size_t port;
  };
  using messages = std::vector<message>;

  struct port_state {
    messages unowned{};
    bool closed = false;
    bool dropped = false;
  };
  struct queue_state {
    bool suspended = false;
    bool closed = false;
    int discarded = 0;
  };

  /// What one run of a handler consumes.
  struct unit {
    std::size_t waiter;
    messages with;
    bool counted; // by size() of its ports
  };

  /// A receive, join, gather or timer.
  struct waiter {
    const spec* what;
    std::size_t root;
    handler_id handler;
    int which; // of a range of branches
    int depth; // of choices around it
    std::vector<std::size_t> ports;
    bool registered = false;
    int first_place = 0;
    int place = 0;                   // order of registration
    messages kept{};                 // a gather's
    std::vector<std::size_t> gone{}; // a gather's ports that have closed
    int due = 0;                     // a timer's
    int armed = 0;                   // order of arming
  };

  /// What fires as one: an arbiter, or a member of an interleave.
  struct root_state {
    const spec* what;
    std::size_t arbiter;
    group in;
    std::size_t leaves = 0; // handlers of the arbiter up to here
    std::vector<std::size_t> waiters{};
    std::size_t live = 0; // waiters that may still bring something
    bool over = false;    // nothing more will be decided for it
    bool left = false;    // nothing more will start
    std::vector<unit> waiting{};
    std::vector<int> slots{}; // arrival of what waits, in its group
    int running = 0;
    bool tick_again = false; // a tick came while the handler ran

    bool persists() const { return what->persist || what->what == kind::every; }
    /// A one-time root that has fired, and not merely ended.
    bool decided() const { return over && !persists() && fired; }
    bool fired = false;
  };

  struct arbiter_state {
    const spec* what = nullptr;
    std::size_t queue = none;
    std::vector<std::size_t> roots{};
    // Of an interleave.
    bool open = true;
    std::size_t tearing = none; // root of the teardown
    int in_a_row = 0;
    std::vector<int> batch{}; // slots
    bool batch_ran = false;   // and no exclusive since
    bool exclusive_running = false;
    int concurrent_running = 0;
  };

  /// Messages of one port on their way back.
  struct gift {
    std::size_t port;
    messages back;
  };

  // Activating: model_arming.cpp.
  void add_waiters(const spec& s, std::size_t root, int depth);
  void arm(std::size_t root);
  void look(std::size_t w);
  void look_receive(std::size_t w);
  void look_join(std::size_t w);
  void look_gather(std::size_t w);

  // Asking: model.cpp.
  bool wants(std::size_t w, const message& m);
  bool would_take(std::size_t w, const message& m) const;
  bool take_if_wanted(std::size_t w, const message& m);
  bool offer(const message& m);
  void note_order(std::size_t taker, std::size_t other);
  std::vector<std::size_t> in_order(std::size_t port) const;
  static std::size_t need(const waiter& w, std::size_t port);
  bool enough(const waiter& w, std::size_t extra_port) const;
  bool hopeless(const waiter& w) const;
  messages take_set(const waiter& w);
  void keep(std::size_t w, const message& m);

  // Deciding and leaving: model_ends.cpp.
  bool open(const root_state& r) const;
  void decide(std::size_t w, messages with);
  void lose_branch(std::size_t w);
  void unregister(root_state& r);
  template <class T>
  T draw(std::vector<T>& from); // a free choice
  void put_all_back();
  void settle();
  void check_short(std::size_t port);
  void give_back(const messages& all);
  void put_back(const gift& g);
  static void insert(messages& into, const message& m);
  void leave(std::size_t arbiter);
  void leave_root(std::size_t root);
  void discard(root_state& r);
  bool holds(const arbiter_state& a) const;
  void lose(const messages& all);

  // Running: model_running.cpp.
  bool may_start(const root_state& r) const;
  std::size_t next_of(const arbiter_state& a) const;
  std::size_t first_in(const arbiter_state& a, group in,
                       const std::vector<int>* only) const;
  void note_turn(const arbiter_state& a, const root_state& r);
  void note_waits(const arbiter_state& a);
  void begin(arbiter_state& a, root_state& r);
  void note_time(const root_state& r, const waiter& winner);
  void fire(std::size_t w);
  void end_interleave(arbiter_state& a);
  bool all_over(const arbiter_state& a) const;

  void mark(rule r) { marks_.set(static_cast<std::size_t>(r)); }
  root_state& root_of(std::size_t w) { return roots_[waiters_[w].root]; }
  arbiter_state& arbiter_of(const root_state& r) {
    return arbiters_[r.arbiter];
  }
  const arbiter_state& arbiter_of(const root_state& r) const {
    return arbiters_[r.arbiter];
  }

  const program& program_;
  chooser& free_;
  bites& marks_;
  effects effects_{};

  std::array<port_state, port_count> ports_{};
  std::array<queue_state, queue_count> queues_{};
  std::vector<arbiter_state> arbiters_;
  std::vector<root_state> roots_{};
  std::vector<waiter> waiters_{};
  std::vector<std::size_t> decided_{}; // roots whose losers have not left yet
  std::vector<gift> gifts_{};
  struct run {
    std::size_t root;
    handler_id who;
  };
  std::vector<run> running_{}; // innermost last
  int now_ = 0;
  int last_message_ = 0;
  int last_place_ = 0;
  int last_slot_ = 0;
  int last_armed_ = 0;
};

} // namespace wharf::laws

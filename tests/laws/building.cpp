// See building.hpp. Handlers and predicates are made here too: they tell the
// trace what becomes of them.

#include "building.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace wharf::laws {
namespace {

/// Counts the handler objects of a run.
class token {
public:
  explicit token(trace& log) noexcept : log_{&log} { ++log_->handlers_left; }
  token(const token& other) noexcept : token{*other.log_} {}
  token& operator=(const token&) = delete;
  ~token() { --log_->handlers_left; }

private:
  trace* log_;
};

class handler {
public:
  handler(world& w, handler_id who, const spec& s) noexcept
      : world_{w}, who_{who}, spec_{s}, alive_{w.log()} {}

  template <class... Messages>
  void operator()(Messages... with) {
    std::vector<int> ids;
    int which = 0;
    (collect(ids, which, with), ...);
    world_.handle(who_, spec_, which, std::move(ids));
  }

private:
  template <colour C>
  static void collect(std::vector<int>& ids, int&, item<C>& each) {
    ids.push_back(each.spend());
  }
  template <class Item>
  static void collect(std::vector<int>& ids, int& which,
                      std::vector<Item>& list) {
    for (Item& each : list) {
      collect(ids, which, each);
    }
  }
  static void collect(std::vector<int>&, int& which, std::size_t index) {
    which = static_cast<int>(index);
  }

  world& world_;
  handler_id who_;
  const spec& spec_;
  token alive_;
};

class predicate {
public:
  predicate(world& w, handler_id who, filter f) noexcept
      : world_{w}, who_{who}, filter_{f} {}

  template <colour C>
  bool operator()(const item<C>& message) const {
    world_.log().events.push_back(
        {.what = event::type::asked, .who = who_, .number = message.id()});
    const verdict v = judge(filter_, message.value);
    if (v == verdict::fails) {
      throw failure{failure_of_predicate(who_)};
    }
    return v == verdict::yes;
  }

private:
  world& world_;
  handler_id who_;
  filter filter_;
};

/// A member of a group whose type is forgotten, since a group's size and kinds
/// are known at run time only.
class any_member : public detail::builder {
public:
  static constexpr bool for_groups = true;

  template <class Builder>
  explicit any_member(std::in_place_t, Builder b) {
    auto kept = std::make_shared<Builder>(std::move(b));
    make_ = [kept](detail::queue_core& queue) {
      return detail::make_member(queue, std::move(*kept));
    };
  }
  std::unique_ptr<detail::interleave_member>
  make_member(detail::queue_core& queue) && {
    return make_(queue);
  }

private:
  std::function<std::unique_ptr<detail::interleave_member>(detail::queue_core&)>
      make_;
};

/// Makes the parts of one arbiter, in the order of its text.
class maker {
public:
  maker(world& w, std::size_t number) : world_{w}, number_{number} {}

  /// Calls use(description), whose type depends on the text.
  template <class Use>
  void persistent(const spec& s, Use use);
  template <class Use>
  void one_time(const spec& s, Use use);
  template <class Use>
  void periodic(const spec& s, Use use) {
    use(every(std::chrono::milliseconds{s.number}, next_handler(s)));
  }
  activation interleaved(const spec& s, dispatcher_queue& queue);

private:
  handler next_handler(const spec& s) {
    return handler{world_, {number_, leaf_++}, s};
  }
  predicate predicate_of(const spec& s) const { // of the latest handler
    return predicate{world_, {number_, leaf_ - 1}, s.when};
  }
  std::vector<port<red>> range(const spec& s) {
    std::vector<port<red>> ports;
    ports.reserve(s.ports.size());
    for (std::size_t each : s.ports) {
      ports.push_back(world_.red_port(each));
    }
    return ports;
  }

  template <class Use, class... Persist>
  void with_receive(const spec& s, Use use, Persist... persistently);
  template <class Use, class... Persist>
  void with_join(const spec& s, Use use, Persist... persistently);
  template <class Use>
  void with_gather(const spec& s, Use use);
  template <class Use>
  void with_choice(const spec& s, Use use);
  void add_branch(const spec& s, std::vector<branch>& to);
  std::vector<any_member> members(const spec& s, group in);

  world& world_;
  std::size_t number_;
  std::size_t leaf_ = 0;
};

/// Hands on a persistent description, one at a time if the text says so.
template <class Use>
void with_serial(const spec& s, auto plain, Use use) {
  if constexpr (requires { std::move(plain).one_at_a_time(); }) {
    if (s.serial) {
      use(std::move(plain).one_at_a_time());
      return;
    }
  }
  use(std::move(plain));
}

template <class Use, class... Persist>
void maker::with_receive(const spec& s, Use use, Persist... persistently) {
  world_.with_port(s.ports[0], [&](auto& from) {
    auto plain =
        receive(persistently..., from, next_handler(s)).priority(s.priority);
    if (s.when == filter::everything) {
      with_serial(s, std::move(plain), use);
    } else {
      with_serial(s, std::move(plain).when(predicate_of(s)), use);
    }
  });
}

template <class Use, class... Persist>
void maker::with_join(const spec& s, Use use, Persist... persistently) {
  const auto finish = [&](auto plain) {
    with_serial(s, std::move(plain).priority(s.priority), use);
  };
  if (s.range) {
    finish(join(persistently..., range(s), next_handler(s)));
    return;
  }
  world_.with_port(s.ports[0], [&](auto& a) {
    if (s.ports.size() == 1) {
      finish(join(persistently..., a, s.number, next_handler(s)));
      return;
    }
    world_.with_port(s.ports[1], [&](auto& b) {
      if (s.ports.size() == 2) {
        finish(join(persistently..., a, b, next_handler(s)));
      } else {
        finish(join(persistently..., a, b, world_.red_port(s.ports[2]),
                    next_handler(s)));
      }
    });
  });
}

template <class Use>
void maker::with_gather(const spec& s, Use use) {
  if (s.ports.size() == 1) {
    world_.with_port(s.ports[0], [&](auto& from) {
      use(gather(from, s.number, next_handler(s)).priority(s.priority));
    });
    return;
  }
  const port_set<red, blue> set{world_.red_port(s.ports[0]),
                                world_.blue_port(s.ports[1])};
  use(gather(set, s.number, next_handler(s)).priority(s.priority));
}

void maker::add_branch(const spec& s, std::vector<branch>& to) {
  one_time(s,
           [&](auto description) { to.emplace_back(std::move(description)); });
}

template <class Use>
void maker::with_choice(const spec& s, Use use) {
  if (s.range) {
    use(choice(range(s), next_handler(s)));
    return;
  }
  std::vector<branch> branches;
  for (const spec& part : s.parts) {
    add_branch(part, branches);
  }
  if (branches.size() != 2) {
    use(choice(std::move(branches)));
    return;
  }
  // The other form, whose branches' types are known.
  const auto one = [&](std::size_t i) {
    std::vector<branch> alone;
    alone.push_back(std::move(branches[i]));
    return choice(std::move(alone));
  };
  use(choice(one(0), one(1)));
}

template <class Use>
void maker::one_time(const spec& s, Use use) {
  switch (s.what) {
  case kind::receive:
    with_receive(s, use);
    break;
  case kind::join:
    with_join(s, use);
    break;
  case kind::gather:
    with_gather(s, use);
    break;
  case kind::after:
    // A group takes no timers.
    if constexpr (std::is_invocable_v<Use, one_time_after<handler>>) {
      use(after(std::chrono::milliseconds{s.number}, next_handler(s)));
    }
    break;
  case kind::choice:
    with_choice(s, use);
    break;
  case kind::every:
  case kind::interleave:
    break;
  }
}

template <class Use>
void maker::persistent(const spec& s, Use use) {
  switch (s.what) {
  case kind::receive:
    with_receive(s, use, persist);
    break;
  case kind::join:
    with_join(s, use, persist);
    break;
  default:
    break;
  }
}

std::vector<any_member> maker::members(const spec& s, group in) {
  std::vector<any_member> all;
  const auto add = [&](detail::member_builder auto description) {
    all.emplace_back(std::in_place, std::move(description));
  };
  for (const spec& part : s.parts) {
    if (part.in == in) {
      part.persist ? persistent(part, add) : one_time(part, add);
    }
  }
  return all;
}

/// Calls use(a, b, ...) with up to two members.
template <class Member, class Use>
auto with_each(std::vector<Member> all, Use use) {
  switch (all.size()) {
  case 0:
    return use();
  case 1:
    return use(std::move(all[0]));
  default:
    return use(std::move(all[0]), std::move(all[1]));
  }
}

activation maker::interleaved(const spec& s, dispatcher_queue& queue) {
  // In the order of the text, in which handlers are numbered.
  std::vector<choice_of_list> ends;
  for (const spec& part : s.parts) {
    if (part.in == group::teardown) {
      std::vector<branch> alone;
      add_branch(part, alone);
      ends.push_back(choice(std::move(alone)));
    }
  }
  std::vector<any_member> writers = members(s, group::exclusive);
  std::vector<any_member> readers = members(s, group::concurrent);
  const auto rule = fairness::bounded(static_cast<std::uint32_t>(s.number));
  const auto start = [&](auto description) {
    return activate(queue, std::move(description).fairness(rule));
  };
  return with_each(std::move(ends), [&](auto... t) {
    return with_each(std::move(writers), [&](auto... e) {
      return with_each(std::move(readers), [&](auto... c) {
        auto last = teardown(std::move(t)...);
        return start(interleave(
            s.then_close ? std::move(last).then_close() : std::move(last),
            exclusive(std::move(e)...), concurrent(std::move(c)...)));
      });
    });
  });
}

} // namespace

activation activate_spec(world& w, dispatcher_queue& queue, const spec& s,
                         std::size_t number) {
  activation made;
  maker parts{w, number};
  const auto use = [&](auto description) {
    made = activate(queue, std::move(description));
  };
  if (s.what == kind::interleave) {
    made = parts.interleaved(s, queue);
  } else if (s.what == kind::every) {
    parts.periodic(s, use);
  } else if (s.persist) {
    parts.persistent(s, use);
  } else {
    parts.one_time(s, use);
  }
  return made;
}

} // namespace wharf::laws

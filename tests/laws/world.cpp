// How each action of a program is done, and what is seen after it.

#include "world.hpp"

#include "building.hpp"

#include <functional>

namespace wharf::laws {
namespace {

// Handlers that run others that run others prove nothing more, and a program
// that posts in a circle would never end.
constexpr int depth_max = 3;

constexpr int skipped = -2; // an answer: there was nothing to do it with

/// Makes a port that lies above `last` in memory: Wharf takes ports in the
/// order of their addresses, and a replay has to do as the first run did.
template <class T>
const detail::port_core* make_above(const detail::port_core* last,
                                    std::unique_ptr<port<T>>& made) {
  std::vector<port<T>> others;
  for (;;) {
    made = std::make_unique<port<T>>();
    const detail::port_core* core = &detail_port_access::core(*made);
    if (last == nullptr || std::less<>{}(last, core)) {
      return core;
    }
    others.push_back(*made);
  }
}

} // namespace

world::world(const program& p, trace& log)
    : program_{p}, log_{log}, activations_(p.arbiters.size()) {
  const detail::port_core* last = nullptr;
  for (auto& each : reds_) {
    last = make_above(last, each);
  }
  for (auto& each : blues_) {
    last = make_above(last, each);
  }
  for (auto& each : queues_) {
    each = std::make_unique<dispatcher_queue>(pool_);
  }
  queues_[0]->on_failure(queue_failures_);
  pool_.pool().on_failure(pool_failures_);
}

bool world::has_handle(std::size_t port) const {
  return port < first_blue ? reds_[port] != nullptr
                           : blues_[port - first_blue] != nullptr;
}

bool world::can_activate(const spec& s) const {
  for (std::size_t port : s.ports) {
    if (!has_handle(port)) {
      return false;
    }
  }
  for (const spec& part : s.parts) {
    if (!can_activate(part)) {
      return false;
    }
  }
  return true;
}

int world::activate_arbiter(std::size_t number, std::size_t queue) {
  const spec& s = program_.arbiters[number];
  if (activations_[number] != nullptr || !can_activate(s)) {
    return skipped;
  }
  activations_[number] = std::make_unique<activation>(
      activate_spec(*this, *queues_[queue], s, number));
  return 0;
}

int world::answer_to(const action& a) {
  const auto on_port = [&](auto&& f) {
    return has_handle(a.on) ? with_port(a.on, f) : skipped;
  };
  switch (a.what) {
  case does::post:
    return on_port([&]<colour C>(const port<item<C>>& p) {
      item<C> message{++last_id_, a.value, log_};
      const bool accepted = p.post(std::move(message));
      // Refused, it has its value back: else it is lost, and says so.
      message.spend(); // NOLINT(bugprone-use-after-move)
      return static_cast<int>(accepted);
    });
  case does::take:
    return on_port([](const auto& p) {
      auto taken = p.try_take();
      return taken ? taken->spend() : 0;
    });
  case does::clear:
    return on_port([](const auto& p) { return static_cast<int>(p.clear()); });
  case does::close:
    return on_port([](const auto& p) { return p.close(), 0; });
  case does::drop:
    if (!has_handle(a.on)) {
      return skipped;
    }
    a.on < first_blue ? reds_[a.on].reset() : blues_[a.on - first_blue].reset();
    return 0;
  case does::activate:
    return activate_arbiter(a.on, static_cast<std::size_t>(a.value));
  case does::cancel:
    return a.on < activations_.size() && activations_[a.on] != nullptr
               ? activations_[a.on]->cancel()
               : skipped;
  case does::run:
    return depth_ < depth_max ? pool_.run_one() : skipped;
  case does::advance:
    return pool_.advance(std::chrono::milliseconds{a.value}), 0;
  case does::suspend:
    return queues_[a.on]->suspend(), 0;
  case does::resume:
    return queues_[a.on]->resume(), 0;
  case does::finish:
    return queues_[a.on]->close(), 0;
  case does::fail:
    break;
  }
  return skipped;
}

void world::do_step(std::size_t number) {
  step_ = static_cast<int>(number);
  act(program_.steps[number]);
}

void world::act(const action& a) {
  const bool many = a.what == does::run;
  for (int left = many ? a.value : 1; left > 0; --left) {
    log_.events.push_back(
        {.what = event::type::does, .did = a, .number = step_});
    const int answer = answer_to(a);
    log_.events.push_back({.what = event::type::answer, .number = answer});
    look();
    if (many && answer != 1) {
      break;
    }
  }
}

void world::handle(handler_id who, const spec& s, int which,
                   std::vector<int> with) {
  log_.events.push_back({.what = event::type::starts,
                         .who = who,
                         .number = which,
                         .messages = std::move(with)});
  ++depth_;
  bool fails = false;
  for (const action& each : s.script) {
    fails = fails || each.what == does::fail;
    if (!fails) {
      act(each);
    }
  }
  --depth_;
  log_.events.push_back(
      {.what = event::type::ends, .who = who, .number = fails ? 1 : 0});
  if (fails) {
    throw failure{failure_of_handler(who)};
  }
}

std::vector<int> world::new_failures(const port<std::exception_ptr>& from) {
  std::vector<int> codes;
  for (const std::exception_ptr& each : from.try_take_all()) {
    try {
      std::rethrow_exception(each);
    } catch (const failure& f) {
      codes.push_back(f.code);
    }
  }
  return codes;
}

void world::look() {
  view seen;
  for (std::size_t i = 0; i < port_count; ++i) {
    seen.sizes[i] =
        has_handle(i)
            ? with_port(
                  i, [](const auto& p) { return static_cast<int>(p.size()); })
            : view::unseen;
  }
  for (const auto& each : activations_) {
    seen.active.push_back(each != nullptr ? each->active() : view::unseen);
  }
  for (std::size_t i = 0; i < queue_count; ++i) {
    seen.discarded[i] = static_cast<int>(queues_[i]->discarded());
  }
  seen.failures = {new_failures(queue_failures_), new_failures(pool_failures_)};
  log_.events.push_back({.what = event::type::looks, .seen = std::move(seen)});
}

} // namespace wharf::laws

// See generator.hpp. Each program uses few ports, has a theme, and a mix of its
// own of arbiters and steps: what is rare over all programs is common in some.

#include "generator.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace wharf::laws {
namespace {

/// splitmix64: its streams of neighbouring seeds have nothing in common.
class dice {
public:
  explicit dice(std::uint64_t seed) : state_{seed * 0x9e3779b97f4a7c15U} {}

  std::size_t below(std::size_t sides) {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return static_cast<std::size_t>((z ^ (z >> 31)) >> 16) % sides;
  }
  bool percent(std::size_t chance) { return below(100) < chance; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return *std::next(values.begin(),
                      static_cast<std::ptrdiff_t>(below(values.size())));
  }
  /// An index, by weight.
  template <class Weights>
  std::size_t by_weight(const Weights& weights) {
    std::size_t sum = 0;
    for (std::size_t each : weights) {
      sum += each;
    }
    std::size_t left = below(sum);
    std::size_t index = 0;
    while (left >= weights[index]) {
      left -= weights[index++];
    }
    return index;
  }

private:
  std::uint64_t state_;
};

enum class theme : std::uint8_t { mixed, groups, joins, times };

class writer {
public:
  explicit writer(std::uint64_t seed) : dice_{seed} { made_.seed = seed; }
  program write();

private:
  // Weights of the kinds, in the order of the enumeration.
  using kinds = std::array<std::size_t, 7>;

  std::size_t any_port() { return ports_[dice_.below(ports_.size())]; }
  std::size_t port_of(bool blue);
  int any_value() { return static_cast<int>(dice_.below(6)); }
  int any_priority() {
    return theme_ == theme::joins ? dice_.one_of({0, 0, 0, 0, 1})
                                  : dice_.one_of({-1, 0, 0, 0, 1, 1});
  }

  void choose_theme();
  void choose_mix();
  void choose_ports();
  std::vector<action> script();
  void receive_of(spec& s);
  void join_of(spec& s);
  void gather_of(spec& s);
  void choice_of(spec& s, int depth);
  void interleave_of(spec& s);
  void provoke(spec& interleave);
  spec arbiter(kinds weights, int depth, bool may_persist);
  void add_activation();
  void add_step();

  dice dice_;
  program made_;
  theme theme_ = theme::mixed;
  std::vector<std::size_t> ports_;
  kinds mix_{};
  std::size_t script_chance_ = 0;
  std::array<std::size_t, 6> actions_{}; // of handlers
  std::array<std::size_t, 12> steps_{};
};

void writer::choose_ports() {
  const std::size_t count = 1 + dice_.below(4);
  std::vector<std::size_t> all(port_count);
  for (std::size_t i = 0; i < port_count; ++i) {
    all[i] = i;
  }
  while (ports_.size() < count) {
    const auto at = static_cast<std::ptrdiff_t>(dice_.below(all.size()));
    ports_.push_back(all[static_cast<std::size_t>(at)]);
    all.erase(all.begin() + at);
  }
}

void writer::choose_mix() {
  for (std::size_t& each : mix_) {
    each = dice_.one_of<std::size_t>({0, 1, 2, 6});
  }
  mix_[0] += 1; // so that the sum is not 0
  script_chance_ = dice_.one_of<std::size_t>({0, 30, 60});
  actions_ = {6, 6, 2, 1, 1, 2};
  const auto rarely = [&](std::size_t weight) {
    return dice_.percent(40) ? weight : 0;
  };
  steps_ = {20, // post
            dice_.one_of<std::size_t>({1, 4}),
            rarely(2), // clear
            rarely(2), // close
            rarely(2), // drop
            dice_.one_of<std::size_t>({4, 8}),
            dice_.one_of<std::size_t>({1, 4}),
            dice_.one_of<std::size_t>({2, 8, 20}),
            dice_.one_of<std::size_t>({1, 6}),
            rarely(2), // suspend
            2,         // resume
            rarely(1)};
}

/// What needs several things at once to bite gets programs of its own.
void writer::choose_theme() {
  theme_ =
      dice_.one_of({theme::mixed, theme::mixed, theme::mixed, theme::groups,
                    theme::groups, theme::groups, theme::joins, theme::times});
  switch (theme_) {
  case theme::mixed:
    break;
  case theme::groups:
    mix_ = {1, 0, 0, 0, 0, 0, 12};
    script_chance_ = 30;
    actions_ = {8, 8, 1, 0, 0, 1};
    steps_ = {24, 1, 0, 0, 0, 1, 1, 14, 1, 1, 2, 0};
    break;
  case theme::joins:
    mix_ = {1, 8, 1, 0, 0, 2, 0};
    break;
  case theme::times:
    mix_ = {1, 0, 0, 2, 4, 8, 0};
    script_chance_ = 60;
    actions_ = {2, 8, 1, 0, 8, 1};
    steps_ = {8, 1, 0, 0, 0, 6, 1, 12, 16, 1, 2, 0};
    break;
  }
}

std::size_t writer::port_of(bool blue) {
  for (int tries = 0; tries < 8; ++tries) {
    const std::size_t port = any_port();
    if ((port >= first_blue) == blue) {
      return port;
    }
  }
  return blue ? first_blue : 0;
}

std::vector<action> writer::script() {
  std::vector<action> actions;
  if (!dice_.percent(script_chance_)) {
    return actions;
  }
  for (std::size_t left = 1 + dice_.below(3); left != 0; --left) {
    switch (dice_.by_weight(actions_)) {
    case 0:
      actions.push_back({does::post, any_port(), any_value()});
      break;
    case 1:
      actions.push_back({does::run, 0, 1 + static_cast<int>(dice_.below(3))});
      break;
    case 2:
      actions.push_back({does::cancel, dice_.below(6), 0});
      break;
    case 3:
      actions.push_back({does::close, any_port(), 0});
      break;
    case 4:
      actions.push_back({does::advance, 0, dice_.one_of({1, 2, 5})});
      break;
    default:
      actions.push_back({does::fail, 0, 0});
      return actions;
    }
  }
  return actions;
}

void writer::receive_of(spec& s) {
  s.ports = {any_port()};
  s.priority = any_priority();
  if (dice_.percent(35)) {
    s.when = dice_.one_of({filter::even, filter::even, filter::small,
                           filter::fragile, filter::nothing});
  }
}

void writer::join_of(spec& s) {
  s.priority = any_priority();
  const std::size_t parts = 1 + dice_.below(3);
  if (parts == 1) {
    s.ports = {any_port()};
    s.number = 1 + static_cast<int>(dice_.below(3));
    return;
  }
  s.range = dice_.percent(40);
  for (std::size_t i = 0; i < parts; ++i) {
    // The third one of three is always red, to have fewer types.
    s.ports.push_back(s.range || i == 2 ? port_of(false) : any_port());
  }
}

void writer::gather_of(spec& s) {
  s.priority = any_priority();
  s.number = static_cast<int>(dice_.below(9) + 1) / 2; // 0 is rare
  s.ports = dice_.percent(50)
                ? std::vector<std::size_t>{any_port()}
                : std::vector<std::size_t>{port_of(false), port_of(true)};
}

void writer::choice_of(spec& s, int depth) {
  s.range = dice_.percent(25);
  if (s.range) {
    for (std::size_t left = 1 + dice_.below(3); left != 0; --left) {
      s.ports.push_back(port_of(false));
    }
    s.script = script();
    return;
  }
  kinds weights{4, 3, 3, 2, 0, 3, 0};
  if (theme_ == theme::times) {
    weights = {2, 0, 1, 8, 0, 2, 0};
  }
  if (depth >= 4) {
    weights[static_cast<std::size_t>(kind::choice)] = 0;
  }
  for (std::size_t left = 1 + dice_.below(3); left != 0; --left) {
    s.parts.push_back(arbiter(weights, depth + 1, false));
  }
}

void writer::interleave_of(spec& s) {
  s.number = theme_ == theme::groups ? dice_.one_of({1, 1, 1, 2})
                                     : dice_.one_of({1, 2, 3, 16});
  s.then_close = dice_.percent(40);
  for (group in : {group::teardown, group::exclusive, group::concurrent}) {
    const std::size_t members =
        in == group::teardown ? dice_.one_of<std::size_t>({0, 0, 1, 1, 1, 2})
                              : dice_.one_of<std::size_t>({0, 1, 1, 2, 2, 2});
    for (std::size_t left = members; left != 0; --left) {
      spec member = arbiter({8, 2, 1, 0, 0, 2, 0}, 2, in != group::teardown);
      member.in = in;
      s.parts.push_back(std::move(member));
    }
  }
}

/// Lets handlers post to their own interleave and look what starts meanwhile.
void writer::provoke(spec& interleave) {
  std::vector<std::size_t> ports;
  for (const spec& part : interleave.parts) {
    if (!part.ports.empty()) {
      ports.push_back(part.ports.front());
    }
  }
  for (spec& part : interleave.parts) {
    if (part.in == group::teardown || part.parts.size() != 0 ||
        !dice_.percent(60)) {
      continue;
    }
    for (std::size_t left = dice_.below(4); left != 0 && !ports.empty();
         --left) {
      part.script.push_back(
          {does::post, ports[dice_.below(ports.size())], any_value()});
    }
    part.script.push_back({does::run, 0, 2});
  }
}

spec writer::arbiter(kinds weights, int depth, bool may_persist) {
  spec s;
  s.what = static_cast<kind>(dice_.by_weight(weights));
  switch (s.what) {
  case kind::receive:
    receive_of(s);
    break;
  case kind::join:
    join_of(s);
    break;
  case kind::gather:
    gather_of(s);
    break;
  case kind::after:
    s.number = dice_.one_of({0, 0, 1, 2, 5, 5, 10});
    break;
  case kind::every:
    s.number = dice_.one_of({1, 2, 5});
    break;
  case kind::choice:
    choice_of(s, depth);
    return s;
  case kind::interleave:
    interleave_of(s);
    if (theme_ == theme::groups || dice_.percent(50)) {
      provoke(s);
    }
    return s;
  }
  s.script = script();
  if (may_persist && (s.what == kind::receive || s.what == kind::join)) {
    s.persist = dice_.percent(60);
    s.serial = s.persist && dice_.percent(30);
    if (s.serial && dice_.percent(50)) { // looks whether it overlaps itself
      s.script.insert(
          s.script.begin(),
          {{does::post, s.ports.front(), any_value()}, {does::run, 0, 1}});
    }
  }
  return s;
}

void writer::add_activation() {
  const std::size_t number = made_.arbiters.size();
  made_.arbiters.push_back(arbiter(mix_, 1, true));
  made_.steps.push_back({does::activate, number, dice_.percent(20) ? 1 : 0});
}

void writer::add_step() {
  const auto what = static_cast<does>(dice_.by_weight(steps_));
  switch (what) {
  case does::post:
    made_.steps.push_back({what, any_port(), any_value()});
    break;
  case does::take:
  case does::clear:
  case does::close:
  case does::drop:
    made_.steps.push_back({what, any_port(), 0});
    break;
  case does::activate:
    add_activation();
    break;
  case does::cancel:
    made_.steps.push_back({what, dice_.below(made_.arbiters.size()), 0});
    break;
  case does::run:
    made_.steps.push_back(
        {what, 0, dice_.one_of({1, 1, 2, theme_ == theme::groups ? 3 : 8})});
    break;
  case does::advance:
    made_.steps.push_back({what, 0, dice_.one_of({1, 1, 2, 5, 11})});
    break;
  default:
    made_.steps.push_back({what, dice_.percent(20) ? 1U : 0U, 0});
    break;
  }
}

program writer::write() {
  choose_ports();
  choose_mix();
  choose_theme();
  if (dice_.percent(30)) {
    for (std::size_t left = dice_.below(6); left != 0; --left) {
      made_.steps.push_back({does::post, any_port(), any_value()});
    }
  }
  const std::size_t first = theme_ == theme::groups ? 1 : 4;
  for (std::size_t left = 1 + dice_.below(first); left != 0; --left) {
    add_activation();
  }
  for (std::size_t left = 8 + dice_.below(48); left != 0; --left) {
    add_step();
  }
  made_.steps.push_back({does::run, 0, 12});
  return std::move(made_);
}

} // namespace

program generate(std::uint64_t seed) {
  return writer{seed}.write();
}

} // namespace wharf::laws

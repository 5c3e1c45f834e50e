#pragma once

// What a random program is: steps, and the arbiters that they activate. It
// knows nothing of Wharf, so that the model can read it too.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace wharf::laws {

/// Ports a, b and c carry red messages, d and e blue ones: ranges need ports of
/// one type, gathers of sets need different ones.
inline constexpr std::size_t port_count = 5;
inline constexpr std::size_t first_blue = 3;
/// Failures of the first queue go to its own port, those of the second to the
/// dispatcher's.
inline constexpr std::size_t queue_count = 2;

/// What a receiver wants, by a message's value (0 to 5).
enum class filter : std::uint8_t { everything, even, small, nothing, fragile };
/// `fragile` wants all but throws at 0.
enum class verdict : std::uint8_t { no, yes, fails };
verdict judge(filter f, int value);

enum class does : std::uint8_t {
  post,     // `value` to port `on`
  take,     // try_take of port `on`
  clear,    // port `on`
  close,    // port `on`
  drop,     // the last handle of port `on`
  activate, // arbiter `on`, on queue `value`
  cancel,   // arbiter `on`
  run,      // up to `value` handlers, until nothing is ready
  advance,  // the clock by `value` ms
  suspend,  // queue `on`
  resume,   // queue `on`
  finish,   // closes queue `on`
  fail,     // of handlers: throws
};

struct action {
  does what = does::run;
  std::size_t on = 0;
  int value = 0;
};

enum class kind : std::uint8_t {
  receive,
  join,
  gather,
  after,
  every,
  choice,
  interleave,
};
enum class group : std::uint8_t { none, teardown, exclusive, concurrent };

/// An arbiter, or a part of one.
struct spec {
  kind what = kind::receive;
  std::vector<std::size_t> ports{};
  int number = 1;       // of messages, of ms, or of exclusives in a row
  bool range = false;   // join and choice: over a range of ports
  bool persist = false; // receive and join
  bool serial = false;  // one_at_a_time
  filter when = filter::everything;
  int priority = 0;
  group in = group::none;       // of a member of an interleave
  bool then_close = false;      // of an interleave
  std::vector<action> script{}; // what its handler does
  std::vector<spec> parts{};    // branches or members
};

/// Whether it has a handler of its own: a choice over a range has one, other
/// choices and interleaves leave that to their parts.
inline bool has_handler(const spec& s) {
  return s.what != kind::interleave && (s.what != kind::choice || s.range);
}

struct program {
  std::uint64_t seed = 0;
  std::vector<spec> arbiters{};
  std::vector<action> steps{};
};

/// What to_text calls it; arbiters are #0, #1, ...
char port_name(std::size_t port);
std::string to_text(const action& a, const program& p);
std::string to_text(const spec& s);
std::string to_text(const program& p);

} // namespace wharf::laws

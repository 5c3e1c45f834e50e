#pragma once

// What a run of a program shows, event by event: what the model has to explain.

#include "program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wharf::laws {

/// Names one handler: the arbiter, and the number of the handler among those
/// of the arbiter, in the order of the text.
struct handler_id {
  std::size_t arbiter = 0;
  std::size_t leaf = 0;
  friend bool operator==(const handler_id&, const handler_id&) = default;
};

/// A failure is known by what failed.
inline int failure_of_handler(handler_id h) {
  return static_cast<int>(h.arbiter * 100 + h.leaf);
}
inline int failure_of_predicate(handler_id h) {
  return 10'000 + failure_of_handler(h);
}

/// What is seen from outside between two actions.
struct view {
  static constexpr int unseen = -1;
  std::array<int, port_count> sizes{};
  std::vector<int> active{}; // one for each arbiter of the program: 0 or 1
  std::array<int, queue_count> discarded{};
  std::array<std::vector<int>, queue_count> failures{}; // new ones
};

struct event {
  enum class type : std::uint8_t {
    does,   // an action begins; of which step of the program
    asked,  // a predicate: who, about which message
    starts, // a handler: who, which port of a range, with which messages
    ends,   // a handler; 1: it throws
    lost,   // a message is destroyed unhandled
    answer, // what the action returned
    looks,  // the action is over; what is seen now
  };
  type what = type::does;
  action did{};
  handler_id who{};
  int number = 0; // see above
  std::vector<int> messages{};
  view seen{};
};

struct trace {
  std::vector<event> events{};
  int handlers_left = 0; // handler objects that were never destroyed
};

} // namespace wharf::laws

#pragma once

// The live objects of one run: ports, queues, activations, and the messages
// and handlers that report what happens to them.

#include "program.hpp"
#include "trace.hpp"

#include "support/test_dispatcher.hpp"

#include <wharf/wharf.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace wharf::laws {

enum class colour : std::uint8_t { red, blue };

/// A move-only message that tells the trace if it dies before it was handled.
template <colour>
class item {
public:
  item(int id, int item_value, trace& log) noexcept
      : value{item_value}, id_{id}, log_{&log} {}
  item(item&& other) noexcept
      : value{other.value}, id_{std::exchange(other.id_, none)},
        log_{other.log_} {}
  item& operator=(item&&) = delete;
  ~item() {
    if (id_ != none) {
      log_->events.push_back({.what = event::type::lost, .number = id_});
    }
  }

  int id() const noexcept { return id_; }
  /// It has been handled, and may die.
  int spend() noexcept { return std::exchange(id_, none); }

  int value;

private:
  static constexpr int none = -1;
  int id_;
  trace* log_;
};
using red = item<colour::red>;
using blue = item<colour::blue>;

/// What the programs' handlers and predicates throw.
struct failure {
  int code;
};

class world {
public:
  world(const program& p, trace& log);
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  void do_step(std::size_t number);

  /// Called by handlers.
  void handle(handler_id who, const spec& s, int which, std::vector<int> with);
  trace& log() noexcept { return log_; }

  /// Calls f with the handle of a port. Requires: it was not dropped.
  template <class F>
  decltype(auto) with_port(std::size_t port, F&& f) {
    return port < first_blue ? f(*reds_[port]) : f(*blues_[port - first_blue]);
  }
  port<red>& red_port(std::size_t port) { return *reds_[port]; }
  port<blue>& blue_port(std::size_t port) { return *blues_[port - first_blue]; }

private:
  /// One step, or one action of a handler.
  void act(const action& a);
  bool has_handle(std::size_t port) const;
  int answer_to(const action& a);
  int activate_arbiter(std::size_t number, std::size_t queue);
  bool can_activate(const spec& s) const;
  void look();
  std::vector<int> new_failures(const port<std::exception_ptr>& from);

  const program& program_;
  trace& log_;
  int step_ = 0;
  int last_id_ = 0;
  int depth_ = 0; // handlers at work: a handler may run others meanwhile

  // Null: dropped.
  std::array<std::unique_ptr<port<red>>, first_blue> reds_;
  std::array<std::unique_ptr<port<blue>>, port_count - first_blue> blues_;
  port<std::exception_ptr> queue_failures_;
  port<std::exception_ptr> pool_failures_;
  test::test_dispatcher pool_;
  std::array<std::unique_ptr<dispatcher_queue>, queue_count> queues_;
  std::vector<std::unique_ptr<activation>> activations_; // null: not yet
};

} // namespace wharf::laws

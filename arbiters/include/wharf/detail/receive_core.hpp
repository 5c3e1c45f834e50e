#pragma once

// Receivers without their types: the one-time branch and the persistent one.

#include <wharf/detail/one_time.hpp>
#include <wharf/detail/port_core.hpp>
#include <wharf/detail/pump.hpp>
#include <wharf/detail/receiver.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wharf::inline v1::detail {

/// What a description of a receiver says beside its port and its functions.
struct receive_options {
  std::int32_t priority = 0;
  bool serial = false;         // one_at_a_time
  bool with_causality = false; // an awaited one brings its message's
};

/// Whether a message is wanted. Run under the port's lock.
class message_filter {
public:
  /// Asks the predicate, if there is one. A predicate that throws has said
  /// no; the failure is reported after the lock, as one of `owner`.
  bool wants(decision& d, arbiter& owner, port_core& port,
             const message_node* node) noexcept {
    return !picky_ || ask(d, owner, port, node);
  }
  bool picky() const noexcept { return picky_; }

protected:
  explicit message_filter(bool picky) noexcept : picky_{picky} {}
  ~message_filter() = default;

private:
  virtual bool accepts(const message_node* node) = 0;
  bool ask(decision& d, arbiter& owner, port_core& port,
           const message_node* node) noexcept;

  const bool picky_;
};

/// Takes the first message that it wants, if its root is still undecided.
class receive_branch : public branch, public receiver, public message_filter {
public:
  receive_branch(port_ref port, const receive_options& how, bool picky) noexcept
      : receiver{how.priority, {.asks = picky}}, message_filter{picky},
        with_causality_{how.with_causality}, port_{std::move(port)} {}

  void arm(decision& d) final;
  void disarm(decision& d) noexcept final;
  void give_back_taken(decision& d) noexcept final;
  void destroy_taken() noexcept final;
  void name_ports(std::vector<port_ref>& ports) const final {
    ports.emplace_back(*port_);
  }
  context_ref under() noexcept final { return std::move(taken_->under); }
  offer_result offer(decision& d, offered& m) noexcept final;
  void port_closed(decision& d) noexcept final;

protected:
  ~receive_branch() = default;
  /// Counts it out of its port, if it was counted.
  message_node* take_node() noexcept;
  /// The same for a coroutine, which runs on the calling thread.
  message_node* take_awaited() noexcept;

private:
  void took(message_node* node) noexcept;

  const bool with_causality_; // first: it fits behind message_filter's

  const port_ref port_;
  message_node* taken_ = nullptr; // the claimer's
};

/// A persistent receiver on its own: every message that it wants becomes a
/// run of its handler.
class receive_pump : private pump_inbox, // first: see LAYOUT in pump.hpp
                     public receiver,
                     public message_filter,
                     public pump {
public:
  void activate(bool linked);
  bool cancel() noexcept final;
  void settle(decision& d) noexcept final;
  offer_result offer(decision& d, offered& m) noexcept final;
  void port_closed(decision& d) noexcept final;
  std::size_t holding() const noexcept final { return pending_locked(); }

private:
  void leave_ports() noexcept final;
  std::span<port_core* const> reads() const noexcept final {
    return port_.self();
  }

protected:
  receive_pump(queue_core& queue, port_ref port, std::int32_t priority,
               bool picky, bool serial) noexcept
      : pump_inbox{port->mutex_, serial},
        receiver{priority, {.holds = true, .asks = picky}},
        message_filter{picky}, pump{queue, *this, 1}, port_{std::move(port)} {}

private:
  const port_ref port_;
};

} // namespace wharf::inline v1::detail

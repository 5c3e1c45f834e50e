#pragma once

// Gathers without their types: a number of messages of several ports, taken
// as they come.

#include <wharf/detail/one_time.hpp>
#include <wharf/detail/port_core.hpp>
#include <wharf/detail/receiver.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace wharf::inline v1::detail {

/// PROTOCOL
///
///   A message is first counted, by compare-exchange on got_, which never
///   exceeds wanted_, and then kept in the leaf of its port, under that port's
///   lock. Whoever counts the last one claims the root. The winner then takes
///   every port's lock once to leave it, so it waits for those who have
///   counted and not yet kept.
class gather_core : public branch {
public:
  gather_core(std::vector<port_ref> ports, std::size_t wanted,
              std::int32_t priority);

  void arm(decision& d) final;
  void disarm(decision& d) noexcept final;
  void won(decision& d) noexcept final;
  void give_back_taken(decision& d) noexcept final { give_back(d); }
  void destroy_taken() noexcept final;
  context_ref under() noexcept final;
  void name_ports(std::vector<port_ref>& ports) const final;

protected:
  ~gather_core() = default;

  /// What was gathered from one port, in order of arrival. Counts it out of
  /// the port.
  message_list take_from(std::size_t port) noexcept;
  std::size_t wanted() const noexcept { return wanted_; }

private:
  struct leaf final : receiver {
    leaf(gather_core& gather, port_ref p, std::int32_t priority) noexcept
        : receiver{priority, {}}, owner{gather}, port{std::move(p)} {}
    offer_result offer(decision& d, offered& m) noexcept override;
    void port_closed(decision& d) noexcept override;

    gather_core& owner;
    const port_ref port;
    message_list kept; // guarded by the port's lock, then the winner's
  };

  /// Counts one message; true: the caller keeps it.
  bool count(bool& last) noexcept;
  void keep(decision& d, leaf& l, message_node* node, bool last) noexcept;
  void lost_port(decision& d) noexcept;
  void give_back(decision& d) noexcept;

  const std::size_t wanted_;
  std::vector<std::unique_ptr<leaf>> leaves_;
  atomic<std::size_t> got_{0};
  atomic<std::size_t> open_; // ports that may still bring something
};

} // namespace wharf::inline v1::detail

#pragma once

// A reply without its type: where the answer goes, and the message that says
// that there was none.

#include <wharf/detail/message.hpp>
#include <wharf/detail/port_core.hpp>

#include <exception>

namespace wharf::inline v1::detail {

/// Holds handles of two ports, of the answers and of std::exception_ptr. What
/// it posts when it dies unanswered is allocated when it is made, since a
/// destructor can't fail.
///
/// Thread safety: as a std::unique_ptr.
class reply_core {
public:
  /// Throws std::bad_alloc.
  reply_core(port_core& answers, port_core& errors);
  reply_core(reply_core&& other) noexcept;
  reply_core& operator=(reply_core&& other) noexcept;
  ~reply_core() { leave(); }

  bool answered() const noexcept { return node_ == nullptr; }
  /// Throws std::logic_error, which names the reply.
  void require_unanswered() const;
  port_core& answers() const noexcept { return *answers_; }

  /// The answer has been posted, or refused.
  void set_answered() noexcept;
  /// Answers with `error`. False: the port is closed. Throws
  /// std::invalid_argument for null; allocates nothing.
  bool fail(std::exception_ptr error);

private:
  void leave() noexcept;

  // Null once moved from.
  port_core* answers_;
  port_core* errors_;
  message<std::exception_ptr>* node_; // null once answered
};

} // namespace wharf::inline v1::detail

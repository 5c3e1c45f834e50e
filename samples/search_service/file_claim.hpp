#pragma once

// Owns the account that is kept of every file: whoever has a file in hand has
// the duty to say what became of it.

#include <wharf/port.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace search_service {

/// What became of a file.
enum class file_outcome {
  indexed,
  binary,    ///< skipped: no text
  too_large, ///< skipped
  special,   ///< skipped: a pipe, a device or the like
  failed,    ///< could not be read
  removed,   ///< is no longer there
  dropped    ///< given up, since the service stops
};

struct file_settled {
  file_outcome outcome = file_outcome::dropped;
  std::int64_t documents = 0; ///< by how many the index has more now
  std::int64_t words = 0;     ///< by how many it has more now
  std::uint64_t bytes = 0;    ///< of an indexed file
  bool unsteady = false;      ///< it changed while it was read
  std::string note = {};      ///< a sentence for the log, or nothing
};

/// A room at the scanner's table: its files are on their way. The last claim
/// that lets go of it gives the scanner the credit for one more slice, so a
/// scanner that is faster than the loaders waits for them.
struct slice_credit {};

class slice_ticket {
public:
  explicit slice_ticket(const wharf::port<slice_credit>& home) : home_{home} {}
  ~slice_ticket() { home_.post(slice_credit{}); }

  slice_ticket(const slice_ticket&) = delete;
  slice_ticket& operator=(const slice_ticket&) = delete;

private:
  wharf::port<slice_credit> home_;
};

/// The duty to settle one file, exactly once. Move-only: it travels with the
/// file from scanner to loader to shard, and dying unsettled it settles the
/// file as dropped. So no file is lost, wherever its message ends.
class file_claim {
public:
  file_claim(const wharf::port<file_settled>& account,
             std::shared_ptr<const slice_ticket> ticket)
      : account_{account}, ticket_{std::move(ticket)} {}
  ~file_claim() { settle({}); }

  file_claim(file_claim&& other) noexcept
      : account_{other.account_}, ticket_{std::move(other.ticket_)} {
    other.account_.reset();
  }
  file_claim& operator=(file_claim&&) = delete;

  /// Says what became of the file. Only the first time counts.
  void settle(file_settled outcome);

private:
  std::optional<wharf::port<file_settled>> account_; // empty once settled
  std::shared_ptr<const slice_ticket> ticket_;
};

} // namespace search_service

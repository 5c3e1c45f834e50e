#pragma once

// Owns what the program prints while it runs.

#include "status.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port.hpp>

#include <chrono>
#include <iosfwd>
#include <string>

namespace search_service {

/// A line to print.
struct console_line {
  enum class kind {
    plain,
    progress, ///< on a terminal it is overwritten by the next line
    summary   ///< the last word on progress; what comes late is left out
  };

  std::string text;
  kind what = kind::plain;
};

using console_port = wharf::port<console_line>;

/// Starts a console that writes to `out`, a line at a time.
///
/// Requires: `out` outlives the queue.
console_port create_console(wharf::dispatcher_queue& queue, std::ostream& out,
                            bool is_terminal);

/// Prints how indexing goes, every `interval`, and a summary when it is done.
void report_progress(wharf::dispatcher_queue& queue, status_port status,
                     console_port console, std::chrono::milliseconds interval);

/// "1,234 files with 56,789 words indexed, 5 skipped, 0 failed"
std::string in_words(const status_report& report);

} // namespace search_service

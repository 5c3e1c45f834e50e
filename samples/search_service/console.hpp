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
    progress, ///< the bar, which the next one replaces
    summary   ///< the last word on progress; what comes late is left out
  };

  std::string text;
  kind what = kind::plain;
};

using console_port = wharf::port<console_line>;

struct console_options {
  std::ostream* out = nullptr; ///< where lines go
  std::ostream* bar = nullptr; ///< somebody's terminal; null: there is none
};

/// Starts a console, which writes a line at a time. The bar is cleared before
/// anything else is written.
///
/// Requires: the streams outlive the queue, and `out` is there.
console_port create_console(wharf::dispatcher_queue& queue,
                            const console_options& options);

/// Shows how indexing goes, now and every `interval` until it is done.
void show_progress(wharf::dispatcher_queue& queue, status_port status,
                   console_port console, std::chrono::milliseconds interval);

/// Prints a summary when indexing is done.
void announce_end_of_indexing(wharf::dispatcher_queue& queue,
                              status_port status, console_port console);

/// "1,234 files with 56,789 words indexed, 5 skipped, 0 failed"
std::string in_words(const status_report& report);

/// "[###########---------] 123 of 234 files, 5.6 MB/s"
std::string progress_bar(const status_report& report, double bytes_per_second);

} // namespace search_service

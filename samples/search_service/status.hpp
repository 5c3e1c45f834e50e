#pragma once

// Owns the counts: how many files were found and what became of them.

#include "answers.hpp"
#include "file_claim.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace search_service {

/// The scanner has seen some more, or fewer than the last time. Files that are
/// neither links nor special nor skipped by name are claimed and settle one by
/// one.
struct files_found {
  std::int64_t found = 0;
  std::int64_t by_name = 0;
  std::int64_t special = 0;
  std::int64_t links = 0;
  std::int64_t failed_directories = 0;
  std::vector<std::string> notes = {}; ///< sentences for the log
};

/// The index had this before anything was scanned.
struct index_restored {
  std::uint64_t documents = 0;
  std::uint64_t words = 0;
};

/// The scanner has seen everything once more, or has stopped.
struct scan_ended {};

/// Asks how the service is doing.
struct ask_status {
  wharf::reply<status_report> reply;
};

/// Asks to be told when the scan has ended and every file is settled.
struct await_settled {
  wharf::port<status_report> reply;
};

/// The status component. An exception_ptr is a failure of some handler of the
/// program; queues and dispatchers send theirs here.
using status_port =
    wharf::port_set<index_restored, files_found, scan_ended, file_settled,
                    std::exception_ptr, ask_status, await_settled, stop>;

/// Adds to a report what can only be measured: queue depths, running loads.
using status_gauge = std::function<void(status_report&)>;

/// Starts the component. The first sentences about files that fail go to
/// `notes`; a directory full of them must not flood the log.
///
/// Counts are exclusive and in order of arrival across all ports, so a file is
/// never settled before it was found. Reports run beside each other.
status_port create_status(wharf::dispatcher_queue& queue, status_gauge gauge,
                          wharf::port<std::string> notes);

} // namespace search_service

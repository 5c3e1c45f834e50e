#include "watcher.hpp"

#include <wharf/after.hpp>
#include <wharf/ask.hpp>
#include <wharf/error.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <utility>

namespace search_service {

namespace {

// Returns whether the scanner is still there.
wharf::task<bool> go_round(const scanner_port& scanner,
                           const std::vector<std::filesystem::path>& roots) {
  try {
    co_await wharf::ask<scan>(scanner, roots);
  } catch (const wharf::port_closed&) {
    // It has stopped.
  } catch (const wharf::unanswered&) {
    // It stops, or the round has failed, which others have heard of; then the
    // next may do better.
  }
  co_return !scanner.get<scan>().closed();
}

wharf::task<void> rounds(scanner_port scanner,
                         std::vector<std::filesystem::path> roots,
                         std::optional<std::chrono::milliseconds> interval) {
  for (;;) {
    // Not in a loop's condition: g++ 12 makes nothing at all of such a loop.
    const bool scanner_is_there = co_await go_round(scanner, roots);
    if (!scanner_is_there || !interval) {
      co_return;
    }
    co_await wharf::sleep_for(*interval);
  }
}

} // namespace

wharf::activation watch(wharf::dispatcher_queue& queue, scanner_port scanner,
                        std::vector<std::filesystem::path> roots,
                        std::optional<std::chrono::milliseconds> interval) {
  return wharf::spawn(queue, rounds, std::move(scanner), std::move(roots),
                      interval);
}

} // namespace search_service

// The orderly end of a dispatcher, and what it has to tell.

#include "dispatcher_core.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace wharf::inline v1::detail {

shutdown_report dispatcher_core::shut_down(time_point deadline) {
  bool first = false;
  {
    const lock_guard lock{mutex_};
    first = !std::exchange(shutting_down_, true);
  }
  if (first) {
    shutdown_report report = shut_down_now(deadline);
    {
      const lock_guard lock{mutex_};
      report_ = report;
    }
    tell_waiting();
    return report;
  }
  const auto told = [this] {
    const lock_guard lock{mutex_};
    return report_;
  };
  await_end(deadline, [&] { return told().has_value(); });
  return told().value_or(shutdown_report{});
}

shutdown_report dispatcher_core::shut_down_now(time_point deadline) {
  const time_point begin = steady_clock::now();
  shutdown_report report;
  report.drained = drain(deadline);
  ending_.store(true); // see stop()
  std::vector<ended_queue> ended;
  close_all_queues(&ended);
  report.finished = await_end(deadline, [this] { return over(); });
  if (report.finished) {
    join_workers();
  }
  std::vector<port_core*> ports;
  for (const ended_queue& each : ended) {
    const queue_core& queue = *each.queue;
    shutdown_report::queue entry{queue.name()};
    entry.running = queue.coroutines() + (served(queue) ? 1 : 0);
    entry.discarded = queue.discarded();
    entry.cancelled = each.end.arbiters;
    entry.resumed = each.end.coroutines;
    if (entry.running + entry.discarded + entry.cancelled + entry.resumed !=
        0) {
      report.queues.push_back(std::move(entry));
    }
    for (const port_ref& port : each.end.waited_on.all()) {
      ports.push_back(port.get());
    }
  }
  std::sort(ports.begin(), ports.end(), std::less<>{});
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  for (const port_core* port : ports) {
    if (const std::size_t left = port->size(); left != 0) {
      report.ports.push_back({port->describe(), left});
    }
  }
  for (const ended_queue& each : ended) {
    each.queue->drop_ref();
  }
  report.took = steady_clock::now() - begin;
  return report;
}

} // namespace wharf::inline v1::detail

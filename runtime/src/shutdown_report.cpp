// See shutdown_report.hpp.

#include <wharf/shutdown_report.hpp>

namespace wharf::inline v1 {
namespace {

void add(std::string& text, std::uint64_t count, const char* what) {
  if (count != 0) {
    text += ' ' + std::to_string(count) + ' ' + what + ',';
  }
}

} // namespace

bool shutdown_report::clean() const noexcept {
  bool nothing = finished && ports.empty();
  for (const queue& each : queues) {
    nothing = nothing && each.running == 0 && each.discarded == 0 &&
              each.resumed == 0;
  }
  return nothing;
}

std::string shutdown_report::text() const {
  using milliseconds = std::chrono::duration<double, std::milli>;
  std::string text = finished ? "shut down in " : "shutdown gave up after ";
  std::string span = std::to_string(milliseconds{took}.count());
  text += span.substr(0, span.find('.') + 2) + " ms";
  text += drained ? "" : ", before all that was queued had run";
  for (const queue& each : queues) {
    text += "\n  queue \"" + each.name + "\":";
    add(text, each.running, "still running");
    add(text, each.discarded, "discarded");
    add(text, each.cancelled, "arbiters left");
    add(text, each.resumed, "coroutines cut short");
    text.pop_back(); // the comma, or the colon of one with nothing to tell
  }
  for (const port& each : ports) {
    text += "\n  " + each.name + ": " + std::to_string(each.messages) +
            (each.messages == 1 ? " message left" : " messages left");
  }
  return text;
}

} // namespace wharf::inline v1

// The only file that names spdlog.

#include <wharf/detail/log.hpp>

#include <spdlog/spdlog.h>

#include <string>

namespace wharf::inline v1::detail {
namespace {

std::string what(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// spdlog makes its logger at the first use, in a library that ThreadSanitizer
/// does not see into. Done under a guard that it does see, that is no race in
/// anybody's program.
void make_logger() {
  static const spdlog::logger* const made = spdlog::default_logger_raw();
  static_cast<void>(made);
}

} // namespace

void log_failure(std::string_view kind, std::string_view name,
                 std::string_view causalities,
                 std::exception_ptr error) noexcept {
  try {
    make_logger();
    spdlog::error("wharf: a handler on {} \"{}\" failed{}{}: {}", kind, name,
                  causalities.empty() ? "" : ", and nobody listens at ",
                  causalities, what(error));
  } catch (...) {
    // A full disk must not end the program; the counter still tells.
  }
}

} // namespace wharf::inline v1::detail

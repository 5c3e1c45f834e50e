#pragma once

// The log: where failures go that nobody asked for.

#include <exception>
#include <string_view>

namespace wharf::inline v1::detail {

/// Logs a failure that reached no port: of a handler or predicate that ran on
/// what `kind` and `name` say, a "queue" of that name, say. `causalities` are
/// those that it should have reached, "" if there are none.
void log_failure(std::string_view kind, std::string_view name,
                 std::string_view causalities,
                 std::exception_ptr error) noexcept;

} // namespace wharf::inline v1::detail

#pragma once

// The log: where failures go that nobody asked for.

#include <exception>
#include <string_view>

namespace wharf::inline v1::detail {

/// Logs a failure of a handler or predicate that reached no port. It ran on
/// what `kind` and `name` say: a "queue" of that name, say.
void log_failure(std::string_view kind, std::string_view name,
                 std::exception_ptr error) noexcept;

} // namespace wharf::inline v1::detail

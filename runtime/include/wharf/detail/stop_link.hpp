#pragma once

// std::stop_token: what it asks to stop is cancelled.

#include <wharf/activation.hpp>

#include <stop_token>

namespace wharf::inline v1::detail {

/// From now on a stop request cancels what `target` names; one that was made
/// before does so at once. The link goes when the target has ended.
/// Throws std::bad_alloc.
void cancel_on_stop(const activation& target, std::stop_token token);

} // namespace wharf::inline v1::detail

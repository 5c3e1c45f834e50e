// Ends as branches; see ended.hpp.

#include <wharf/ended.hpp>

#include <algorithm>

namespace wharf::inline v1::detail {

void ended_branch::arm(decision& d) {
  arbiter* const a = detail_activation_access::of(of_);
  if ((a == nullptr || !a->listen(*this)) && root().claim(this)) {
    d.settle(root());
  }
}

void ended_branch::disarm(decision&) noexcept {
  if (arbiter* a = detail_activation_access::of(of_)) {
    a->stop_listening(*this);
  }
}

void ended_branch::heard_end(decision& d) noexcept {
  if (root().claim(this)) {
    d.settle(root());
  }
}

first_ended::branches::branches(first_ended&& b) {
  branches_.reserve(b.of_.size());
  for (const activation& each : b.of_) {
    branches_.push_back(std::make_unique<ended_branch>(each));
  }
}

void first_ended::branches::add_to(one_time& root) noexcept {
  for (const auto& each : branches_) {
    root.add(*each);
  }
}

std::size_t first_ended::branches::result(const branch& winner) const noexcept {
  const auto found =
      std::find_if(branches_.begin(), branches_.end(),
                   [&](const auto& each) { return each->is(winner); });
  return static_cast<std::size_t>(found - branches_.begin());
}

} // namespace wharf::inline v1::detail

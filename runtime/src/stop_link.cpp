// See detail/stop_link.hpp.

#include <wharf/detail/stop_link.hpp>

#include <wharf/detail/graveyard.hpp>

#include <memory>
#include <utility>

namespace wharf::inline v1::detail {
namespace {

struct cancel_target {
  activation target;
  void operator()() noexcept { detail_activation_access::of(target)->cancel(); }
};

/// Lives until its target has ended. Its end waits for a callback that runs on
/// another thread, so it is buried, and not destroyed under a lock.
class stop_link final : public end_listener, public doomed {
public:
  stop_link(const activation& target, std::stop_token token)
      : callback_{std::move(token), cancel_target{target}} {}

private:
  void heard_end(decision&) noexcept override { bury(*this); }
  void perish() noexcept override { delete this; }

  std::stop_callback<cancel_target> callback_;
};

} // namespace

void cancel_on_stop(const activation& target, std::stop_token token) {
  arbiter* const a = detail_activation_access::of(target);
  if (a == nullptr || !token.stop_possible()) {
    return;
  }
  auto link = std::make_unique<stop_link>(target, std::move(token));
  if (a->listen(*link)) {
    link.release(); // it goes with the target's end
  }
}

} // namespace wharf::inline v1::detail

// Lines of causalities and their unions; see detail/context.hpp.

#include <wharf/detail/context.hpp>

#include <wharf/detail/causality_core.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

namespace wharf::inline v1::detail {
namespace {

/// Several lines, all different.
class context_union final : public context {
public:
  explicit context_union(std::vector<context_line*> lines) noexcept
      : context{static_cast<std::uint32_t>(lines.size())},
        lines_{std::move(lines)} {
    for (context_line* each : lines_) {
      each->add_ref();
    }
  }
  context_line& at(std::uint32_t line) noexcept override {
    return *lines_[line];
  }

private:
  ~context_union() = default;
  void perish() noexcept override {
    for (context_line* each : lines_) {
      each->drop_ref();
    }
    delete this;
  }

  const std::vector<context_line*> lines_; // counted
};

constexpr std::size_t looked_at_max = 64;

/// `in` without the entry for `which`, if it is near.
context_ref without(const causality_core& which, const context_ref& in) {
  std::array<context_line*, looked_at_max> before;
  std::size_t passed = 0;
  for (const context_ref* at = &in;
       *at && (*at)->size() == 1 && passed < looked_at_max;) {
    context_line& here = (*at)->at(0);
    if (&here.innermost() == &which) {
      context_ref rest = here.outer();
      while (passed != 0) {
        rest = context_ref{
            new context_line{before[--passed]->innermost(), std::move(rest)}};
      }
      return rest;
    }
    before[passed++] = &here;
    at = &here.outer();
  }
  return in;
}

} // namespace

constinit thread_local context_state running_under;

context_line::context_line(causality_core& innermost, context_ref outer)
    : context{1}, innermost_{innermost}, outer_{std::move(outer)} {
  innermost_.add_ref();
}

void context_line::perish() noexcept {
  innermost_.drop_ref();
  delete this; // what is outside is buried, and ended after this
}

context_ref unite(context_ref a, context_ref b) noexcept {
  if (!b || a.get() == b.get()) {
    return a;
  }
  if (!a) {
    return b;
  }
  try {
    std::vector<context_line*> lines;
    for (std::uint32_t i = 0; i < a->size(); ++i) {
      lines.push_back(&a->at(i));
    }
    for (std::uint32_t i = 0; i < b->size(); ++i) {
      context_line& line = b->at(i);
      if (std::none_of(lines.begin(), lines.end(),
                       [&](const auto* each) { return each->same(line); })) {
        lines.push_back(&line);
      }
    }
    if (lines.size() == a->size()) {
      return a;
    }
    return context_ref{new context_union{std::move(lines)}};
  } catch (const std::bad_alloc&) {
    return a;
  }
}

context_ref enter(causality_core& innermost, const context_ref& outer) {
  if (outer && outer->size() == 1 && &outer->at(0).innermost() == &innermost) {
    return outer;
  }
  return context_ref{new context_line{innermost, without(innermost, outer)}};
}

void context_scope::begin(context* under) noexcept {
  before_ = std::exchange(running_under,
                          context_state{under, nullptr, nullptr, false});
}

void context_scope::end() noexcept {
  context_ref{std::exchange(running_under, before_).effective};
}

// Not inline: a coroutine may migrate between two reads of a thread-local.
[[gnu::noinline]] context_ref current_context() noexcept {
  return context_ref::share(running_under.effective);
}

[[gnu::noinline]] void take_on(context_ref of_message) noexcept {
  context_state& state = running_under;
  context_ref before{std::exchange(state.effective, nullptr)};
  if (!std::exchange(state.taken_on, true)) {
    state.own = before.release();
  }
  state.effective =
      unite(context_ref::share(state.own), std::move(of_message)).release();
}

} // namespace wharf::inline v1::detail

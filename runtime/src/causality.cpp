// The handles of causalities and their scopes.

#include <wharf/causality.hpp>

#include <wharf/detail/causality_core.hpp>
#include <wharf/detail/decision.hpp>

#include <stdexcept>

namespace wharf::inline v1 {

causality::causality(std::string_view name,
                     const port<std::exception_ptr>& failures)
    : core_{new detail::causality_core{std::string{name},
                                       detail_port_access::core(failures)}} {
}

causality::causality(const causality& other) noexcept : core_{other.core_} {
  core_->add_ref();
}

causality::~causality() {
  core_->drop_ref();
}

const std::string& causality::name() const noexcept {
  return core_->name();
}

// Not inline: a coroutine may migrate between the two ends of its scope.

[[gnu::noinline]] causality_scope::causality_scope(const causality& innermost) {
  detail::refuse_in_predicate();
  enter(detail::enter(*innermost.core_, detail::current_context()));
}

[[gnu::noinline]] causality_scope::causality_scope(no_causality_t) {
  detail::refuse_in_predicate();
  enter(detail::context_ref{});
}

void causality_scope::enter(detail::context_ref under) noexcept {
  before_ = std::exchange(detail::running_under,
                          detail::context_state{.effective = under.release(),
                                                .own = nullptr,
                                                .scope = this,
                                                .taken_on = false});
}

namespace {

[[noreturn]] void refuse_disorder() {
  throw std::logic_error{
      "a causality_scope ends out of turn: scopes end in the opposite order of "
      "their beginning, on the same thread or in the same coroutine"};
}

} // namespace

[[gnu::noinline]] causality_scope::~causality_scope() {
  if (detail::running_under.scope != this) {
    refuse_disorder(); // out of a destructor: std::terminate names it
  }
  const auto inside = std::exchange(detail::running_under, before_);
  detail::context_ref{inside.effective};
  detail::context_ref{inside.own};
}

} // namespace wharf::inline v1

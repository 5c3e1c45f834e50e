#pragma once

// A causality without its handle: a name and a port of failures.

#include <wharf/detail/failure_port.hpp>
#include <wharf/detail/sync.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace wharf::inline v1::detail {

/// Its address is its identity.
///
/// Lifetime: counted, by handles and by the lines of contexts.
class causality_core {
public:
  causality_core(std::string name, port_core& failures)
      : name_{std::move(name)}, failures_{failures} {}
  causality_core(const causality_core&) = delete;
  causality_core& operator=(const causality_core&) = delete;

  void add_ref() noexcept { refs_.fetch_add(1, memory_order_relaxed); }
  void drop_ref() noexcept {
    if (refs_.fetch_sub(1, memory_order_acq_rel) == 1) {
      delete this;
    }
  }

  const std::string& name() const noexcept { return name_; }
  const failure_port& failures() const noexcept { return failures_; }

private:
  ~causality_core() = default;

  const std::string name_;
  const failure_port failures_;
  atomic<std::uint32_t> refs_{1};
};

} // namespace wharf::inline v1::detail

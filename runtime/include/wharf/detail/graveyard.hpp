#pragma once

// Destruction without recursion. A message may hold the last handle of a port
// whose messages hold the last handles of further ports, and so on: destroyed
// naively, such a chain overflows the stack. Everything of Wharf that dies
// with user code inside is buried instead: at once if this thread is burying
// nothing, else after what it is burying now.

namespace wharf::inline v1::detail {

/// Something whose end runs user code (destructors of messages, of handlers).
class doomed {
public:
  doomed() noexcept = default;
  doomed(const doomed&) = delete;
  doomed& operator=(const doomed&) = delete;

protected:
  ~doomed() = default;

private:
  friend class burial;
  friend void bury(doomed& dead) noexcept;

  /// Ends the object. Runs with no lock of Wharf held.
  virtual void perish() noexcept = 0;

  doomed* next_dead_ = nullptr;
};

/// Ends `dead` now, or when the burial that surrounds this call ends.
void bury(doomed& dead) noexcept;

/// While one is alive on a thread, bury() only collects; the outermost one
/// ends what was collected, in a loop, when it goes. Also put round the parts
/// that hold locks: no destructor of a user runs under one.
class burial {
public:
  burial() noexcept;
  ~burial();
  burial(const burial&) = delete;
  burial& operator=(const burial&) = delete;
};

} // namespace wharf::inline v1::detail

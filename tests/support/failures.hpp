#pragma once

// What arrived at a port of failures, in words.

#include <wharf/port.hpp>

#include <exception>
#include <string>
#include <vector>

namespace wharf::test {

inline std::string what(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "no std::exception";
  }
}

/// Takes all failures that lie in the port.
inline std::vector<std::string> take_whats(port<std::exception_ptr> failures) {
  std::vector<std::string> all;
  for (const std::exception_ptr& each : failures.try_take_all()) {
    all.push_back(what(each));
  }
  return all;
}

} // namespace wharf::test

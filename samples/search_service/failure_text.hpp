#pragma once

// Owns what people read about an exception.

#include <exception>
#include <string>

namespace search_service {

inline std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

} // namespace search_service

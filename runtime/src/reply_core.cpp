// See detail/reply_core.hpp.

#include <wharf/detail/reply_core.hpp>

#include <wharf/detail/log.hpp>

#include <wharf/error.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace wharf::inline v1::detail {
namespace {

/// One for all: making an exception may fail, and sharing one costs those
/// nothing who answer. It is never destroyed, as replies may die after all
/// statics.
const std::exception_ptr& no_answer() {
  static const auto* const error = new std::exception_ptr{
      std::make_exception_ptr(unanswered{"a reply was dropped unanswered"})};
  return *error;
}

} // namespace

reply_core::reply_core(port_core& answers, port_core& errors)
    : answers_{&answers}, errors_{&errors} {
  no_answer(); // from now on it is there
  node_ = std::make_unique<message<std::exception_ptr>>().release();
  answers.add_handle();
  errors.add_handle();
}

reply_core::reply_core(reply_core&& other) noexcept
    : answers_{std::exchange(other.answers_, nullptr)},
      errors_{std::exchange(other.errors_, nullptr)},
      node_{std::exchange(other.node_, nullptr)} {
}

reply_core& reply_core::operator=(reply_core&& other) noexcept {
  if (this != &other) {
    leave();
    answers_ = std::exchange(other.answers_, nullptr);
    errors_ = std::exchange(other.errors_, nullptr);
    node_ = std::exchange(other.node_, nullptr);
  }
  return *this;
}

void reply_core::require_unanswered() const {
  if (answers_ == nullptr) {
    throw std::logic_error{"this reply was moved from"};
  }
  if (answered()) {
    throw std::logic_error{"the reply to " + answers_->describe() +
                           " has been answered already"};
  }
}

void reply_core::set_answered() noexcept {
  delete std::exchange(node_, nullptr);
}

bool reply_core::fail(std::exception_ptr error) {
  require_unanswered();
  if (error == nullptr) {
    throw std::invalid_argument{"a reply fails with an exception, not null"};
  }
  node_->value = std::move(error);
  const bool accepted = errors_->post(node_);
  if (accepted) {
    node_ = nullptr;
  } else {
    set_answered();
  }
  return accepted;
}

void reply_core::leave() noexcept {
  if (answers_ == nullptr) {
    return;
  }
  if (!answered()) {
    try {
      fail(no_answer());
    } catch (...) {
      // Inside a predicate, or no memory for the locks of a join of many ports.
      log_failure("port", errors_->describe(), "", no_answer());
      set_answered();
    }
  }
  std::exchange(answers_, nullptr)->drop_handle();
  std::exchange(errors_, nullptr)->drop_handle();
}

} // namespace wharf::inline v1::detail

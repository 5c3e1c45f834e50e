#include "http_message.hpp"

#include <utility>

namespace search_service {

responder::~responder() {
  abandon();
}

responder& responder::operator=(responder&& other) noexcept {
  if (this != &other) {
    abandon();
    to_ = std::move(other.to_);
  }
  return *this;
}

void responder::send(http_response response) {
  // Emptied first: an answer that fails on its way is not sent twice.
  if (const auto to = std::exchange(to_, nullptr)) {
    to->send(std::move(response));
  }
}

void responder::abandon() {
  if (to_ != nullptr) {
    send({.status = 503,
          .body = "The request was given up before it was answered; the "
                  "service is stopping or failed.\n"});
  }
}

} // namespace search_service

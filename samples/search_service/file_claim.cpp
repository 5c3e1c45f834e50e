#include "file_claim.hpp"

#include <utility>

namespace search_service {

void file_claim::settle(file_settled outcome) {
  if (account_) {
    account_->post(std::move(outcome));
    account_.reset();
    ticket_.reset();
  }
}

} // namespace search_service

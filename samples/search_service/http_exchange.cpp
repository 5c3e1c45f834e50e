#include "http_exchange.hpp"

#include <wharf/activate.hpp>
#include <wharf/causality.hpp>
#include <wharf/choice.hpp>
#include <wharf/error.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>

#include <utility>
#include <variant>

namespace search_service {

namespace {

using fault_port = wharf::port<std::exception_ptr>;

http_response failed(std::exception_ptr fault) {
  // It is this request's answer, but none of its client's business: those who
  // look after the program read of it where they read of all failures.
  wharf::spawn(wharf::this_queue(),
               [fault = std::move(fault)] { std::rethrow_exception(fault); });
  return {.status = 500, .body = "The service failed at this request.\n"};
}

bool is_unanswered(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const wharf::unanswered&) {
    return true;
  } catch (...) {
    return false;
  }
}

// Waits until nobody works for the request any more; null if none of them
// failed. `faults` must be the only handle.
wharf::task<std::exception_ptr> fault_at_last(fault_port faults) {
  fault_port heard{"the first fault of a request"};
  // It waits before the handle goes: at no time is there nobody to be told.
  const wharf::activation hearing = wharf::activate(
      wharf::this_queue(),
      wharf::receive(faults, [heard](std::exception_ptr fault) mutable {
        heard.post(std::move(fault));
      }));
  faults = heard;
  co_await hearing.ended();
  co_return heard.try_take().value_or(nullptr);
}

void post_under(const fault_port& faults,
                const wharf::port<http_request>& requests,
                http_request request) {
  const wharf::causality name{"request", faults};
  const wharf::causality_scope scope{name};
  requests.post(std::move(request));
}

} // namespace

wharf::task<http_response> response_to(wharf::port<http_request> requests,
                                       http_request request,
                                       http_answer answer) {
  fault_port faults{"faults of a request"};
  post_under(faults, requests, std::move(request));
  auto first = co_await wharf::choice(
      wharf::receive(faults), wharf::receive(answer.get<http_response>()),
      wharf::receive(answer.get<std::exception_ptr>()));
  if (auto* response = std::get_if<1>(&first)) {
    co_return std::move(*response);
  }
  if (auto* fault = std::get_if<0>(&first)) {
    co_return failed(std::move(*fault));
  }
  std::exception_ptr why = std::get<2>(std::move(first));
  if (is_unanswered(why)) {
    // A handler that fails with the reply in hand drops it first, and is
    // reported then.
    auto last = fault_at_last(std::exchange(faults, fault_port{}));
    why = co_await std::move(last);
  }
  if (why != nullptr) {
    co_return failed(std::move(why));
  }
  http_response given_up;
  given_up.status = 503;
  given_up.body = "The request was given up before it was answered; the "
                  "service is stopping or failed.\n";
  co_return given_up;
}

} // namespace search_service

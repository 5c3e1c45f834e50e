#include "web.hpp"

#include "json.hpp"
#include "page.hpp"
#include "search_parameters.hpp"

#include <wharf/ask.hpp>
#include <wharf/error.hpp>
#include <wharf/interleave.hpp>
#include <wharf/receive.hpp>
#include <wharf/task.hpp>

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace search_service {

namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view html_type = "text/html; charset=utf-8";

http_response dressed(unsigned status, std::string_view type,
                      std::string body) {
  return {.status = status,
          .content_type = std::string{type},
          .body = std::move(body)};
}

http_response plain(unsigned status, std::string sentence) {
  return {.status = status, .body = std::move(sentence) + "\n"};
}

http_response not_allowed(std::string allowed) {
  return {.status = 405,
          .body = "This address takes " + allowed + " only.\n",
          .allow = allowed};
}

// Browsers send the page's origin with a form; other clients send none.
bool from_elsewhere(const http_request& request) {
  return !request.origin.empty() && request.origin != "http://" + request.host;
}

class web : public std::enable_shared_from_this<web> {
public:
  explicit web(web_options options) : options_{std::move(options)} {}

  void start(wharf::dispatcher_queue& queue, const web_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(queue,
             interleave(teardown(receive(service.get<stop>(),
                                         [](stop s) { s.reply.post({"web"}); }))
                            .cancelling()
                            .then_close(),
                        concurrent(receive(persist, service.get<http_request>(),
                                           [self](http_request request) {
                                             return self->serve(
                                                 std::move(request));
                                           }))));
  }

private:
  // One request is one task, and has a causality: what fails, here or further
  // on, is told to whoever waits for the response. So is a reply that dies
  // because a component stops, or has failed and told already.
  wharf::task<void> serve(http_request request) {
    try {
      http_response response = co_await response_to(request);
      request.answer.post(std::move(response));
    } catch (const wharf::port_closed&) {
      co_return;
    } catch (const wharf::unanswered&) {
      co_return;
    }
    if (stops(request)) {
      options_.on_stop.post(stop_requested{});
    }
  }

  // Pages of other sites may not: a browser would send it for them.
  static bool stops(const http_request& request) {
    return split_target(request.target).path == "/stop" &&
           request.method == "POST" && !from_elsewhere(request);
  }

  wharf::task<http_response> response_to(const http_request& request) {
    const auto [path, query] = split_target(request.target);
    const bool gets = request.method == "GET" || request.method == "HEAD";
    if (path == "/stop") {
      co_return response_to_stop(request);
    }
    if (path != "/" && path != "/search" && path != "/status") {
      co_return plain(404, "There is nothing at this address.");
    }
    if (!gets) {
      co_return not_allowed("GET, HEAD");
    }
    if (path == "/search") {
      co_return co_await found(request, query);
    }
    if (path == "/") {
      co_return co_await page(request, query);
    }
    const status_report report =
        co_await wharf::ask<ask_status>(options_.status);
    co_return dressed(200, json_type, to_json(report));
  }

  static http_response response_to_stop(const http_request& request) {
    if (request.method != "POST") {
      return not_allowed("POST");
    }
    if (!stops(request)) {
      return plain(403, "Pages of other sites may not stop the service.");
    }
    return plain(200, "The service stops.");
  }

  wharf::task<http_response> found(const http_request& request,
                                   std::string_view query) {
    auto parsed = parse_search(query);
    if (const auto* refused = std::get_if<refusal>(&parsed)) {
      co_return dressed(400, json_type, error_json(refused->sentence));
    }
    const search_answer answer = co_await search_for(
        std::get<search_parameters>(std::move(parsed)), request.arrived);
    co_return dressed(200, json_type, to_json(answer));
  }

  wharf::task<http_response> page(const http_request& request,
                                  std::string_view query) {
    auto parsed = parse_search(query);
    page_content content;
    unsigned status = 200;
    if (const auto* refused = std::get_if<refusal>(&parsed)) {
      if (!refused->nothing_asked) {
        content.refusal = refused->sentence;
        status = 400;
      }
    } else {
      auto& parameters = std::get<search_parameters>(parsed);
      content.query = parameters.text;
      content.limit = parameters.limit;
      content.answer =
          co_await search_for(std::move(parameters), request.arrived);
    }
    content.status = co_await wharf::ask<ask_status>(options_.status);
    co_return dressed(status, html_type, to_html(content));
  }

  wharf::task<search_answer>
  search_for(search_parameters parameters,
             std::chrono::steady_clock::time_point arrived) const {
    return wharf::ask<search>(options_.front, std::move(parameters), arrived);
  }

  web_options options_;
};

} // namespace

web_port create_web(wharf::dispatcher_queue& queue, web_options options) {
  web_port service;
  std::make_shared<web>(std::move(options))->start(queue, service);
  return service;
}

} // namespace search_service

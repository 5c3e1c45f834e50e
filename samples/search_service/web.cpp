#include "web.hpp"

#include "json.hpp"
#include "page.hpp"
#include "search_parameters.hpp"

#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>

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

// A question's answers come to a port that only the question and its receiver
// know. If the question is refused or destroyed, the port closes with it, the
// receiver ends unfired, and the responder inside answers 503.
class web : public std::enable_shared_from_this<web> {
public:
  web(wharf::dispatcher_queue& queue, web_options options)
      : queue_{queue}, options_{std::move(options)} {}

  void start(const web_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(queue_,
             interleave(teardown(receive(service.get<stop>(),
                                         [](stop s) { s.reply.post({"web"}); }))
                            .then_close(),
                        concurrent(receive(persist, service.get<http_request>(),
                                           [self](http_request request) {
                                             self->serve(std::move(request));
                                           }))));
  }

private:
  void serve(http_request request) {
    const std::string target = request.target;
    const auto [path, query] = split_target(target);
    const bool gets = request.method == "GET" || request.method == "HEAD";
    if (path == "/stop") {
      request.method == "POST" ? serve_stop(request)
                               : request.answer.send(not_allowed("POST"));
    } else if (path != "/" && path != "/search" && path != "/status") {
      request.answer.send(plain(404, "There is nothing at this address."));
    } else if (!gets) {
      request.answer.send(not_allowed("GET, HEAD"));
    } else if (path == "/search") {
      serve_search(std::move(request), query);
    } else if (path == "/status") {
      serve_status(std::move(request));
    } else {
      serve_page(std::move(request), query);
    }
  }

  void serve_stop(http_request& request) {
    if (from_elsewhere(request)) {
      request.answer.send(
          plain(403, "Pages of other sites may not stop the service."));
      return;
    }
    request.answer.send(plain(200, "The service stops."));
    options_.on_stop.post(stop_requested{});
  }

  void serve_search(http_request request, std::string_view query) {
    auto parsed = parse_search(query);
    if (const auto* refused = std::get_if<refusal>(&parsed)) {
      request.answer.send(
          dressed(400, json_type, error_json(refused->sentence)));
      return;
    }
    wharf::port<search_answer> answers;
    wharf::activate(
        queue_, wharf::receive(answers, [answer = std::move(request.answer)](
                                            search_answer found) mutable {
          answer.send(dressed(200, json_type, to_json(found)));
        }));
    options_.front.post(search{std::get<search_parameters>(std::move(parsed)),
                               request.arrived, answers});
  }

  void serve_status(http_request request) {
    wharf::port<status_report> reports;
    wharf::activate(
        queue_, wharf::receive(reports, [answer = std::move(request.answer)](
                                            status_report report) mutable {
          answer.send(dressed(200, json_type, to_json(report)));
        }));
    options_.status.post(ask_status{reports});
  }

  // The page shows two answers, so it waits for both: a join.
  void serve_page(http_request request, std::string_view query) {
    auto parsed = parse_search(query);
    page_content content;
    const auto* refused = std::get_if<refusal>(&parsed);
    if (refused != nullptr && !refused->nothing_asked) {
      content.refusal = refused->sentence;
    }
    const unsigned status = content.refusal.empty() ? 200 : 400;
    wharf::port<status_report> reports;
    options_.status.post(ask_status{reports});
    if (refused != nullptr) {
      wharf::activate(
          queue_,
          wharf::receive(reports, [answer = std::move(request.answer), content,
                                   status](status_report report) mutable {
            content.status = report;
            answer.send(dressed(status, html_type, to_html(content)));
          }));
      return;
    }
    auto& parameters = std::get<search_parameters>(parsed);
    content.query = parameters.text;
    content.limit = parameters.limit;
    wharf::port<search_answer> answers;
    wharf::activate(
        queue_,
        wharf::join(answers, reports,
                    [answer = std::move(request.answer), content](
                        search_answer found, status_report report) mutable {
                      content.answer = std::move(found);
                      content.status = report;
                      answer.send(dressed(200, html_type, to_html(content)));
                    }));
    options_.front.post(
        search{std::move(parameters), request.arrived, answers});
  }

  wharf::dispatcher_queue& queue_;
  web_options options_;
};

} // namespace

web_port create_web(wharf::dispatcher_queue& queue, web_options options) {
  web_port service;
  std::make_shared<web>(queue, std::move(options))->start(service);
  return service;
}

} // namespace search_service

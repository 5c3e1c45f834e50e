#include "search_service/web.hpp"

#include "search_service_wharf_support.hpp"

#include <wharf/causality.hpp>
#include <wharf/error.hpp>
#include <wharf/receive.hpp>
#include <wharf/reply.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace search_service {
namespace {

using test::world;

using answer_ports = wharf::port_set<http_response, std::exception_ptr>;

// The web component in front of a status component and of a front that finds
// one document for whatever it is asked.
struct web_world : world {
  web_world() {
    wharf::activate(queue, wharf::receive(wharf::persist, front.get<search>(),
                                          [](search asked) {
                                            asked.reply.post(answer_to(asked));
                                          }));
  }

  static search_answer answer_to(const search& asked) {
    return {
        .query = asked.parameters.text,
        .total = 5,
        .results = {{"/doc/a.txt", 1, std::to_string(asked.parameters.limit)}}};
  }

  http_response request(std::string method, std::string target,
                        std::string origin = {}) {
    wharf::port<http_response> answer;
    web.post(http_request{std::move(method),
                          std::move(target),
                          "127.0.0.1:8080",
                          std::move(origin),
                          {},
                          test::reply_to(answer)});
    return take(answer);
  }
  http_response get(std::string target) {
    return request("GET", std::move(target));
  }

  front_port front;
  status_port status{
      create_status(queue, [](status_report&) {}, wharf::port<std::string>{})};
  wharf::port<stop_requested> stops{"stops"};
  web_port web{
      create_web(queue, {.front = front, .status = status, .on_stop = stops})};
};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(SearchServiceWebTest, SearchIsAnsweredInJson) {
  web_world w;
  const http_response got = w.get("/search?q=a+port&limit=7");
  EXPECT_EQ(got.status, 200u);
  EXPECT_EQ(got.content_type, "application/json");
  EXPECT_TRUE(contains(got.body, R"("query":"a port")"));
  EXPECT_TRUE(contains(got.body, R"("snippet":"7")"));
}

TEST(SearchServiceWebTest, SearchWithoutTextIsRefusedInASentence) {
  web_world w;
  for (const char* target : {"/search", "/search?", "/search?q=",
                             "/search?limit=5", "/search?q=%20"}) {
    const http_response got = w.get(target);
    EXPECT_EQ(got.status, 400u) << target;
    EXPECT_TRUE(contains(got.body, R"({"error":"The parameter q is)"));
  }
}

TEST(SearchServiceWebTest, BadLimitIsRefusedInASentence) {
  web_world w;
  const http_response got = w.get("/search?q=a&limit=1000");
  EXPECT_EQ(got.status, 400u);
  EXPECT_TRUE(contains(got.body, "from 1 to 100, not '1000'."));
}

TEST(SearchServiceWebTest, PageShowsTheFormAndTheStatus) {
  web_world w;
  for (const char* target : {"/", "/?", "/?q=", "/?other=1"}) {
    const http_response got = w.get(target);
    EXPECT_EQ(got.status, 200u) << target;
    EXPECT_EQ(got.content_type, "text/html; charset=utf-8");
    EXPECT_TRUE(contains(got.body, "<form"));
    EXPECT_TRUE(contains(got.body, "0 files with 0 words indexed"));
  }
}

TEST(SearchServiceWebTest, PageShowsResults) {
  web_world w;
  const http_response got = w.get("/?q=port");
  EXPECT_EQ(got.status, 200u);
  EXPECT_TRUE(contains(got.body, "a.txt"));
  EXPECT_TRUE(contains(got.body, "5 documents, the best 1 of them shown"));
}

TEST(SearchServiceWebTest, PageSaysWhatIsWrongWithItsAddress) {
  web_world w;
  const http_response got = w.get("/?q=a&limit=%3Cscript%3E");
  EXPECT_EQ(got.status, 400u);
  EXPECT_TRUE(contains(got.body, "<form"));
  EXPECT_TRUE(contains(got.body, "from 1 to 100"));
  EXPECT_FALSE(contains(got.body, "<script"));
}

TEST(SearchServiceWebTest, StatusIsAnsweredInJson) {
  web_world w;
  const http_response got = w.get("/status");
  EXPECT_EQ(got.status, 200u);
  EXPECT_TRUE(contains(got.body, R"("indexing":true)"));
}

TEST(SearchServiceWebTest, OtherPathsAreNotFound) {
  web_world w;
  for (const char* target : {"/favicon.ico", "/search/", "/../etc/passwd", "//",
                             "", "*", "http://127.0.0.1/search?q=a"}) {
    EXPECT_EQ(w.get(target).status, 404u) << target;
  }
}

TEST(SearchServiceWebTest, OtherMethodsAreNotAllowedAndTheRightOnesNamed) {
  web_world w;
  for (const char* path : {"/", "/search?q=a", "/status"}) {
    const http_response got = w.request("POST", path);
    EXPECT_EQ(got.status, 405u);
    EXPECT_EQ(got.allow, "GET, HEAD");
  }
  const http_response got = w.get("/stop");
  EXPECT_EQ(got.status, 405u);
  EXPECT_EQ(got.allow, "POST");
  EXPECT_TRUE(w.stops.empty());
}

TEST(SearchServiceWebTest, StopIsAnsweredAndPassedOn) {
  web_world w;
  EXPECT_EQ(w.request("POST", "/stop").status, 200u);
  w.take(w.stops);
}

TEST(SearchServiceWebTest, PageOfAnotherSiteCanNotStopTheService) {
  web_world w;
  EXPECT_EQ(w.request("POST", "/stop", "http://evil.example").status, 403u);
  EXPECT_EQ(w.request("POST", "/stop", "null").status, 403u);
  w.pool.drain();
  EXPECT_TRUE(w.stops.empty());
  EXPECT_EQ(w.request("POST", "/stop", "http://127.0.0.1:8080").status, 200u);
}

// Nobody answers; who waits for the response hears of it.
bool is_dropped(web_world& w, std::string target) {
  answer_ports answer;
  w.web.post(
      http_request{"GET", std::move(target), "", "", {}, wharf::reply{answer}});
  try {
    std::rethrow_exception(w.take(answer.get<std::exception_ptr>()));
  } catch (const wharf::unanswered&) {
    return true;
  }
}

TEST(SearchServiceWebTest, RequestThatTheFrontDropsIsDropped) {
  web_world w;
  w.front.close();
  EXPECT_TRUE(is_dropped(w, "/search?q=a"));
  EXPECT_TRUE(is_dropped(w, "/?q=a"));
  EXPECT_EQ(w.get("/").status, 200u);
}

TEST(SearchServiceWebTest, FaultInARequestIsToldToItsCausality) {
  web_world w;
  w.front = front_port{};
  w.web = create_web(
      w.queue, {.front = w.front, .status = w.status, .on_stop = w.stops});
  wharf::activate(w.own,
                  wharf::receive(w.front.get<search>(), [](search asked) {
                    asked.reply.fail(std::runtime_error{"!"});
                  }));
  wharf::port<std::exception_ptr> faults{"faults"};
  {
    const wharf::causality request{"request", faults};
    const wharf::causality_scope scope{request};
    EXPECT_TRUE(is_dropped(w, "/search?q=a"));
  }
  EXPECT_TRUE(w.take(faults));
  EXPECT_EQ(w.get("/status").status, 200u);
}

TEST(SearchServiceWebTest, StopDropsTheRequestAtHand) {
  web_world w;
  w.front = front_port{}; // where nobody answers
  w.web = create_web(
      w.queue, {.front = w.front, .status = w.status, .on_stop = w.stops});
  answer_ports answer;
  w.web.post(
      http_request{"GET", "/search?q=a", "", "", {}, wharf::reply{answer}});
  w.pool.drain();
  EXPECT_TRUE(answer.get<std::exception_ptr>().empty());
  w.stop(w.web);
  EXPECT_TRUE(w.take(answer.get<std::exception_ptr>()));
}

TEST(SearchServiceWebTest, StopDropsTheRequestsThatWait) {
  web_world w;
  w.queue.suspend();
  answer_ports answer;
  w.web.post(http_request{"GET", "/", "", "", {}, wharf::reply{answer}});
  wharf::port<stopped> ended;
  w.web.post(stop{ended});
  w.queue.resume();
  EXPECT_TRUE(w.take(answer.get<std::exception_ptr>()));
  w.take(ended);
}

} // namespace
} // namespace search_service

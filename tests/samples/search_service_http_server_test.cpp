#include "search_service/http_server.hpp"

#include "search_service_http_client.hpp"

#include "search_service/listener.hpp"

#include "search_service_wharf_support.hpp"

#include <wharf/activate.hpp>
#include <wharf/asio/io_thread.hpp>
#include <wharf/receive.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace search_service {
namespace {

using test::http_client;
using test::reply;

http_response text(std::string body) {
  return {.body = body};
}

// Answers with what it was asked.
void echo(http_request request) {
  request.answer.post(text(request.method + " " + request.target));
}

http_options any_port() {
  return {.port = 0};
}

// A server in front of a handler; without one, in front of the test itself.
struct served {
  explicit served(const http_options& options = any_port())
      : http{io, pool, options, requests} {
    pool.on_failure(failures);
  }
  template <class Handler>
  served(const http_options& options, Handler handler) : served{options} {
    wharf::activate(
        queue, wharf::receive(wharf::persist, requests, std::move(handler)));
  }

  std::uint16_t port() const { return http.port(); }

  // Waits for the next request.
  http_request take() { return test::take(queue, requests); }

  wharf::asio::io_thread io;
  wharf::port<http_request> requests{"requests"};
  wharf::port<std::exception_ptr> failures{"failures"};
  wharf::dispatcher pool{{.threads = 4, .name = "test"}};
  wharf::dispatcher_queue queue{pool, "handlers"};
  http_server http;
};

TEST(SearchServiceHttpServerTest, ClientGetsWhatTheHandlerSends) {
  served server{any_port(), [](http_request request) {
                  request.answer.post({.status = 418,
                                       .content_type = "x/y",
                                       .body = "teapot",
                                       .allow = "GET"});
                }};
  http_client client{server.port()};
  const reply got = client.get("/");
  EXPECT_EQ(got.status, 418u);
  EXPECT_EQ(got.body, "teapot");
  EXPECT_EQ(got.fields.at("content-type"), "x/y");
  EXPECT_EQ(got.fields.at("allow"), "GET");
  EXPECT_EQ(got.fields.at("x-content-type-options"), "nosniff");
  EXPECT_TRUE(got.fields.contains("content-security-policy"));
}

TEST(SearchServiceHttpServerTest, HandlerGetsWhatTheClientSent) {
  served server{any_port()};
  http_client client{server.port()};
  client.send("PUT /a?b=c HTTP/1.1\r\nHost: h:1\r\nOrigin: http://o\r\n\r\n");
  http_request request = server.take();
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/a?b=c");
  EXPECT_EQ(request.host, "h:1");
  EXPECT_EQ(request.origin, "http://o");
}

TEST(SearchServiceHttpServerTest, ConnectionServesOneRequestAfterAnother) {
  served server{any_port(), echo};
  http_client client{server.port()};
  for (int i = 0; i < 100; ++i) {
    const std::string target = "/" + std::to_string(i);
    const reply got = client.get(target);
    EXPECT_EQ(got.body, "GET " + target);
    EXPECT_TRUE(got.keep_alive);
  }
}

TEST(SearchServiceHttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  served server{any_port(), echo};
  http_client client{server.port()};
  client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.receive().body, "GET /1");
  EXPECT_EQ(client.receive().body, "GET /2");
}

TEST(SearchServiceHttpServerTest, ClientThatWantsItClosedGetsItClosed) {
  served server{any_port(), echo};
  http_client client{server.port()};
  const reply got = client.request("GET", "/", "Connection: close\r\n");
  EXPECT_FALSE(got.keep_alive);
  EXPECT_TRUE(client.is_closed());
}

TEST(SearchServiceHttpServerTest, HeadIsAnsweredWithoutItsBody) {
  served server{any_port(), echo};
  http_client client{server.port()};
  const reply got = client.request("HEAD", "/a");
  EXPECT_EQ(got.fields.at("content-length"), "7");
  EXPECT_TRUE(got.body.empty());
  EXPECT_EQ(client.get("/b").body, "GET /b");
}

// The client sends all of it before it reads, as most clients do.
TEST(SearchServiceHttpServerTest, AddressOfTenMegabytesIsRefused) {
  served server{any_port(), echo};
  http_client client{server.port()};
  const std::string query(10 << 20, 'a');
  client.send("GET /search?q=" + query + " HTTP/1.1\r\nHost: h\r\n\r\n");
  const reply got = client.receive();
  EXPECT_EQ(got.status, 414u);
  EXPECT_NE(got.body.find("too long"), std::string::npos);
  EXPECT_FALSE(got.keep_alive);
}

TEST(SearchServiceHttpServerTest, LongHeaderIsRefused) {
  served server{any_port(), echo};
  http_client client{server.port()};
  client.send("GET / HTTP/1.1\r\nCookie: " + std::string(1 << 20, 'a') +
              "\r\n\r\n");
  EXPECT_EQ(client.receive().status, 431u);
}

TEST(SearchServiceHttpServerTest, LongBodyIsRefused) {
  served server{any_port(), echo};
  http_client client{server.port()};
  client.send("POST / HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413u);
}

TEST(SearchServiceHttpServerTest, WhatIsNoHttpIsRefused) {
  served server{any_port(), echo};
  for (const char* nonsense :
       {"\x16\x03\x01\x02", "hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}) {
    http_client client{server.port()};
    client.send(std::string{nonsense} + "\r\n\r\n");
    EXPECT_EQ(client.receive().status, 400u) << nonsense;
    EXPECT_TRUE(client.is_closed());
  }
}

TEST(SearchServiceHttpServerTest, ClientThatLeavesHarmsNobody) {
  served server{any_port(), echo};
  {
    http_client leaves{server.port()};
    leaves.send("GET /half HT");
  }
  {
    http_client leaves{server.port()};
    leaves.send("GET /never-read HTTP/1.1\r\n\r\n");
  }
  http_client stays{server.port()};
  EXPECT_EQ(stays.get("/").status, 200u);
}

TEST(SearchServiceHttpServerTest, RequestGivenUpIsAnsweredAllTheSame) {
  served server{any_port(), [](http_request) {}};
  http_client client{server.port()};
  EXPECT_EQ(client.get("/").status, 503u);
}

TEST(SearchServiceHttpServerTest, HandlerThatThrowsCostsItsRequestOnly) {
  std::atomic<int> requests{0};
  served server{any_port(), [&](http_request request) {
                  if (++requests == 1) {
                    throw std::runtime_error{"thrown on purpose"};
                  }
                  echo(std::move(request));
                }};
  http_client client{server.port()};
  EXPECT_EQ(client.get("/").status, 500u);
  EXPECT_EQ(client.get("/").status, 200u);
  EXPECT_TRUE(test::take(server.queue, server.failures));
}

// The answer is held by somebody who waits for what has failed, and would wait
// for ever.
TEST(SearchServiceHttpServerTest, FaultFurtherOnIsTheAnswerAtOnce) {
  wharf::port<int> steps{"steps"};
  wharf::port<http_request> kept{"kept"};
  served server{any_port(), [steps, kept](http_request request) mutable {
                  steps.post(1);
                  kept.post(std::move(request));
                }};
  wharf::dispatcher others{{.threads = 1, .name = "others"}};
  wharf::dispatcher_queue further_on{others, "further on"};
  wharf::activate(further_on, wharf::receive(wharf::persist, steps, [](int) {
                    throw std::runtime_error{"thrown on purpose"};
                  }));
  http_client client{server.port()};
  const reply got = client.get("/");
  EXPECT_EQ(got.status, 500u);
  EXPECT_TRUE(got.keep_alive);
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_TRUE(test::take(server.queue, server.failures));
}

TEST(SearchServiceHttpServerTest, AnswersMayComeLateAndInAnyOrder) {
  served server{any_port()};
  http_client one{server.port()};
  one.send("GET /1 HTTP/1.1\r\n\r\n");
  http_request first = server.take();
  http_client two{server.port()};
  two.send("GET /2 HTTP/1.1\r\n\r\n");
  http_request second = server.take();

  second.answer.post(text("second"));
  EXPECT_EQ(two.receive().body, "second");
  first.answer.post(text("first"));
  EXPECT_EQ(one.receive().body, "first");
}

TEST(SearchServiceHttpServerTest, PortInUseIsSaidInASentence) {
  served server{any_port(), echo};
  try {
    served second{{.port = server.port()}, echo};
    FAIL() << "two servers on one port";
  } catch (const port_unavailable& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find(std::to_string(server.port()) + " is in use"),
              std::string::npos);
  }
}

TEST(SearchServiceHttpServerTest, PortIsFreeAgainAfterIt) {
  std::uint16_t port = 0;
  {
    served server{any_port(), echo};
    port = server.port();
    http_client client{port};
    EXPECT_EQ(client.get("/").status, 200u);
  }
  served again{{.port = port}, echo};
  http_client client{port};
  EXPECT_EQ(client.get("/").status, 200u);
}

TEST(SearchServiceHttpServerTest, SilentConnectionIsClosed) {
  http_options options = any_port();
  options.patience = std::chrono::milliseconds{10};
  served server{options, echo};
  http_client client{server.port()};
  client.send("GET / HTT");
  EXPECT_TRUE(client.is_closed());
}

// Its place is given to another, so it has gone.
TEST(SearchServiceHttpServerTest, ClientThatDoesNotReadItsAnswerLosesItsPlace) {
  http_options options = any_port();
  options.connections_max = 1;
  options.refusals_max = 0;
  options.patience = std::chrono::milliseconds{50};
  served server{options, [](http_request request) {
                  request.answer.post(text(std::string(64 << 20, 'a')));
                }};
  http_client deaf{server.port()};
  deaf.send("GET / HTTP/1.1\r\n\r\n");
  http_client next{server.port()};
  EXPECT_EQ(next.request("HEAD", "/").status, 200u);
}

TEST(SearchServiceHttpServerTest, StopAnswersTheRequestsAtHand) {
  http_options options = any_port();
  options.grace = std::chrono::hours{1};
  served server{options};
  http_client client{server.port()};
  client.send("GET / HTTP/1.1\r\n\r\n");
  http_request request = server.take();
  http_client at_rest{server.port()};
  at_rest.send("GET / HTTP/1.1\r\n\r\n");
  echo(server.take());
  EXPECT_TRUE(at_rest.receive().keep_alive);

  auto stopping =
      std::async(std::launch::async, [&server] { server.http.stop(); });
  EXPECT_TRUE(at_rest.is_closed()); // so it stops
  request.answer.post(text("still"));
  const reply got = client.receive();
  EXPECT_EQ(got.body, "still");
  EXPECT_FALSE(got.keep_alive);
  stopping.get();
}

TEST(SearchServiceHttpServerTest, StopDoesNotWaitForConnectionsAtRest) {
  http_options options = any_port();
  options.grace = std::chrono::hours{1};
  options.patience = std::chrono::hours{1};
  served server{options, echo};
  http_client at_rest{server.port()};
  EXPECT_EQ(at_rest.get("/").status, 200u);
  http_client halfway{server.port()};
  halfway.send("GET / HT");

  server.http.stop();
  EXPECT_TRUE(at_rest.is_closed());
}

TEST(SearchServiceHttpServerTest, StopGivesUpWhatIsNotAnsweredInTime) {
  std::optional<http_request> late;
  {
    http_options options = any_port();
    options.grace = std::chrono::milliseconds{1};
    served server{options};
    http_client client{server.port()};
    client.send("GET / HTTP/1.1\r\n\r\n");
    late.emplace(server.take());
    server.http.stop();
    EXPECT_TRUE(client.is_closed());
  }
  late->answer.post(text("to nobody, and no harm done"));
}

TEST(SearchServiceHttpServerTest, ConnectionsAboveTheLimitAreTurnedAway) {
  http_options options = any_port();
  options.connections_max = 2;
  served server{options};
  std::vector<std::unique_ptr<http_client>> served;
  for (std::size_t n = 0; n < 2; ++n) {
    served.push_back(std::make_unique<http_client>(server.port()));
    served.back()->send("GET / HTTP/1.1\r\n\r\n");
    server.take().answer.post(text("served"));
  }
  http_client third{server.port()};
  const reply got = third.get("/");
  EXPECT_EQ(got.status, 503u);
  EXPECT_EQ(got.fields.at("retry-after"), "1");
  EXPECT_NE(got.body.find("Too many connections"), std::string::npos);
  EXPECT_TRUE(third.is_closed());
  for (const auto& client : served) {
    EXPECT_EQ(client->receive().body, "served");
  }
}

// Nobody is turned away here: further connections wait in the backlog.
TEST(SearchServiceHttpServerTest, ConnectionsAboveAllLimitsWaitTheirTurn) {
  http_options options = any_port();
  options.connections_max = 2;
  options.refusals_max = 0;
  options.rest = std::chrono::milliseconds{1};
  options.patience = std::chrono::hours{1};
  served server{options};
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<http_client>(server.port()));
    clients.back()->send("GET / HTTP/1.1\r\n\r\n");
  }
  // All are taken before one is at rest.
  http_request first = server.take();
  http_request second = server.take();
  first.answer.post(text("served"));
  second.answer.post(text("served"));
  server.take().answer.post(text("served"));
  for (const auto& client : clients) {
    EXPECT_EQ(client->receive().body, "served");
  }
}

TEST(SearchServiceHttpServerTest, ConnectionAtRestMakesRoomForAnother) {
  http_options options = any_port();
  options.connections_max = 2;
  options.refusals_max = 0;
  options.rest = std::chrono::milliseconds{1};
  options.patience = std::chrono::hours{1};
  served server{options, echo};
  http_client first{server.port()};
  EXPECT_TRUE(first.get("/").keep_alive);
  http_client second{server.port()};
  EXPECT_EQ(second.get("/").status, 200u);
  http_client third{server.port()};
  EXPECT_EQ(third.get("/").status, 200u);
  EXPECT_TRUE(first.is_closed());
}

// Goal: a flood is answered to the last request.
// Method: four hundred connections, each with twenty-five requests sent before
// the first answer is read, to a server that takes a hundred connections.
TEST(SearchServiceHttpServerTest, TenThousandRequestsAtOnceAreAnswered) {
  constexpr int connections = 400;
  constexpr int requests = 25;
  http_options options = any_port();
  options.connections_max = 100;
  options.refusals_max = 0;
  options.rest = std::chrono::hours{1}; // this is about requests, not rest
  std::atomic<int> handled{0};
  served server{options, [&](http_request request) {
                  ++handled;
                  echo(std::move(request));
                }};
  std::string burst;
  for (int i = 0; i < requests - 1; ++i) {
    burst += "GET /n HTTP/1.1\r\n\r\n";
  }
  burst += "GET /last HTTP/1.1\r\nConnection: close\r\n\r\n";
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<http_client>(server.port()));
    clients.back()->send(burst);
  }
  int answered = 0;
  for (const auto& client : clients) {
    for (int i = 0; i < requests; ++i) {
      answered += client->receive().status == 200 ? 1 : 0;
    }
  }
  EXPECT_EQ(answered, connections * requests);
  EXPECT_EQ(handled, connections * requests);
}

} // namespace
} // namespace search_service

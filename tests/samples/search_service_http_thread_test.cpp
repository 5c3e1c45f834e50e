#include "search_service/http_thread.hpp"

#include "search_service_http_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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
  request.answer.send(text(request.method + " " + request.target));
}

http_options any_port() {
  return {.port = 0};
}

// Requests that are held until the test answers them.
class held_requests {
public:
  http_thread::handler handler() {
    return [this](http_request request) {
      auto& next = slots_[arrived_++];
      next.set_value(std::move(request));
    };
  }

  // Waits for the request that arrived as the n-th.
  http_request take(std::size_t n) { return slots_[n].get_future().get(); }

private:
  std::vector<std::promise<http_request>> slots_{8};
  std::size_t arrived_ = 0; // used by the server only
};

TEST(SearchServiceHttpThreadTest, ClientGetsWhatTheHandlerSends) {
  http_thread server{any_port(), [](http_request request) {
                       request.answer.send({.status = 418,
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

TEST(SearchServiceHttpThreadTest, HandlerGetsWhatTheClientSent) {
  held_requests held;
  http_thread server{any_port(), held.handler()};
  http_client client{server.port()};
  client.send("PUT /a?b=c HTTP/1.1\r\nHost: h:1\r\nOrigin: http://o\r\n\r\n");
  http_request request = held.take(0);
  EXPECT_EQ(request.method, "PUT");
  EXPECT_EQ(request.target, "/a?b=c");
  EXPECT_EQ(request.host, "h:1");
  EXPECT_EQ(request.origin, "http://o");
}

TEST(SearchServiceHttpThreadTest, ConnectionServesOneRequestAfterAnother) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  for (int i = 0; i < 100; ++i) {
    const std::string target = "/" + std::to_string(i);
    const reply got = client.get(target);
    EXPECT_EQ(got.body, "GET " + target);
    EXPECT_TRUE(got.keep_alive);
  }
}

TEST(SearchServiceHttpThreadTest, PipelinedRequestsAreAnsweredInOrder) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  client.send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n");
  EXPECT_EQ(client.receive().body, "GET /1");
  EXPECT_EQ(client.receive().body, "GET /2");
}

TEST(SearchServiceHttpThreadTest, ClientThatWantsItClosedGetsItClosed) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  const reply got = client.request("GET", "/", "Connection: close\r\n");
  EXPECT_FALSE(got.keep_alive);
  EXPECT_TRUE(client.is_closed());
}

TEST(SearchServiceHttpThreadTest, HeadIsAnsweredWithoutItsBody) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  const reply got = client.request("HEAD", "/a");
  EXPECT_EQ(got.fields.at("content-length"), "7");
  EXPECT_TRUE(got.body.empty());
  EXPECT_EQ(client.get("/b").body, "GET /b");
}

// The client sends all of it before it reads, as most clients do.
TEST(SearchServiceHttpThreadTest, AddressOfTenMegabytesIsRefused) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  const std::string query(10 << 20, 'a');
  client.send("GET /search?q=" + query + " HTTP/1.1\r\nHost: h\r\n\r\n");
  const reply got = client.receive();
  EXPECT_EQ(got.status, 414u);
  EXPECT_NE(got.body.find("too long"), std::string::npos);
  EXPECT_FALSE(got.keep_alive);
}

TEST(SearchServiceHttpThreadTest, LongHeaderIsRefused) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  client.send("GET / HTTP/1.1\r\nCookie: " + std::string(1 << 20, 'a') +
              "\r\n\r\n");
  EXPECT_EQ(client.receive().status, 431u);
}

TEST(SearchServiceHttpThreadTest, LongBodyIsRefused) {
  http_thread server{any_port(), echo};
  http_client client{server.port()};
  client.send("POST / HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413u);
}

TEST(SearchServiceHttpThreadTest, WhatIsNoHttpIsRefused) {
  http_thread server{any_port(), echo};
  for (const char* nonsense :
       {"\x16\x03\x01\x02", "hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"}) {
    http_client client{server.port()};
    client.send(std::string{nonsense} + "\r\n\r\n");
    EXPECT_EQ(client.receive().status, 400u) << nonsense;
    EXPECT_TRUE(client.is_closed());
  }
}

TEST(SearchServiceHttpThreadTest, ClientThatLeavesHarmsNobody) {
  http_thread server{any_port(), echo};
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

TEST(SearchServiceHttpThreadTest, RequestGivenUpIsAnsweredAllTheSame) {
  http_thread server{any_port(), [](http_request) {}};
  http_client client{server.port()};
  EXPECT_EQ(client.get("/").status, 503u);
}

TEST(SearchServiceHttpThreadTest, HandlerThatThrowsCostsItsRequestOnly) {
  std::atomic<int> requests{0};
  http_thread server{any_port(), [&](http_request request) {
                       if (++requests == 1) {
                         throw std::runtime_error{"thrown on purpose"};
                       }
                       echo(std::move(request));
                     }};
  http_client client{server.port()};
  EXPECT_EQ(client.get("/").status, 503u);
  EXPECT_EQ(client.get("/").status, 200u);
}

TEST(SearchServiceHttpThreadTest, AnswersMayComeLateAndInAnyOrder) {
  held_requests held;
  http_thread server{any_port(), held.handler()};
  http_client one{server.port()};
  one.send("GET /1 HTTP/1.1\r\n\r\n");
  http_request first = held.take(0);
  http_client two{server.port()};
  two.send("GET /2 HTTP/1.1\r\n\r\n");
  http_request second = held.take(1);

  second.answer.send(text("second"));
  EXPECT_EQ(two.receive().body, "second");
  first.answer.send(text("first"));
  EXPECT_EQ(one.receive().body, "first");
}

TEST(SearchServiceHttpThreadTest, PortInUseIsSaidInASentence) {
  http_thread server{any_port(), echo};
  try {
    http_thread second{{.port = server.port()}, echo};
    FAIL() << "two servers on one port";
  } catch (const port_unavailable& error) {
    const std::string sentence = error.what();
    EXPECT_NE(sentence.find(std::to_string(server.port()) + " is in use"),
              std::string::npos);
  }
}

TEST(SearchServiceHttpThreadTest, PortIsFreeAgainAfterIt) {
  std::uint16_t port = 0;
  {
    http_thread server{any_port(), echo};
    port = server.port();
    http_client client{port};
    EXPECT_EQ(client.get("/").status, 200u);
  }
  http_thread again{{.port = port}, echo};
  http_client client{port};
  EXPECT_EQ(client.get("/").status, 200u);
}

TEST(SearchServiceHttpThreadTest, SilentConnectionIsClosed) {
  http_options options = any_port();
  options.patience = std::chrono::milliseconds{10};
  http_thread server{options, echo};
  http_client client{server.port()};
  client.send("GET / HTT");
  EXPECT_TRUE(client.is_closed());
}

TEST(SearchServiceHttpThreadTest, StopAnswersTheRequestsAtHand) {
  held_requests held;
  http_options options = any_port();
  options.grace = std::chrono::hours{1};
  http_thread server{options, held.handler()};
  http_client client{server.port()};
  client.send("GET / HTTP/1.1\r\n\r\n");
  http_request request = held.take(0);

  server.stop();
  request.answer.send(text("still"));
  const reply got = client.receive();
  EXPECT_EQ(got.body, "still");
  EXPECT_FALSE(got.keep_alive);
  server.wait();
}

TEST(SearchServiceHttpThreadTest, StopDoesNotWaitForConnectionsAtRest) {
  http_options options = any_port();
  options.grace = std::chrono::hours{1};
  options.patience = std::chrono::hours{1};
  http_thread server{options, echo};
  http_client at_rest{server.port()};
  EXPECT_EQ(at_rest.get("/").status, 200u);
  http_client halfway{server.port()};
  halfway.send("GET / HT");

  server.stop();
  server.wait();
  EXPECT_TRUE(at_rest.is_closed());
}

TEST(SearchServiceHttpThreadTest, StopGivesUpWhatIsNotAnsweredInTime) {
  held_requests held;
  std::optional<http_request> late;
  {
    http_options options = any_port();
    options.grace = std::chrono::milliseconds{1};
    http_thread server{options, held.handler()};
    http_client client{server.port()};
    client.send("GET / HTTP/1.1\r\n\r\n");
    late.emplace(held.take(0));
    server.stop();
    server.wait();
    EXPECT_TRUE(client.is_closed());
  }
  late->answer.send(text("to nobody, and no harm done"));
}

TEST(SearchServiceHttpThreadTest, SignalsStopItAndStayCaught) {
  http_options options = any_port();
  options.stops_on_signals = true;
  http_thread server{options, echo};
  std::raise(SIGTERM);
  server.wait();
  std::raise(SIGINT);
}

TEST(SearchServiceHttpThreadTest, ConnectionsAboveTheLimitAreTurnedAway) {
  held_requests held;
  http_options options = any_port();
  options.connections_max = 2;
  http_thread server{options, held.handler()};
  std::vector<std::unique_ptr<http_client>> served;
  for (std::size_t n = 0; n < 2; ++n) {
    served.push_back(std::make_unique<http_client>(server.port()));
    served.back()->send("GET / HTTP/1.1\r\n\r\n");
    held.take(n).answer.send(text("served"));
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
TEST(SearchServiceHttpThreadTest, ConnectionsAboveAllLimitsWaitTheirTurn) {
  held_requests held;
  http_options options = any_port();
  options.connections_max = 2;
  options.refusals_max = 0;
  options.rest = std::chrono::milliseconds{1};
  options.patience = std::chrono::hours{1};
  http_thread server{options, held.handler()};
  std::vector<std::unique_ptr<http_client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<http_client>(server.port()));
    clients.back()->send("GET / HTTP/1.1\r\n\r\n");
  }
  // All are taken before one is at rest.
  http_request first = held.take(0);
  http_request second = held.take(1);
  first.answer.send(text("served"));
  second.answer.send(text("served"));
  held.take(2).answer.send(text("served"));
  for (const auto& client : clients) {
    EXPECT_EQ(client->receive().body, "served");
  }
}

TEST(SearchServiceHttpThreadTest, ConnectionAtRestMakesRoomForAnother) {
  http_options options = any_port();
  options.connections_max = 2;
  options.refusals_max = 0;
  options.rest = std::chrono::milliseconds{1};
  options.patience = std::chrono::hours{1};
  http_thread server{options, echo};
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
TEST(SearchServiceHttpThreadTest, TenThousandRequestsAtOnceAreAnswered) {
  constexpr int connections = 400;
  constexpr int requests = 25;
  http_options options = any_port();
  options.connections_max = 100;
  options.refusals_max = 0;
  options.rest = std::chrono::hours{1}; // this is about requests, not rest
  std::atomic<int> handled{0};
  http_thread server{options, [&](http_request request) {
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

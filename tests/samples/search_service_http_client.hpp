#pragma once

// A client of the search service for tests: blocking, and able to send what no
// decent client would.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace search_service::test {

/// A response as it arrived.
struct reply {
  unsigned status = 0;
  std::map<std::string, std::string> fields; ///< names in lower case
  std::string body;
  bool keep_alive = false;
};

/// One connection to 127.0.0.1. What goes wrong throws std::system_error.
class http_client {
public:
  explicit http_client(std::uint16_t port);
  ~http_client();

  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// Sends bytes as they are.
  void send(std::string_view bytes);

  /// Reads the next response; `to_head` says that it has no body.
  reply receive(bool to_head = false);

  /// Sends a request without a body and reads the response. `fields` are
  /// further header lines, each with its line end.
  reply request(std::string_view method, std::string_view target,
                std::string_view fields = {});
  reply get(std::string_view target) { return request("GET", target); }

  /// Waits for the server to close the connection; false if it sends instead.
  bool is_closed();

private:
  struct connection;
  std::unique_ptr<connection> connection_;
};

} // namespace search_service::test

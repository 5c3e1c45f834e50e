#include "search_service_http_client.hpp"

#include "search_service/ascii.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

namespace search_service::test {

namespace asio = boost::asio;
namespace http = boost::beast::http;

struct http_client::connection {
  asio::io_context context;
  asio::ip::tcp::socket socket{context};
  boost::beast::flat_buffer buffer;
};

http_client::http_client(std::uint16_t port)
    : connection_{std::make_unique<connection>()} {
  connection_->socket.connect({asio::ip::address_v4::loopback(), port});
}

http_client::~http_client() = default;

void http_client::send(std::string_view bytes) {
  asio::write(connection_->socket, asio::buffer(bytes));
}

reply http_client::receive(bool to_head) {
  http::response_parser<http::string_body> parser;
  parser.body_limit(64 << 20);
  parser.skip(to_head);
  http::read(connection_->socket, connection_->buffer, parser);
  auto response = parser.release();
  reply received{response.result_int(),
                 {},
                 std::move(response.body()),
                 response.keep_alive()};
  for (const auto& field : response) {
    const std::string_view name{field.name_string()};
    received.fields[ascii_lower(name)] = std::string{field.value()};
  }
  return received;
}

reply http_client::request(std::string_view method, std::string_view target,
                           std::string_view fields) {
  std::string text{method};
  text += ' ';
  text += target;
  text += " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  text += fields;
  text += "\r\n";
  send(text);
  return receive(method == "HEAD");
}

bool http_client::is_closed() {
  char byte = 0;
  boost::system::error_code error;
  connection_->socket.read_some(asio::buffer(&byte, 1), error);
  return error == asio::error::eof || error == asio::error::connection_reset;
}

} // namespace search_service::test

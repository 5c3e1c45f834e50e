#include "loader.hpp"

#include "snippet.hpp"

#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace search_service {

namespace {

// Brings a token home at the end of a load, on every path.
class token_guard {
public:
  explicit token_guard(wharf::port<load_token>& home) : home_{home} {}
  ~token_guard() { home_.post(load_token{}); }

  token_guard(const token_guard&) = delete;
  token_guard& operator=(const token_guard&) = delete;

private:
  wharf::port<load_token>& home_;
};

// Enough to know text from binary.
constexpr std::size_t head_size = 8192;

bool has_bytes(const file_content& content) {
  return content.outcome == read_outcome::complete ||
         content.outcome == read_outcome::shrunk;
}

std::optional<document_kind> kind_of(name_verdict verdict,
                                     const file_content& content) {
  const std::string_view bytes = content.bytes;
  return judge_content(verdict, bytes.substr(0, head_size));
}

class loader : public std::enable_shared_from_this<loader> {
public:
  explicit loader(loader_options options) : options_{std::move(options)} {}

  void start(wharf::dispatcher_queue& queue, const loader_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    const auto on_file = [self](load_token, load_file work) {
      const token_guard token{self->options_.tokens};
      self->load(work);
    };
    const auto on_snippet = [self](load_token, ask_snippet ask) {
      const token_guard token{self->options_.tokens};
      self->show(ask);
    };
    activate(queue,
             interleave(
                 teardown(receive(service.get<stop>(),
                                  [self](stop s) { s.reply.post({"loader"}); }))
                     .then_close(),
                 concurrent(join(persist, options_.tokens,
                                 service.get<load_file>(), on_file),
                            join(persist, options_.tokens,
                                 service.get<ask_snippet>(), on_snippet))));
  }

private:
  void load(load_file& work) {
    try {
      if (auto outcome = try_load(work)) {
        work.claim.settle(*std::move(outcome));
      }
    } catch (const std::exception& error) {
      work.claim.settle(failed(work.path, error.what()));
    }
  }

  // What became of the file, unless it went on to its shard.
  std::optional<file_settled> try_load(load_file& work) {
    file_content content = options_.read(work.path);
    if (content.outcome == read_outcome::too_large) {
      return file_settled{.outcome = file_outcome::too_large};
    }
    if (content.outcome == read_outcome::special) {
      return file_settled{.outcome = file_outcome::special};
    }
    if (content.outcome == read_outcome::failed) {
      return failed(work.path, content.error.message());
    }
    const auto kind = kind_of(work.verdict, content);
    if (!kind) {
      return file_settled{.outcome = file_outcome::binary};
    }
    const std::string text = readable_text(*kind, std::move(content.bytes));
    document added = count_words(work.path.string(), text);
    added.shrunk = content.outcome == read_outcome::shrunk;
    const std::size_t hash = std::hash<std::string>{}(added.path);
    shard_port shard = options_.shards[hash % options_.shards.size()];
    // Refused, the message dies here, and its claim says that it was dropped.
    shard.post(merge{std::move(added), std::move(work.claim)});
    return std::nullopt;
  }

  static file_settled failed(const std::filesystem::path& path,
                             std::string_view reason) {
    return {.outcome = file_outcome::failed,
            .note = path.string() + " can't be read: " + std::string{reason}};
  }

  void show(ask_snippet& ask) {
    snippet_answer answer{ask.place, {}};
    const std::filesystem::path path{ask.path};
    file_content content = options_.read(path);
    if (has_bytes(content)) {
      const auto kind = kind_of(judge_name(path.filename().string()), content);
      if (kind) {
        const std::string text = readable_text(*kind, std::move(content.bytes));
        answer.html = to_html(make_snippet(text, *ask.words));
      }
    }
    ask.reply.post(std::move(answer));
  }

  loader_options options_;
};

} // namespace

loader_port create_loader(wharf::dispatcher_queue& queue,
                          loader_options options) {
  loader_port service;
  std::make_shared<loader>(std::move(options))->start(queue, service);
  return service;
}

} // namespace search_service

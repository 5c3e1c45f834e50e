#include "loader.hpp"

#include "shard_of.hpp"
#include "snippet.hpp"

#include <wharf/causality.hpp>
#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace search_service {

namespace {

// Brings a token home at the end of a load, on every path. The next load is
// somebody else's, so the token carries no causality there.
class token_guard {
public:
  explicit token_guard(wharf::port<load_token>& home) : home_{home} {}
  ~token_guard() {
    const wharf::causality_scope none{wharf::no_causality};
    home_.post(load_token{});
  }

  token_guard(const token_guard&) = delete;
  token_guard& operator=(const token_guard&) = delete;

private:
  wharf::port<load_token>& home_;
};

// Enough to know text from binary.
constexpr std::size_t head_size = 8192;

bool has_bytes(const file_content& content) {
  return content.outcome == read_outcome::complete ||
         content.outcome == read_outcome::unsteady;
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
      self->answer(ask);
    };
    activate(queue,
             interleave(
                 teardown(receive(service.get<stop>(),
                                  [self](stop s) { s.reply.post({"loader"}); }))
                     .then_close(),
                 concurrent(join(persist, options_.tokens,
                                 service.get<load_file>(), on_file),
                            join(persist, options_.tokens,
                                 service.get<ask_snippet>(), on_snippet),
                            receive(persist, service.get<forget_file>(),
                                    [self](forget_file gone) {
                                      self->forget(gone);
                                    }))));
  }

private:
  void load(load_file& work) {
    std::optional<file_settled> outcome;
    try {
      outcome = try_load(work);
    } catch (const std::exception& error) {
      outcome = failed(work.path, error.what());
    }
    if (!outcome) {
      return;
    }
    if (work.known) {
      take_out(work.path, *std::move(outcome), std::move(work.claim));
    } else {
      work.claim.settle(*std::move(outcome));
    }
  }

  void forget(forget_file& gone) const {
    take_out(gone.path, {.outcome = file_outcome::removed},
             std::move(gone.claim));
  }

  // Refused, a message to a shard dies here, and its claim says that it was
  // dropped.
  const shard_port& shard_for(std::string_view path) const {
    return options_.shards[shard_of(path, options_.shards.size())];
  }

  void take_out(const std::filesystem::path& path, file_settled outcome,
                file_claim claim) const {
    std::string name = path.string();
    const shard_port& shard = shard_for(name);
    shard.post(drop{std::move(name), std::move(outcome), std::move(claim)});
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
    const std::uint64_t size = content.bytes.size();
    const std::string text = readable_text(*kind, std::move(content.bytes));
    document added = count_words(work.path.string(), text);
    added.stamp = work.stamp;
    added.bytes = size;
    added.unsteady = content.outcome == read_outcome::unsteady;
    const shard_port& shard = shard_for(added.path);
    shard.post(merge{std::move(added), std::move(work.claim)});
    return std::nullopt;
  }

  static file_settled failed(const std::filesystem::path& path,
                             std::string_view reason) {
    return {.outcome = file_outcome::failed,
            .note = path.string() + " can't be read: " + std::string{reason}};
  }

  // What fails here is told to whoever watches over the search, and the reply
  // dies with the question.
  void answer(ask_snippet& ask) const {
    ask.reply.post(snippet_answer{ask.place, snippet_of(ask)});
  }

  std::string snippet_of(const ask_snippet& ask) const {
    const std::filesystem::path path{ask.path};
    file_content content = options_.read(path);
    if (!has_bytes(content)) {
      return {};
    }
    const auto kind = kind_of(judge_name(path.filename().string()), content);
    if (!kind) {
      return {};
    }
    const std::string text = readable_text(*kind, std::move(content.bytes));
    return to_html(make_snippet(text, *ask.words));
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

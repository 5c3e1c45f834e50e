#include "front.hpp"

#include "tokenizer.hpp"

#include <wharf/after.hpp>
#include <wharf/choice.hpp>
#include <wharf/gather.hpp>
#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>

#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace search_service {

namespace {

using failures = std::vector<std::exception_ptr>;

// The right to work on one search.
struct search_slot {};

// What all searches share; never changes but for what its ports hold.
struct front_state {
  front_state(wharf::dispatcher_queue& on, front_options with)
      : queue{on}, options{std::move(with)} {}

  wharf::dispatcher_queue& queue;
  front_options options;
  wharf::port<search_slot> slots{"search slots"};
};

// One search. Its handlers hold it, one after the other; with the last of them
// it ends and gives its slot back, whether it has answered or failed.
class search_run : public std::enable_shared_from_this<search_run> {
public:
  search_run(std::shared_ptr<front_state> front, search asked)
      : front_{std::move(front)}, asked_{std::move(asked)} {}
  ~search_run() { front_->slots.post(search_slot{}); }

  search_run(const search_run&) = delete;
  search_run& operator=(const search_run&) = delete;

  void start() {
    answer_.query = asked_.parameters.text;
    words_ = std::make_shared<const std::vector<std::string>>(
        query_words(answer_.query));
    if (words_->empty()) {
      finish(); // nothing but punctuation, which nothing contains
    } else {
      scatter_statistics();
    }
  }

private:
  void scatter_statistics() {
    ask_statistics::reply_port reply;
    std::vector<shard_port>& shards = front_->options.shards;
    std::size_t asked = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      asked += shards[i].post(ask_statistics{words_, i, reply}) ? 1 : 0;
    }
    using namespace wharf;
    activate(front_->queue,
             choice(gather(reply, asked,
                           [self = shared_from_this()](
                               std::vector<shard_statistics> parts, failures) {
                             self->scatter_rankings(parts);
                           }),
                    after(front_->options.step_time,
                          [self = shared_from_this(), reply]() mutable {
                            self->scatter_rankings(
                                reply.get<shard_statistics>().try_take_all());
                          })));
  }

  // A shard that was late or failed is not asked again: it would only have
  // more to do.
  void scatter_rankings(const std::vector<shard_statistics>& parts) {
    const auto statistics = std::make_shared<collection_statistics>();
    for (const shard_statistics& each : parts) {
      statistics->add(each.part);
    }
    ask_ranking::reply_port reply;
    std::size_t asked = 0;
    for (const shard_statistics& each : parts) {
      shard_port& shard = front_->options.shards[each.shard];
      asked += shard.post(ask_ranking{words_, statistics,
                                      asked_.parameters.limit, reply})
                   ? 1
                   : 0;
    }
    using namespace wharf;
    activate(front_->queue,
             choice(gather(reply, asked,
                           [self = shared_from_this()](
                               std::vector<ranking> answers, failures) {
                             self->scatter_snippets(std::move(answers));
                           }),
                    after(front_->options.step_time,
                          [self = shared_from_this(), reply]() mutable {
                            self->scatter_snippets(
                                reply.get<ranking>().try_take_all());
                          })));
  }

  void scatter_snippets(std::vector<ranking> parts) {
    answer_.partial = parts.size() < front_->options.shards.size();
    ranking all;
    for (ranking& part : parts) {
      all.add(std::move(part), asked_.parameters.limit);
    }
    answer_.total = all.total;
    for (hit& each : all.best) {
      answer_.results.push_back({std::move(each.path), each.score, {}});
    }
    wharf::port<snippet_answer> reply;
    std::size_t asked = 0;
    for (std::size_t i = 0; i < answer_.results.size(); ++i) {
      asked += front_->options.loader.post(
                   ask_snippet{answer_.results[i].path, words_, i, reply})
                   ? 1
                   : 0;
    }
    using namespace wharf;
    activate(front_->queue,
             choice(gather(reply, asked,
                           [self = shared_from_this()](
                               std::vector<snippet_answer> snippets) {
                             self->show(std::move(snippets));
                           }),
                    after(front_->options.step_time,
                          [self = shared_from_this(), reply]() mutable {
                            self->show(reply.try_take_all());
                          })));
  }

  void show(std::vector<snippet_answer> snippets) {
    for (snippet_answer& each : snippets) {
      answer_.results[each.place].snippet = std::move(each.html);
    }
    finish();
  }

  void finish() {
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - asked_.arrived;
    answer_.took_ms = took.count();
    asked_.reply.post(std::move(answer_));
  }

  std::shared_ptr<front_state> front_;
  search asked_;
  shared_words words_;
  search_answer answer_;
};

} // namespace

front_port create_front(wharf::dispatcher_queue& queue, front_options options) {
  const auto front = std::make_shared<front_state>(queue, std::move(options));
  for (std::size_t i = 0; i < front->options.searches_max; ++i) {
    front->slots.post(search_slot{});
  }
  front_port service;
  using namespace wharf;
  activate(
      queue,
      interleave(
          teardown(receive(service.get<stop>(),
                           [](stop s) { s.reply.post({"front"}); }))
              .then_close(),
          concurrent(join(
              persist, front->slots, service.get<search>(),
              [front](search_slot, search asked) {
                std::make_shared<search_run>(front, std::move(asked))->start();
              }))));
  return service;
}

} // namespace search_service

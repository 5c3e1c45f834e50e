#include "front.hpp"

#include "tokenizer.hpp"

#include <wharf/after.hpp>
#include <wharf/causality.hpp>
#include <wharf/choice.hpp>
#include <wharf/error.hpp>
#include <wharf/gather.hpp>
#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>
#include <wharf/reply.hpp>
#include <wharf/task.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

namespace search_service {

namespace {

// The right to work on one search.
struct search_slot {};

// Brings a slot home at the end of a search, on every path. The next search is
// somebody else's, so the slot carries no causality there.
class slot_guard {
public:
  explicit slot_guard(wharf::port<search_slot>& home) : home_{home} {}
  ~slot_guard() {
    const wharf::causality_scope none{wharf::no_causality};
    home_.post(search_slot{});
  }

  slot_guard(const slot_guard&) = delete;
  slot_guard& operator=(const slot_guard&) = delete;

private:
  wharf::port<search_slot>& home_;
};

// The answers to so many questions: when all are there, or what has come when
// the time is over. Throws what one failed with, a dropped one that it was.
template <class Answer>
wharf::task<std::vector<Answer>>
answers_within(std::chrono::milliseconds time,
               wharf::port_set<Answer, std::exception_ptr> reply,
               std::size_t asked) {
  using namespace wharf;
  auto which = co_await choice(gather(reply, asked), after(time));
  if (which.index() == 1) {
    co_return reply.template get<Answer>().try_take_all();
  }
  auto& [answers, failures] = std::get<0>(which);
  if (!failures.empty()) {
    std::rethrow_exception(failures.front());
  }
  co_return std::move(answers);
}

// Nothing of it changes but what its ports hold, so searches may overlap.
class front : public std::enable_shared_from_this<front> {
public:
  explicit front(front_options options) : options_{std::move(options)} {
    for (std::size_t i = 0; i < options_.searches_max; ++i) {
      slots_.post(search_slot{});
    }
  }

  void start(wharf::dispatcher_queue& queue, const front_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(queue,
             interleave(
                 teardown(receive(service.get<stop>(),
                                  [self](stop s) { s.reply.post({"front"}); }))
                     .cancelling()
                     .then_close(),
                 concurrent(join(persist, slots_, service.get<search>(),
                                 [self](search_slot, search asked) {
                                   return self->run(std::move(asked));
                                 }))));
  }

private:
  wharf::task<void> run(search asked) {
    const slot_guard slot{slots_};
    try {
      search_answer answer = co_await find(asked);
      asked.reply.post(std::move(answer));
    } catch (const wharf::unanswered&) {
      // A component stops, or has failed and told whom it concerns. So this is
      // not answered either.
    }
  }

  wharf::task<search_answer> find(const search& asked) {
    search_answer answer;
    answer.query = asked.parameters.text;
    const auto words = std::make_shared<const std::vector<std::string>>(
        query_words(answer.query));
    if (!words->empty()) { // else punctuation only, which nothing contains
      const std::size_t limit = asked.parameters.limit;
      const auto statistics = co_await scatter_statistics(words);
      auto parts = co_await scatter_rankings(words, statistics, limit);
      answer.partial = parts.size() < options_.shards.size();
      ranking all;
      for (ranking& part : parts) {
        all.add(std::move(part), limit);
      }
      answer.total = all.total;
      for (hit& each : all.best) {
        answer.results.push_back({std::move(each.path), each.score, {}});
      }
      co_await scatter_snippets(words, answer.results);
    }
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - asked.arrived;
    answer.took_ms = took.count();
    co_return answer;
  }

  // Who has stopped is not asked.
  wharf::task<std::vector<shard_statistics>>
  scatter_statistics(const shared_words& words) {
    wharf::port_set<shard_statistics, std::exception_ptr> reply;
    std::size_t asked = 0;
    for (std::size_t i = 0; i < options_.shards.size(); ++i) {
      const auto& shard = options_.shards[i].get<ask_statistics>();
      if (!shard.closed()) {
        shard.post(ask_statistics{words, i, wharf::reply{reply}});
        ++asked;
      }
    }
    co_return co_await answers_within(options_.step_time, reply, asked);
  }

  // A shard that was late is not asked again: it would only have more to do.
  wharf::task<std::vector<ranking>>
  scatter_rankings(const shared_words& words,
                   const std::vector<shard_statistics>& parts,
                   std::size_t limit) {
    const auto statistics = std::make_shared<collection_statistics>();
    for (const shard_statistics& each : parts) {
      statistics->add(each.part);
    }
    wharf::port_set<ranking, std::exception_ptr> reply;
    std::size_t asked = 0;
    for (const shard_statistics& each : parts) {
      const auto& shard = options_.shards[each.shard].get<ask_ranking>();
      if (!shard.closed()) {
        shard.post(ask_ranking{words, statistics, limit, wharf::reply{reply}});
        ++asked;
      }
    }
    co_return co_await answers_within(options_.step_time, reply, asked);
  }

  // Gives the results their snippets, as far as they come in time.
  wharf::task<void> scatter_snippets(const shared_words& words,
                                     std::vector<search_result>& results) {
    const auto& loader = options_.loader.get<ask_snippet>();
    if (loader.closed()) {
      co_return;
    }
    wharf::port_set<snippet_answer, std::exception_ptr> reply;
    for (std::size_t i = 0; i < results.size(); ++i) {
      loader.post(ask_snippet{results[i].path, words, i, wharf::reply{reply}});
    }
    auto snippets =
        co_await answers_within(options_.step_time, reply, results.size());
    for (snippet_answer& each : snippets) {
      results.at(each.place).snippet = std::move(each.html);
    }
  }

  front_options options_;
  wharf::port<search_slot> slots_{"search slots"};
};

} // namespace

front_port create_front(wharf::dispatcher_queue& queue, front_options options) {
  front_port service;
  std::make_shared<front>(std::move(options))->start(queue, service);
  return service;
}

} // namespace search_service

#include "shard.hpp"

#include "index_section.hpp"

#include <wharf/interleave.hpp>
#include <wharf/receive.hpp>

#include <utility>

namespace search_service {

namespace {

class shard : public std::enable_shared_from_this<shard> {
public:
  void start(wharf::dispatcher_queue& queue, const shard_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(queue,
             interleave(
                 teardown(receive(service.get<stop>(),
                                  [self](stop s) { s.reply.post({"shard"}); }))
                     .then_close(),
                 exclusive(receive(persist, service.get<adopt>(),
                                   [self](adopt a) {
                                     self->index_ = std::move(a.index);
                                     a.reply.post(adopted{});
                                   }),
                           receive(persist, service.get<merge>(),
                                   [self](merge m) { self->change(m); }),
                           receive(persist, service.get<drop>(),
                                   [self](drop d) { self->change(d); })),
                 concurrent(
                     receive(persist, service.get<ask_statistics>(),
                             [self](ask_statistics ask) { self->answer(ask); }),
                     receive(persist, service.get<ask_ranking>(),
                             [self](ask_ranking ask) { self->answer(ask); }),
                     receive(persist, service.get<ask_section>(),
                             [self](ask_section ask) { self->answer(ask); }))));
  }

private:
  void change(merge& m) {
    change(m.claim, m.added.path,
           {.outcome = file_outcome::indexed,
            .bytes = m.added.bytes,
            .unsteady = m.added.unsteady},
           [&] { index_.put(m.added); });
  }

  void change(drop& d) {
    change(d.claim, d.path, std::move(d.outcome),
           [&] { index_.remove(d.path); });
  }

  // Counts what a change really does, also if it fails in the middle.
  template <class Change>
  void change(file_claim& claim, const std::string& path, file_settled outcome,
              Change make) {
    const auto documents = static_cast<std::int64_t>(index_.documents());
    const auto words = static_cast<std::int64_t>(index_.words());
    try {
      make();
    } catch (const std::exception& error) {
      outcome = {.outcome = file_outcome::failed,
                 .note = path + " can't be indexed: " + error.what()};
    }
    outcome.documents =
        static_cast<std::int64_t>(index_.documents()) - documents;
    outcome.words = static_cast<std::int64_t>(index_.words()) - words;
    claim.settle(std::move(outcome));
  }

  // What fails here is told to whoever watches over the search, and its reply
  // dies with the question.
  void answer(ask_statistics& ask) const {
    ask.reply.post(shard_statistics{ask.shard, index_.statistics(*ask.words)});
  }

  void answer(ask_ranking& ask) const {
    ask.reply.post(index_.rank(*ask.words, *ask.statistics, ask.limit));
  }

  // A snapshot is nobody's request; its keeper is to know why there is none.
  void answer(ask_section& ask) const {
    try {
      ask.reply.post(section{to_section(index_)});
    } catch (...) {
      ask.reply.fail(std::current_exception());
    }
  }

  inverted_index index_;
};

} // namespace

shard_port create_shard(wharf::dispatcher_queue& queue) {
  shard_port service;
  std::make_shared<shard>()->start(queue, service);
  return service;
}

} // namespace search_service

#include "shard.hpp"

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
                 exclusive(receive(persist, service.get<merge>(),
                                   [self](merge m) { self->add(m); })),
                 concurrent(
                     receive(persist, service.get<ask_statistics>(),
                             [self](ask_statistics ask) { self->answer(ask); }),
                     receive(persist, service.get<ask_ranking>(),
                             [self](ask_ranking ask) { self->answer(ask); }))));
  }

private:
  void add(merge& m) {
    file_settled outcome{.outcome = file_outcome::indexed,
                         .words = m.added.length,
                         .shrunk = m.added.shrunk};
    try {
      index_.add(m.added);
    } catch (const std::exception& error) {
      outcome = {.outcome = file_outcome::failed,
                 .note = m.added.path + " can't be indexed: " + error.what()};
    }
    m.claim.settle(std::move(outcome));
  }

  void answer(ask_statistics& ask) const {
    try {
      ask.reply.post(
          shard_statistics{ask.shard, index_.statistics(*ask.words)});
    } catch (...) {
      ask.reply.post(std::current_exception());
      throw; // to the queue's failures, where it is counted
    }
  }

  void answer(ask_ranking& ask) const {
    try {
      ask.reply.post(index_.rank(*ask.words, *ask.statistics, ask.limit));
    } catch (...) {
      ask.reply.post(std::current_exception());
      throw; // to the queue's failures, where it is counted
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

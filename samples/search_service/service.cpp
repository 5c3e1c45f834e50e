#include "service.hpp"

#include "failure_text.hpp"
#include "snapshot_file.hpp"

#include <wharf/after.hpp>
#include <wharf/choice.hpp>
#include <wharf/gather.hpp>
#include <wharf/receive.hpp>

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace search_service {

namespace {

wharf::port<load_token> make_tokens(std::size_t count) {
  wharf::port<load_token> tokens{"load tokens"};
  for (std::size_t i = 0; i < count; ++i) {
    tokens.post(load_token{});
  }
  return tokens;
}

std::vector<std::unique_ptr<wharf::dispatcher_queue>>
make_queues(wharf::dispatcher& pool, std::size_t count) {
  std::vector<std::unique_ptr<wharf::dispatcher_queue>> queues;
  for (std::size_t i = 0; i < count; ++i) {
    queues.push_back(std::make_unique<wharf::dispatcher_queue>(
        pool, "shard " + std::to_string(i)));
  }
  return queues;
}

std::vector<shard_port>
make_shards(std::vector<std::unique_ptr<wharf::dispatcher_queue>>& queues) {
  std::vector<shard_port> shards;
  for (const auto& queue : queues) {
    shards.push_back(create_shard(*queue));
  }
  return shards;
}

// A port whose sentences go to the console.
wharf::port<std::string> make_notes(wharf::dispatcher_queue& queue,
                                    console_port console) {
  using namespace wharf;
  port<std::string> notes{"notes"};
  activate(queue, receive(persist, notes, [console](std::string note) mutable {
                    console.post({std::move(note)});
                  }).one_at_a_time());
  return notes;
}

std::size_t ask_to_stop(const auto& component,
                        const wharf::port<stopped>& reply) {
  return component.post(search_service::stop{reply}) ? 1 : 0;
}

std::size_t ask_to_stop(const std::vector<shard_port>& shards,
                        const wharf::port<stopped>& reply) {
  std::size_t asked = 0;
  for (const shard_port& shard : shards) {
    asked += ask_to_stop(shard, reply);
  }
  return asked;
}

// Stops components and waits until nothing of them runs, or so long.
void stop_all(wharf::dispatcher_queue& queue, std::chrono::milliseconds time,
              const auto&... components) {
  using namespace wharf;
  port<stopped> replies{"stopped"};
  const std::size_t asked = (ask_to_stop(components, replies) + ...);
  activate(queue, choice(gather(replies, asked, [](std::vector<stopped>) {}),
                         after(time, [] {})))
      .wait();
}

} // namespace

service::service(const service_options& options)
    : options_{options}, pool_{{.name = "search"}},
      // One more for walking, and one for the snapshot.
      loading_pool_{{.threads = options.loads + 2, .name = "load"}},
      front_queue_{pool_, "front"}, status_queue_{pool_, "status"},
      loading_queue_{loading_pool_, "loading"},
      shard_queues_{make_queues(pool_, options.shards)},
      tokens_{make_tokens(options.loads)},
      console_{create_console(status_queue_, options.console)},
      notes_{make_notes(status_queue_, console_)},
      shards_{make_shards(shard_queues_)},
      loader_{create_loader(
          loading_queue_,
          {.tokens = tokens_, .shards = shards_, .read = options.read})},
      front_{create_front(front_queue_, {.shards = shards_,
                                         .loader = loader_,
                                         .step_time = options.step_time})},
      status_{create_status(status_queue_, make_gauge(), notes_)},
      scanner_{create_scanner(loading_queue_,
                              {.loader = loader_, .status = status_})},
      web_{create_web(
          front_queue_,
          {.front = front_, .status = status_, .on_stop = stop_requests_})} {
  pool_.on_failure(status_.get<std::exception_ptr>());
  loading_pool_.on_failure(status_.get<std::exception_ptr>());
}

std::string service::restore(const std::function<bool()>& give_up) {
  if (options_.snapshot.empty()) {
    return {};
  }
  std::string said;
  bool is_ours = true;
  front_queue_.suspend(); // who asks now waits, rather than find nothing
  try {
    auto parts = read_snapshot(options_.snapshot, shards_.size(), give_up);
    if (parts) {
      said = adopt_snapshot(std::move(*parts));
    }
  } catch (const snapshot_refused& refused) {
    is_ours = !refused.foreign;
    said = std::string{refused.what()} +
           (is_ours ? "; indexing afresh."
                    : "; it is left alone, and no snapshot is written.");
  }
  front_queue_.resume();
  // One that was not read to its end must not be lost.
  if (is_ours && !give_up()) {
    keeper_ = create_keeper(loading_queue_,
                            {.file = options_.snapshot, .shards = shards_});
  }
  return said;
}

std::string service::adopt_snapshot(std::vector<inverted_index> parts) {
  using namespace wharf;
  index_restored restored;
  known_files known;
  port<adopted> replies{"adopted"};
  std::size_t asked = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    restored.documents += parts[i].documents();
    restored.words += parts[i].words();
    parts[i].for_each_document(
        [&](std::uint32_t, std::string_view path, const file_stamp& stamp,
            std::uint32_t) { known.files.emplace_back(path, stamp); });
    asked += shards_[i].post(adopt{std::move(parts[i]), replies}) ? 1 : 0;
  }
  scanner_.post(std::move(known));
  status_.post(restored);
  activate(status_queue_, gather(replies, asked, [](std::vector<adopted>) {}))
      .wait();
  return "the snapshot " + options_.snapshot.string() + " brings " +
         readable(restored.documents) + " files with " +
         readable(restored.words) + " words.";
}

void service::index(std::vector<std::filesystem::path> directories) {
  using namespace std::chrono_literals;
  if (options_.console.bar != nullptr) {
    show_progress(status_queue_, status_, console_, 200ms);
  }
  announce_end_of_indexing(status_queue_, status_, console_);
  watching_ =
      watch(loading_queue_, scanner_, std::move(directories), options_.watch);
  if (keeper_ && options_.watch) {
    saving_ = save_from_time_to_time(loading_queue_, *keeper_, status_, notes_,
                                     options_.snapshot_every);
  }
}

status_report service::stop() {
  using namespace std::chrono_literals;
  watching_.cancel();
  saving_.cancel();
  // First what changes the index, then who saves it, then who answers.
  stop_all(status_queue_, 300ms, scanner_, loader_);
  save_last_snapshot();
  stop_all(status_queue_, 300ms, web_, front_, shards_);
  const status_report last = last_report();
  console_.post({"stopped: " + in_words(last) + ", " + readable(last.dropped) +
                     " not finished",
                 console_line::kind::summary});
  pool_.drain(); // the line is printed
  return last;
}

std::vector<dispatcher_end>
service::shut_down(std::chrono::milliseconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  auto loading = loading_pool_.shutdown(within);
  auto rest = pool_.shutdown(until - std::chrono::steady_clock::now());
  return {{"load", std::move(loading)}, {"search", std::move(rest)}};
}

void service::save_last_snapshot() {
  using namespace wharf;
  using namespace std::chrono_literals;
  port_set<saved, std::exception_ptr> answer;
  if (!keeper_ || !keeper_->post(save{reply{answer}})) {
    return;
  }
  std::string said =
      "the snapshot could not be written in time; the old one stays.";
  activate(
      status_queue_,
      choice(receive(answer.get<saved>(), [&said](saved) { said.clear(); }),
             receive(answer.get<std::exception_ptr>(),
                     [&said](const std::exception_ptr& failure) {
                       said = text_of(failure);
                     }),
             after(10s, [] {})))
      .wait();
  if (!said.empty()) {
    notes_.post(std::move(said));
  }
  stop_all(status_queue_, 100ms, *keeper_);
}

// Claims settle as their messages are destroyed, so the account is complete
// when the components have ended.
status_report service::last_report() {
  using namespace wharf;
  using namespace std::chrono_literals;
  port<status_report> reports{"last report"};
  port<status_report> interim{"interim report"};
  port<std::exception_ptr> no_report; // from a status that has stopped
  status_.post(await_settled{reports});
  status_.post(ask_status{reply{interim, no_report}});
  status_report last;
  const auto keep = [&last](status_report report) { last = report; };
  activate(status_queue_,
           choice(receive(interim, keep),
                  receive(no_report, [](const std::exception_ptr&) {})))
      .wait();
  activate(status_queue_, choice(receive(reports, keep), after(300ms, [] {})))
      .wait();
  return last;
}

status_gauge service::make_gauge() const {
  return [tokens = tokens_, loads = options_.loads, loader = loader_,
          front = front_, shards = shards_](status_report& report) {
    report.loads_max = loads;
    // A stopped loader has closed the port, and runs none.
    report.running_loads =
        tokens.closed() ? 0 : loads - std::min(loads, tokens.size());
    report.waiting.files = loader.get<load_file>().size();
    report.waiting.snippets = loader.get<ask_snippet>().size();
    report.waiting.searches = front.get<search>().size();
    for (const shard_port& shard : shards) {
      report.waiting.merges += shard.get<merge>().size();
    }
  };
}

} // namespace search_service

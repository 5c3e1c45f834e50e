#include "service.hpp"

#include <wharf/after.hpp>
#include <wharf/choice.hpp>
#include <wharf/gather.hpp>
#include <wharf/receive.hpp>

#include <algorithm>
#include <string>
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

} // namespace

service::service(const service_options& options)
    : options_{options}, pool_{{.name = "search"}},
      loading_pool_{{.threads = options.loads + 1, .name = "load"}},
      front_queue_{pool_, "front"}, status_queue_{pool_, "status"},
      loading_queue_{loading_pool_, "loading"},
      shard_queues_{make_queues(pool_, options.shards)},
      tokens_{make_tokens(options.loads)},
      console_{
          create_console(status_queue_, *options.out, options.is_terminal)},
      shards_{make_shards(shard_queues_)},
      loader_{create_loader(loading_queue_,
                            {.tokens = tokens_, .shards = shards_})},
      front_{create_front(front_queue_, {.shards = shards_,
                                         .loader = loader_,
                                         .step_time = options.step_time})},
      status_{create_status(status_queue_, make_gauge(),
                            make_notes(status_queue_, console_))},
      scanner_{create_scanner(loading_queue_,
                              {.loader = loader_, .status = status_})},
      web_{create_web(
          front_queue_,
          {.front = front_, .status = status_, .on_stop = stop_requests_})} {
  pool_.on_failure(status_.get<std::exception_ptr>());
  loading_pool_.on_failure(status_.get<std::exception_ptr>());
}

void service::index(std::vector<std::filesystem::path> directories) {
  using namespace std::chrono_literals;
  report_progress(status_queue_, status_, console_,
                  options_.is_terminal ? 200ms : 2s);
  scanner_.post(scan{std::move(directories)});
}

status_report service::stop() {
  stop_components();
  const status_report last = last_report();
  console_.post({"stopped: " + in_words(last) + ", " + readable(last.dropped) +
                     " not finished",
                 console_line::kind::summary});
  pool_.drain(); // the line is printed
  return last;
}

void service::stop_components() {
  using namespace wharf;
  using namespace std::chrono_literals;
  port<stopped> replies{"stopped"};
  std::size_t asked = 0;
  const auto ask = [&](auto& component) {
    asked += component.post(search_service::stop{replies}) ? 1 : 0;
  };
  ask(scanner_);
  ask(loader_);
  ask(web_);
  ask(front_);
  for (shard_port& shard : shards_) {
    ask(shard);
  }
  activate(status_queue_,
           choice(gather(replies, asked, [](std::vector<stopped>) {}),
                  after(800ms, [] {})))
      .wait();
}

// Claims settle as their messages are destroyed, so the account is complete
// when the components have ended.
status_report service::last_report() {
  using namespace wharf;
  using namespace std::chrono_literals;
  port<status_report> reports{"last report"};
  port<status_report> interim{"interim report"};
  status_.post(await_settled{reports});
  status_.post(ask_status{interim});
  status_report last;
  const auto keep = [&last](status_report report) { last = report; };
  activate(status_queue_, receive(interim, keep)).wait();
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

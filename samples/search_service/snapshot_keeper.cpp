#include "snapshot_keeper.hpp"

#include "failure_text.hpp"
#include "index_section.hpp"
#include "snapshot_file.hpp"

#include <wharf/after.hpp>
#include <wharf/ask.hpp>
#include <wharf/error.hpp>
#include <wharf/interleave.hpp>
#include <wharf/receive.hpp>
#include <wharf/spawn.hpp>
#include <wharf/task.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace search_service {

namespace {

class keeper : public std::enable_shared_from_this<keeper> {
public:
  explicit keeper(keeper_options options) : options_{std::move(options)} {}

  void start(wharf::dispatcher_queue& queue, const keeper_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(
        queue,
        interleave(
            teardown(receive(service.get<stop>(),
                             [self](stop s) { s.reply.post({"keeper"}); }))
                .cancelling()
                .then_close(),
            exclusive(receive(persist, service.get<save>(), [self](save asked) {
              return self->answer(std::move(asked));
            }))));
  }

private:
  wharf::task<void> answer(save asked) {
    try {
      const saved done = co_await write();
      asked.reply.post(saved{done});
    } catch (const wharf::cancelled&) {
      throw;
    } catch (...) {
      asked.reply.fail(std::current_exception());
    }
  }

  wharf::task<saved> write() {
    snapshot_writer file{options_.file};
    for (const shard_port& shard : options_.shards) {
      const section part = co_await wharf::ask<ask_section>(shard);
      file.add(part.bytes);
    }
    file.commit();
    co_return saved{file.size()};
  }

  const keeper_options options_;
};

// A sentence, or nothing. Who is not answered is not going to be.
wharf::task<std::string> failure_of_saving(const keeper_port& keeper) {
  try {
    co_await wharf::ask<save>(keeper);
    co_return std::string{};
  } catch (const wharf::cancelled&) {
    throw;
  } catch (const wharf::port_closed&) {
    throw;
  } catch (const wharf::unanswered&) {
    throw;
  } catch (...) {
    co_return text_of(std::current_exception());
  }
}

wharf::task<void> keep_saving(keeper_port keeper, status_port status,
                              wharf::port<std::string> notes,
                              std::chrono::milliseconds interval) {
  std::uint64_t saved_changes = 0;
  for (;;) {
    co_await wharf::sleep_for(interval);
    const status_report now = co_await wharf::ask<ask_status>(status);
    if (now.changes == saved_changes) {
      continue;
    }
    const std::string failure = co_await failure_of_saving(keeper);
    if (failure.empty()) {
      saved_changes = now.changes;
    } else {
      notes.post(failure);
    }
  }
}

wharf::task<void> save_while_it_can(keeper_port keeper, status_port status,
                                    wharf::port<std::string> notes,
                                    std::chrono::milliseconds interval) {
  try {
    co_await keep_saving(std::move(keeper), std::move(status), std::move(notes),
                         interval);
  } catch (const wharf::port_closed&) {
    // Somebody has stopped, so this has, too.
  } catch (const wharf::unanswered&) {
    // Likewise.
  }
}

} // namespace

keeper_port create_keeper(wharf::dispatcher_queue& queue,
                          keeper_options options) {
  keeper_port service;
  std::make_shared<keeper>(std::move(options))->start(queue, service);
  return service;
}

wharf::activation save_from_time_to_time(wharf::dispatcher_queue& queue,
                                         keeper_port keeper, status_port status,
                                         wharf::port<std::string> notes,
                                         std::chrono::milliseconds interval) {
  return wharf::spawn(queue, save_while_it_can, std::move(keeper),
                      std::move(status), std::move(notes), interval);
}

std::optional<std::vector<inverted_index>>
read_snapshot(const std::filesystem::path& file, std::size_t shards,
              const std::function<bool()>& give_up) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    return std::nullopt;
  }
  std::vector<inverted_index> parts(shards);
  try {
    snapshot_reader reader{file};
    while (const auto section = reader.next()) {
      from_section(*section, parts);
      if (give_up()) {
        return std::nullopt;
      }
    }
  } catch (const snapshot_refused&) {
    throw;
  } catch (const std::exception& failure) {
    throw snapshot_refused{"the snapshot " + file.string() +
                               " can't be used: " + failure.what(),
                           false};
  }
  return parts;
}

} // namespace search_service

#include "scanner.hpp"

#include "directory_walk.hpp"
#include "document_kind.hpp"
#include "file_catalog.hpp"

#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>
#include <wharf/run_on.hpp>
#include <wharf/task.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

namespace search_service {

namespace {

namespace fs = std::filesystem;

// Of a file about which the system says nothing: it is read once, and again
// when the system says something.
constexpr file_stamp unknown_stamp{0, -1, -1};

bool is_below(std::string_view path, const std::string& directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         (directory.ends_with('/') || path[directory.size()] == '/');
}

class scanner : public std::enable_shared_from_this<scanner> {
public:
  scanner(wharf::dispatcher_queue& queue, scanner_options options)
      : queue_{queue}, options_{std::move(options)} {
    for (std::size_t i = 0; i < options_.slices_max; ++i) {
      credits_.post(slice_credit{});
    }
  }

  void start(const scanner_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(queue_,
             interleave(teardown(receive(service.get<stop>(),
                                         [self](stop s) { self->end(s); }))
                            .cancelling()
                            .then_close(),
                        exclusive(receive(persist, service.get<known_files>(),
                                          [self](known_files known) {
                                            self->remember(known);
                                          }),
                                  receive(persist, service.get<scan>(),
                                          [self](scan s) {
                                            return self->walk(std::move(s));
                                          }))));
  }

private:
  // What a slice has seen and has to hand over.
  struct harvest {
    explicit harvest(const wharf::port<slice_credit>& home)
        : ticket{std::make_shared<slice_ticket>(home)} {}

    std::shared_ptr<const slice_ticket> ticket;
    std::vector<load_file> files = {};
    std::vector<forget_file> gone = {};
    std::vector<std::string> notes = {};
  };

  // What a round has seen so far and nobody has to settle.
  struct sights {
    std::int64_t by_name = 0;
    std::int64_t special = 0;
    std::int64_t links = 0;
    /// And whether it is there, so that nobody knows what it holds.
    std::map<std::string, bool> failed_directories = {};
  };

  void remember(known_files& known) {
    for (auto& [path, stamp] : known.files) {
      catalog_.remember(std::move(path), stamp);
    }
  }

  void end(stop& asked) {
    options_.status.post(scan_ended{});
    asked.reply.post({"scanner"});
  }

  wharf::task<void> walk(scan asked) {
    directory_walk entries{std::move(asked.roots)};
    catalog_.begin_round();
    sights round;
    bool complete = true;
    for (bool more = true; more;) {
      co_await wharf::receive(credits_);
      harvest found{credits_};
      try {
        more = look_at_some(entries, round, found);
      } catch (const std::exception& error) {
        // Out of memory, most likely. What was found still counts, and nothing
        // is held to have gone.
        more = false;
        complete = false;
        found.notes.push_back(std::string{"the scan ends early: "} +
                              error.what());
      }
      // The first round is watched while it goes on; of later ones it is of
      // interest what they change.
      hand_over(found, first_round_ ? round : told_);
      co_await others_have_their_turn();
    }
    if (complete) {
      co_await sweep(round);
      first_round_ = false;
    }
    options_.status.post(scan_ended{});
    co_await all_files_settled();
    asked.reply.post(round_ended{});
  }

  // False: there is nothing more.
  bool look_at_some(directory_walk& entries, sights& round, harvest& found) {
    for (std::size_t i = 0; i < options_.slice_size; ++i) {
      const auto seen = entries.step();
      if (!seen) {
        return false;
      }
      take_down(*seen, round, found);
    }
    return true;
  }

  void take_down(const sight& seen, sights& round, harvest& found) {
    switch (seen.what) {
    case sight::kind::nothing:
      break;
    case sight::kind::file:
      claim_if_changed(seen, round, found);
      break;
    case sight::kind::link:
      ++round.links;
      break;
    case sight::kind::special:
      ++round.special;
      break;
    case sight::kind::failed:
      round.failed_directories.emplace(
          seen.path.string(),
          seen.error != std::errc::no_such_file_or_directory);
      if (!told_.failed_directories.contains(seen.path.string())) {
        found.notes.push_back(seen.path.string() +
                              " can't be looked into: " + seen.error.message());
      }
      break;
    }
  }

  void claim_if_changed(const sight& seen, sights& round, harvest& found) {
    const name_verdict verdict = judge_name(seen.path.filename().string());
    if (verdict.what == name_verdict::answer::skipped) {
      ++round.by_name;
      return;
    }
    const file_stamp stamp =
        seen.status ? stamp_of(*seen.status, options_.now()) : unknown_stamp;
    const auto what = catalog_.see(seen.path.native(), stamp);
    if (what != file_catalog::finding::same) {
      found.files.push_back({seen.path, verdict, make_claim(found), stamp,
                             what == file_catalog::finding::changed});
    }
  }

  file_claim make_claim(const harvest& found) const {
    return {options_.status.get<file_settled>(), found.ticket};
  }

  // Claims what is no longer there.
  wharf::task<void> sweep(const sights& round) {
    catalog_.begin_sweep();
    for (bool more = true; more;) {
      co_await wharf::receive(credits_);
      harvest found{credits_};
      more = catalog_.sweep(options_.slice_size, [&](const std::string& path) {
        const bool nobody_knows = std::ranges::any_of(
            round.failed_directories, [&path](const auto& directory) {
              return directory.second && is_below(path, directory.first);
            });
        if (!nobody_knows) {
          found.gone.push_back({path, make_claim(found)});
        }
        return !nobody_knows;
      });
      hand_over(found, round);
      co_await others_have_their_turn();
    }
  }

  // Found before they can be settled, in this order.
  void hand_over(harvest& found, const sights& round) {
    const auto claims =
        static_cast<std::int64_t>(found.files.size() + found.gone.size());
    const auto failed = [](const sights& s) {
      return static_cast<std::int64_t>(s.failed_directories.size());
    };
    files_found more{.by_name = round.by_name - told_.by_name,
                     .special = round.special - told_.special,
                     .links = round.links - told_.links,
                     .failed_directories = failed(round) - failed(told_),
                     .notes = std::move(found.notes)};
    more.found = claims + more.by_name + more.special + more.links;
    told_ = round;
    options_.status.post(std::move(more));
    for (load_file& file : found.files) {
      options_.loader.post(std::move(file));
    }
    for (forget_file& file : found.gone) {
      options_.loader.post(std::move(file));
    }
  }

  // Once through the queue, and once more heard whether to stop.
  wharf::task<void> others_have_their_turn() {
    co_await wharf::run_on(queue_, [] {});
  }

  wharf::task<void> all_files_settled() {
    auto all = co_await wharf::join(credits_, options_.slices_max);
    for (slice_credit& each : all) {
      credits_.post(each);
    }
  }

  wharf::dispatcher_queue& queue_;
  scanner_options options_;
  wharf::port<slice_credit> credits_{"slice credits"};
  file_catalog catalog_;
  sights told_; // what status knows
  bool first_round_ = true;
};

} // namespace

scanner_port create_scanner(wharf::dispatcher_queue& queue,
                            scanner_options options) {
  scanner_port service;
  std::make_shared<scanner>(queue, std::move(options))->start(service);
  return service;
}

} // namespace search_service

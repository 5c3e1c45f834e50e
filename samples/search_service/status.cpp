#include "status.hpp"

#include "failure_text.hpp"

#include <wharf/interleave.hpp>
#include <wharf/receive.hpp>

#include <memory>
#include <utility>

namespace search_service {

namespace {

// Unsigned numbers wrap, so this is right for a negative change, too.
void add(std::uint64_t& to, std::int64_t change) {
  to += static_cast<std::uint64_t>(change);
}

class status : public std::enable_shared_from_this<status> {
public:
  status(status_gauge gauge, wharf::port<std::string> notes)
      : gauge_{std::move(gauge)}, notes_{std::move(notes)} {}

  void start(wharf::dispatcher_queue& queue, const status_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(
        queue,
        interleave(
            teardown(receive(service.get<stop>(),
                             [self](stop s) { s.reply.post({"status"}); }))
                .then_close(),
            exclusive(receive(persist, service.get<files_found>(),
                              [self](files_found seen) { self->count(seen); }),
                      receive(persist, service.get<index_restored>(),
                              [self](index_restored r) { self->count(r); }),
                      receive(persist, service.get<file_settled>(),
                              [self](file_settled file) { self->count(file); }),
                      receive(persist, service.get<scan_ended>(),
                              [self](scan_ended) { self->end_scan(); }),
                      receive(persist, service.get<std::exception_ptr>(),
                              [self](std::exception_ptr e) { self->count(e); }),
                      receive(persist, service.get<await_settled>(),
                              [self](await_settled a) { self->wait(a); })),
            concurrent(receive(
                persist, service.get<ask_status>(),
                [self](ask_status ask) { ask.reply.post(self->report()); }))));
  }

private:
  void count(const index_restored& restored) {
    counts_.documents += restored.documents;
    counts_.words += restored.words;
  }

  void count(const files_found& seen) {
    add(counts_.found, seen.found);
    add(counts_.skipped.by_name, seen.by_name);
    add(counts_.skipped.special, seen.special);
    add(counts_.skipped.links, seen.links);
    add(counts_.failed_directories, seen.failed_directories);
    for (const std::string& note : seen.notes) {
      say(note);
    }
    tell_if_settled();
  }

  void count(const file_settled& file) {
    add(counts_.documents, file.documents);
    add(counts_.words, file.words);
    counts_.changes +=
        file.outcome == file_outcome::indexed || file.documents != 0 ? 1 : 0;
    switch (file.outcome) {
    case file_outcome::indexed:
      ++counts_.indexed;
      counts_.updated += file.documents == 0 ? 1 : 0;
      counts_.bytes += file.bytes;
      counts_.unsteady += file.unsteady ? 1 : 0;
      break;
    case file_outcome::binary:
      ++counts_.skipped.binary;
      break;
    case file_outcome::too_large:
      ++counts_.skipped.too_large;
      break;
    case file_outcome::special:
      ++counts_.skipped.special;
      break;
    case file_outcome::failed:
      ++counts_.failed;
      break;
    case file_outcome::removed:
      ++counts_.removed;
      break;
    case file_outcome::dropped:
      ++counts_.dropped;
      break;
    }
    if (!file.note.empty()) {
      say(file.note);
    }
    tell_if_settled();
  }

  void count(const std::exception_ptr& failure) {
    ++counts_.handler_failures;
    say("a handler failed: " + text_of(failure));
  }

  void end_scan() {
    scanned_ = true;
    tell_if_settled();
  }

  void wait(const await_settled& who) {
    waiting_.push_back(who);
    tell_if_settled();
  }

  void tell_if_settled() {
    counts_.indexing = !scanned_ || counts_.settled() < counts_.found;
    if (counts_.indexing) {
      return;
    }
    for (await_settled& who : std::exchange(waiting_, {})) {
      who.reply.post(report());
    }
  }

  status_report report() const {
    status_report complete = counts_;
    gauge_(complete);
    return complete;
  }

  void say(const std::string& note) {
    constexpr std::size_t notes_max = 20;
    if (said_ < notes_max) {
      notes_.post(note);
    } else if (said_ == notes_max) {
      notes_.post("further failures are counted only; see /status");
    }
    ++said_;
  }

  const status_gauge gauge_;
  wharf::port<std::string> notes_;
  status_report counts_;
  bool scanned_ = false;
  std::size_t said_ = 0;
  std::vector<await_settled> waiting_;
};

} // namespace

status_port create_status(wharf::dispatcher_queue& queue, status_gauge gauge,
                          wharf::port<std::string> notes) {
  status_port service;
  std::make_shared<status>(std::move(gauge), std::move(notes))
      ->start(queue, service);
  return service;
}

} // namespace search_service

#include "scanner.hpp"

#include "document_kind.hpp"

#include <wharf/interleave.hpp>
#include <wharf/join.hpp>
#include <wharf/receive.hpp>

#include <cerrno>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace search_service {

namespace {

namespace fs = std::filesystem;

struct next_slice {};

bool is_version_control(const fs::path& directory) {
  const fs::path name = directory.filename();
  return name == ".git" || name == ".hg" || name == ".svn";
}

class scanner : public std::enable_shared_from_this<scanner> {
public:
  explicit scanner(scanner_options options) : options_{std::move(options)} {
    for (std::size_t i = 0; i < options_.slices_max; ++i) {
      credits_.post(slice_credit{});
    }
  }

  void start(wharf::dispatcher_queue& queue, const scanner_port& service) {
    using namespace wharf;
    const auto self = shared_from_this();
    activate(queue,
             interleave(teardown(receive(service.get<stop>(),
                                         [self](stop s) { self->end(s); }))
                            .then_close(),
                        exclusive(receive(persist, service.get<scan>(),
                                          [self](scan s) { self->begin(s); }),
                                  join(persist, credits_, slices_,
                                       [self](slice_credit, next_slice) {
                                         self->walk_slice();
                                       }))));
  }

private:
  // What a slice has seen so far.
  struct harvest {
    std::shared_ptr<const slice_ticket> ticket;
    files_found seen;
    std::vector<load_file> files;
  };

  void begin(scan& asked) {
    for (fs::path& root : asked.roots) {
      waiting_.push_back(std::move(root));
    }
    if (!std::exchange(walking_, true)) {
      slices_.post(next_slice{});
    }
  }

  void end(stop& asked) {
    options_.status.post(scan_ended{});
    asked.reply.post({"scanner"});
  }

  void walk_slice() {
    harvest found{std::make_shared<slice_ticket>(credits_), {}, {}};
    bool more = true;
    try {
      for (std::size_t i = 0; more && i < options_.slice_size; ++i) {
        more = step(found);
      }
    } catch (const std::exception& error) {
      // Out of memory, most likely. What was found still counts, and whoever
      // waits for the end of the scan does not wait for ever.
      more = false;
      ++found.seen.failed_directories;
      found.seen.notes.push_back(std::string{"the scan ends early: "} +
                                 error.what());
    }
    hand_over(found);
    if (more) {
      slices_.post(next_slice{});
    } else {
      finish();
    }
  }

  void finish() {
    walking_ = false;
    current_.reset();
    waiting_.clear();
    visited_.clear();
    options_.status.post(scan_ended{});
  }

  // Found before they can be settled, in this order.
  void hand_over(harvest& found) {
    options_.status.post(std::move(found.seen));
    for (load_file& file : found.files) {
      options_.loader.post(std::move(file));
    }
  }

  // One entry, or one directory opened; false if there is nothing left.
  bool step(harvest& found) {
    if (!current_) {
      if (waiting_.empty()) {
        return false;
      }
      const fs::path directory = std::move(waiting_.back());
      waiting_.pop_back();
      open(directory, found);
      return true;
    }
    look_at(**current_, found);
    std::error_code error;
    current_->increment(error);
    if (error) {
      fail(directory_, error, found);
    }
    if (error || *current_ == fs::directory_iterator{}) {
      current_.reset();
    }
    return true;
  }

  void open(const fs::path& directory, harvest& found) {
    struct stat status{};
    if (::stat(directory.c_str(), &status) != 0) {
      fail(directory, {errno, std::generic_category()}, found);
      return;
    }
    if (!visited_.emplace(status.st_dev, status.st_ino).second) {
      return;
    }
    std::error_code error;
    fs::directory_iterator entries{directory, error};
    if (error) {
      fail(directory, error, found);
    } else if (entries != fs::directory_iterator{}) {
      current_ = std::move(entries);
      directory_ = directory;
    }
  }

  void look_at(const fs::directory_entry& entry, harvest& found) {
    std::error_code error;
    const fs::file_type type = entry.symlink_status(error).type();
    if (type == fs::file_type::directory) {
      if (!is_version_control(entry.path())) {
        waiting_.push_back(entry.path());
      }
      return;
    }
    ++found.seen.found;
    if (type == fs::file_type::symlink) {
      ++found.seen.links;
    } else if (type == fs::file_type::regular) {
      claim(entry.path(), found);
    } else if (error || type == fs::file_type::not_found) {
      // It was there a moment ago. The loader finds out, and says so.
      claim(entry.path(), found);
    } else {
      ++found.seen.special;
    }
  }

  void claim(const fs::path& file, harvest& found) {
    const name_verdict verdict = judge_name(file.filename().string());
    if (verdict.what == name_verdict::answer::skipped) {
      ++found.seen.by_name;
      return;
    }
    found.files.push_back(
        {file, verdict,
         file_claim{options_.status.get<file_settled>(), found.ticket}});
  }

  static void fail(const fs::path& directory, std::error_code error,
                   harvest& found) {
    ++found.seen.failed_directories;
    found.seen.notes.push_back(directory.string() +
                               " can't be looked into: " + error.message());
  }

  scanner_options options_;
  wharf::port<next_slice> slices_{"slices"};
  wharf::port<slice_credit> credits_{"slice credits"};
  bool walking_ = false;
  std::vector<fs::path> waiting_; // directories, the next one last
  std::optional<fs::directory_iterator> current_; // never at its end
  fs::path directory_;                            // that current_ is in
  std::set<std::pair<dev_t, ino_t>> visited_;
};

} // namespace

scanner_port create_scanner(wharf::dispatcher_queue& queue,
                            scanner_options options) {
  scanner_port service;
  std::make_shared<scanner>(std::move(options))->start(queue, service);
  return service;
}

} // namespace search_service

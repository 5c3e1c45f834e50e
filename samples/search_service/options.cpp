#include "options.hpp"

#include "duration_text.hpp"
#include "snapshot_file.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <system_error>

namespace search_service {

namespace {

// Numbers as the user wrote them, checked when all are there.
struct raw_options {
  std::vector<std::string> directories;
  long long http_port = 8080;
  long long loads = 4;
  long long shards = 4;
  std::string watch; // empty: not given, as are the following
  std::string snapshot;
  std::string snapshot_every;
};

constexpr long long loads_limit = 64;
constexpr long long shards_limit = 64;
constexpr std::chrono::milliseconds duration_min{10};

farewell bad_input(const std::string& sentence) {
  return {"search_service: " + sentence + "\n", exit_status_for_bad_input};
}

std::optional<farewell> check_range(const std::string& option, long long value,
                                    long long min, long long max) {
  if (value >= min && value <= max) {
    return std::nullopt;
  }
  return bad_input(option + " takes a whole number from " +
                   std::to_string(min) + " to " + std::to_string(max) +
                   ", not " + std::to_string(value) + ".");
}

// Reads a duration to `to`, if one was given.
template <class To>
std::optional<farewell> check_duration(const std::string& option,
                                       const std::string& text, To& to) {
  if (text.empty()) {
    return std::nullopt;
  }
  const auto duration = parse_duration(text);
  if (!duration || *duration < duration_min) {
    return bad_input(option +
                     " takes a time from 10ms to 24h, such as 500ms, 2s or "
                     "1m, not '" +
                     text + "'.");
  }
  to = *duration;
  return std::nullopt;
}

// Tries to write where the snapshot will be written.
std::optional<farewell> check_snapshot(const raw_options& raw) {
  if (!raw.snapshot_every.empty() &&
      (raw.snapshot.empty() || raw.watch.empty())) {
    return bad_input("--snapshot-every says how often a snapshot is written "
                     "while directories are watched; it takes --snapshot and "
                     "--watch.");
  }
  if (raw.snapshot.empty()) {
    return std::nullopt;
  }
  std::error_code error;
  if (std::filesystem::is_directory(raw.snapshot, error)) {
    return bad_input("the snapshot " + raw.snapshot + " is a directory.");
  }
  try {
    const snapshot_writer trial{raw.snapshot}; // never committed
  } catch (const std::system_error& failure) {
    return bad_input(std::string{failure.what()} + ".");
  }
  return std::nullopt;
}

std::optional<farewell> check_directory(const std::string& name) {
  std::error_code error;
  const auto status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) {
    const bool missing = error == std::errc::no_such_file_or_directory ||
                         error == std::errc::not_a_directory || !error;
    return bad_input(missing ? "the directory " + name + " does not exist."
                             : "the directory " + name +
                                   " can't be looked into: " + error.message() +
                                   ".");
  }
  if (!std::filesystem::is_directory(status)) {
    return bad_input(name + " is no directory.");
  }
  const std::filesystem::directory_iterator entries{name, error};
  if (error) {
    return bad_input("the directory " + name +
                     " can't be read: " + error.message() + ".");
  }
  return std::nullopt;
}

std::variant<options, farewell> checked(const raw_options& raw) {
  std::optional<farewell> wrong =
      check_range("--http", raw.http_port, 0, 65535);
  if (!wrong) {
    wrong = check_range("--loads", raw.loads, 1, loads_limit);
  }
  if (!wrong) {
    wrong = check_range("--shards", raw.shards, 1, shards_limit);
  }
  options chosen;
  if (!wrong) {
    wrong = check_duration("--watch", raw.watch, chosen.watch);
  }
  if (!wrong) {
    wrong = check_duration("--snapshot-every", raw.snapshot_every,
                           chosen.snapshot_every);
  }
  if (!wrong) {
    wrong = check_snapshot(raw);
  }
  for (const std::string& name : raw.directories) {
    if (!wrong) {
      wrong = check_directory(name);
    }
    chosen.directories.emplace_back(name);
  }
  if (wrong) {
    return *wrong;
  }
  chosen.snapshot = raw.snapshot;
  chosen.http_port = static_cast<std::uint16_t>(raw.http_port);
  chosen.loads = static_cast<std::size_t>(raw.loads);
  chosen.shards = static_cast<std::size_t>(raw.shards);
  return chosen;
}

} // namespace

std::variant<options, farewell> parse_options(int argc,
                                              const char* const argv[]) {
  CLI::App app{"Indexes the text files below some directories and answers "
               "searches over HTTP on 127.0.0.1,\nalso while it indexes. "
               "SIGINT, SIGTERM or POST /stop end it.",
               "search_service"};
  raw_options raw;
  app.add_option("DIR", raw.directories, "Directories to index")->required();
  app.add_option("--http", raw.http_port,
                 "Port to serve on; 0 takes a free one")
      ->capture_default_str();
  app.add_option("--loads", raw.loads, "Files that are read at once")
      ->capture_default_str();
  app.add_option("--shards", raw.shards, "Parts of the index")
      ->capture_default_str();
  app.add_option("--watch", raw.watch,
                 "Follow what changes below the directories: look again so "
                 "long after each look (500ms, 2s, 1m)")
      ->type_name("TIME");
  app.add_option("--snapshot", raw.snapshot,
                 "Keep the index in this file: it is read at the start and "
                 "written at the end")
      ->type_name("FILE");
  app.add_option("--snapshot-every", raw.snapshot_every,
                 "With --watch, write it so often, too, if something has "
                 "changed (default 30s)")
      ->type_name("TIME");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return farewell{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return bad_input(std::string{error.what()} +
                     "; search_service --help explains.");
  }
  return checked(raw);
}

} // namespace search_service

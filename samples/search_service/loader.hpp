#pragma once

// Owns reading files, never more than so many at once: for the index, and again
// for the snippets of an answer.

#include "document_kind.hpp"
#include "file_claim.hpp"
#include "file_reader.hpp"
#include "shard.hpp"
#include "stop.hpp"

#include <wharf/dispatcher_queue.hpp>
#include <wharf/port_set.hpp>
#include <wharf/reply.hpp>

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace search_service {

/// A file to be read, counted and merged into a shard.
struct load_file {
  std::filesystem::path path;
  name_verdict verdict; ///< what its name says
  file_claim claim;
  file_stamp stamp = {};
  bool known = false; ///< it was seen before, so it may be in the index
};

/// A file that is no longer there.
struct forget_file {
  std::filesystem::path path;
  file_claim claim;
};

/// The lines of a document that show the query's words, as HTML; nothing if the
/// file can't be read any more.
struct snippet_answer {
  std::size_t place = 0; ///< as the question had it
  std::string html;
};

/// Asks for a snippet. The index keeps no text, so the file is read again.
struct ask_snippet {
  std::string path;
  shared_words words;
  std::size_t place = 0;
  wharf::reply<snippet_answer> reply;
};

using loader_port = wharf::port_set<load_file, forget_file, ask_snippet, stop>;

/// The right to read one file. There are as many as files may be read at once.
struct load_token {};

struct loader_options {
  /// The tokens at rest. Whoever makes the loader fills it, and can see how
  /// many loads are running: those that are missing.
  wharf::port<load_token> tokens;

  /// Where documents go, each always to the shard of shard_of().
  std::vector<shard_port> shards;

  /// How a file is read.
  file_reading read = [](const std::filesystem::path& path) {
    return read_file(path);
  };
};

/// Starts the loader. A load starts when there is both a token and a file: a
/// join. Snippets are joined with the same tokens, and the two joins take
/// turns: a search waits for a few loads at most, however many files wait, and
/// however much is searched, indexing goes on. Every token goes back, whatever
/// happens to the file; a file that fails costs itself only. A file that is no
/// longer fit for the index, or no longer there, takes its document out of it.
loader_port create_loader(wharf::dispatcher_queue& queue,
                          loader_options options);

} // namespace search_service

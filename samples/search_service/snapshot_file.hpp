#pragma once

// Owns the snapshot as a file: sections of bytes that are all there or refused,
// whenever the machine or the program that wrote them stopped.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace search_service {

/// Writes a snapshot beside the old one and puts it in the old one's place in
/// one step: commit(). Until then, and if it never comes to that, the old one
/// is there. What goes wrong throws std::system_error with a sentence.
class snapshot_writer {
public:
  /// Makes the file beside it, whatever an earlier run left there.
  explicit snapshot_writer(const std::filesystem::path& file);

  /// Removes what is not committed.
  ~snapshot_writer();

  snapshot_writer(const snapshot_writer&) = delete;
  snapshot_writer& operator=(const snapshot_writer&) = delete;

  /// Writes a section and waits until the disk has it.
  void add(std::string_view section);

  /// Ends the snapshot and makes it the one that counts.
  void commit();

  std::uint64_t size() const { return size_; }

private:
  void write(std::string_view bytes);
  [[noreturn]] void fail(int error) const;

  const std::filesystem::path file_;
  const std::filesystem::path beside_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint32_t sections_ = 0;
};

/// Where a snapshot is written before it counts.
std::filesystem::path beside_snapshot(const std::filesystem::path& file);

/// A snapshot is not used; what() is a sentence for the user.
class snapshot_refused : public std::runtime_error {
public:
  snapshot_refused(const std::string& sentence, bool is_foreign)
      : std::runtime_error{sentence}, foreign{is_foreign} {}

  const bool foreign; ///< it is somebody else's file, so it is not overwritten
};

/// Reads a snapshot, a section at a time. Throws snapshot_refused; what was
/// read before that is not to be used either.
class snapshot_reader {
public:
  explicit snapshot_reader(const std::filesystem::path& file);

  /// The next section; nothing at the end of a complete snapshot.
  std::optional<std::string> next();

private:
  void read(char* to, std::size_t size);
  std::uint64_t read_number();
  [[noreturn]] void refuse(const std::string& why, bool foreign = false) const;

  const std::filesystem::path file_;
  std::uint64_t left_ = 0; // bytes
  std::uint32_t sections_ = 0;
  std::ifstream in_;
};

} // namespace search_service

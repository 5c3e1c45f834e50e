// The file: a mark, the version, and then blocks. A block is its kind, its size
// and the CRC-32 of all three, then its bytes. A section is a block; the last
// block says how many sections there are, and nothing follows it.

#include "snapshot_file.hpp"

#include <boost/crc.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace search_service {

namespace {

constexpr std::string_view mark = "wharf search snapshot\n";
constexpr std::uint64_t version = 1;

enum class block_kind : std::uint64_t { section = 1, end = 2 };

constexpr std::size_t number_size = 8;

// The lowest byte first, whatever the machine does.
std::string as_bytes(std::uint64_t number) {
  std::string bytes;
  for (std::size_t i = 0; i < number_size; ++i) {
    bytes.push_back(static_cast<char>(number >> (8 * i)));
  }
  return bytes;
}

std::uint64_t checksum(std::uint64_t kind, std::string_view bytes) {
  boost::crc_32_type crc;
  const std::string head = as_bytes(kind) + as_bytes(bytes.size());
  crc.process_bytes(head.data(), head.size());
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

std::string block_head(block_kind kind, std::string_view bytes) {
  const auto number = static_cast<std::uint64_t>(kind);
  return as_bytes(number) + as_bytes(bytes.size()) +
         as_bytes(checksum(number, bytes));
}

// Makes a change of names in a directory last.
void sync_directory(const std::filesystem::path& directory) {
  const int descriptor =
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor >= 0) {
    ::fsync(descriptor); // some file systems can't; then there is nothing to do
    ::close(descriptor);
  }
}

} // namespace

std::filesystem::path beside_snapshot(const std::filesystem::path& file) {
  std::filesystem::path beside = file;
  beside += ".part";
  return beside;
}

snapshot_writer::snapshot_writer(const std::filesystem::path& file)
    : file_{file}, beside_{beside_snapshot(file)} {
  // Made anew, so that nothing is written through a link that somebody put
  // there, and the rights are those of a new file.
  ::unlink(beside_.c_str());
  descriptor_ =
      ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    fail(errno);
  }
  write(mark);
  write(as_bytes(version));
}

snapshot_writer::~snapshot_writer() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    ::unlink(beside_.c_str());
  }
}

void snapshot_writer::add(std::string_view section) {
  write(block_head(block_kind::section, section));
  write(section);
  ++sections_;
  if (::fdatasync(descriptor_) != 0) {
    fail(errno);
  }
}

void snapshot_writer::commit() {
  const std::string count = as_bytes(sections_);
  write(block_head(block_kind::end, count));
  write(count);
  if (::fsync(descriptor_) != 0 ||
      ::rename(beside_.c_str(), file_.c_str()) != 0) {
    fail(errno);
  }
  ::close(descriptor_);
  descriptor_ = -1;
  sync_directory(file_.parent_path());
}

void snapshot_writer::write(std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void snapshot_writer::fail(int error) const {
  throw std::system_error{error, std::generic_category(),
                          "the snapshot " + file_.string() +
                              " can't be written"};
}

snapshot_reader::snapshot_reader(const std::filesystem::path& file)
    : file_{file}, in_{file, std::ios::binary} {
  std::error_code error;
  left_ = std::filesystem::file_size(file, error);
  if (error || !in_) {
    refuse("can't be read", true);
  }
  std::string begin(
      static_cast<std::size_t>(std::min<std::uint64_t>(mark.size(), left_)),
      '\0');
  read(begin.data(), begin.size());
  if (!mark.starts_with(begin)) {
    refuse("is no snapshot of this program", true);
  }
  if (begin.size() < mark.size()) {
    refuse("is cut short");
  }
  if (read_number() != version) {
    refuse("is of another version of this program");
  }
}

std::optional<std::string> snapshot_reader::next() {
  const std::uint64_t kind = read_number();
  const std::uint64_t size = read_number();
  const std::uint64_t sum = read_number();
  if (size > left_) {
    refuse("is damaged or cut short");
  }
  std::string bytes(static_cast<std::size_t>(size), '\0');
  read(bytes.data(), bytes.size());
  if (checksum(kind, bytes) != sum) {
    refuse("is damaged");
  }
  if (kind == static_cast<std::uint64_t>(block_kind::section)) {
    ++sections_;
    return bytes;
  }
  if (kind != static_cast<std::uint64_t>(block_kind::end) ||
      bytes != as_bytes(sections_) || left_ != 0) {
    refuse("is damaged");
  }
  return std::nullopt;
}

void snapshot_reader::read(char* to, std::size_t size) {
  if (size > left_) {
    refuse("is cut short");
  }
  if (!in_.read(to, static_cast<std::streamsize>(size))) {
    refuse("can't be read");
  }
  left_ -= size;
}

std::uint64_t snapshot_reader::read_number() {
  std::array<char, number_size> bytes{};
  read(bytes.data(), bytes.size());
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    number |= std::uint64_t{byte} << (8 * i);
  }
  return number;
}

void snapshot_reader::refuse(const std::string& why, bool foreign) const {
  throw snapshot_refused{"the snapshot " + file_.string() + " " + why, foreign};
}

} // namespace search_service

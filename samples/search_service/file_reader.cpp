#include "file_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace search_service {

namespace {

class descriptor {
public:
  explicit descriptor(int value) noexcept : value_{value} {}
  ~descriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }

  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;

  int get() const noexcept { return value_; }

private:
  int value_;
};

std::error_code last_error() {
  return {errno, std::generic_category()};
}

bool has_changed_since(const descriptor& file, const struct stat& before) {
  struct stat now{};
  return ::fstat(file.get(), &now) == 0 &&
         (now.st_size != before.st_size ||
          now.st_mtim.tv_sec != before.st_mtim.tv_sec ||
          now.st_mtim.tv_nsec != before.st_mtim.tv_nsec);
}

file_content without_bytes(read_outcome outcome, std::error_code error = {}) {
  return {outcome, {}, error};
}

} // namespace

file_content read_steps(std::uintmax_t expected, std::size_t size_max,
                        const read_step& step) {
  if (expected > size_max) {
    return without_bytes(read_outcome::too_large);
  }
  file_content content;
  std::string& bytes = content.bytes;
  // One byte more than announced, so that one more step sees the end.
  bytes.resize(static_cast<std::size_t>(expected) + 1);
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) {
      bytes.resize(std::min(size * 2 + 4096, size_max + 1));
    }
    std::error_code error;
    const std::ptrdiff_t got =
        step(bytes.data() + size, bytes.size() - size, error);
    if (got < 0) {
      return without_bytes(read_outcome::failed, error);
    }
    if (got == 0) {
      break;
    }
    size += static_cast<std::size_t>(got);
    if (size > size_max) {
      return without_bytes(read_outcome::too_large);
    }
  }
  bytes.resize(size);
  if (size < expected) {
    content.outcome = read_outcome::unsteady;
  }
  return content;
}

file_content read_file(const std::filesystem::path& path,
                       std::size_t size_max) {
  // Not blocking: opening a pipe that nobody writes to would wait for ever.
  const descriptor file{
      ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)};
  if (file.get() < 0) {
    return without_bytes(read_outcome::failed, last_error());
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) {
    return without_bytes(read_outcome::failed, last_error());
  }
  if (!S_ISREG(status.st_mode)) {
    return without_bytes(read_outcome::special);
  }
  const auto step = [&file](char* to, std::size_t size,
                            std::error_code& error) {
    ssize_t got = -1;
    do {
      got = ::read(file.get(), to, size);
    } while (got < 0 && errno == EINTR);
    if (got < 0) {
      error = last_error();
    }
    return static_cast<std::ptrdiff_t>(got);
  };
  file_content content =
      read_steps(static_cast<std::uintmax_t>(status.st_size), size_max, step);
  if (content.outcome == read_outcome::complete &&
      has_changed_since(file, status)) {
    content.outcome = read_outcome::unsteady;
  }
  return content;
}

} // namespace search_service

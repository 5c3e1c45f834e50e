#pragma once

// What the tests of the search service share: files that come and go with a
// test.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace search_service::test {

/// A directory of its own for one test, removed with all that it holds.
class scratch_directory {
public:
  scratch_directory() {
    std::string name =
        (std::filesystem::temp_directory_path() / "search_service_XXXXXX")
            .string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error{"no scratch directory: " + name};
    }
    path_ = name;
  }

  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file below the directory, and the directories that it needs.
  std::filesystem::path write(std::string_view name,
                              std::string_view bytes) const {
    const std::filesystem::path path = path_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out{path, std::ios::binary};
    out << bytes;
    if (!out.flush()) {
      throw std::runtime_error{"can't write " + path.string()};
    }
    return path;
  }

private:
  std::filesystem::path path_;
};

} // namespace search_service::test

#include "file_catalog.hpp"

namespace search_service {

file_catalog::finding file_catalog::see(std::string_view path,
                                        const file_stamp& stamp) {
  const auto known = files_.find(path);
  if (known == files_.end()) {
    files_.emplace(path, entry{stamp, round_});
    return finding::added;
  }
  entry& file = known->second;
  file.round = round_;
  if (!has_changed(file.stamp, stamp)) {
    return finding::same;
  }
  file.stamp = stamp;
  return finding::changed;
}

} // namespace search_service

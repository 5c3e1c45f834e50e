// node_pool.cpp -- batches of nodes between threads.
//
// Each thread keeps a few free nodes per size. When it has too many it hands
// one batch to the shared store, when it has none it takes one: the lock is
// touched once in `batch_nodes` nodes. The store is bounded; beyond it nodes
// go back to the system. Under AddressSanitizer nothing is cached, since a
// cache hides uses after the end.

#include <wharf/detail/node_pool.hpp>

#include <wharf/detail/sync.hpp>

#include <array>
#include <cstdint>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define WHARF_NO_NODE_CACHE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WHARF_NO_NODE_CACHE 1
#endif
#endif

namespace wharf::inline v1::detail {
namespace {

#if !defined(WHARF_NO_NODE_CACHE)

constexpr std::size_t size_step = 8;
constexpr std::size_t size_classes = 12; // up to 96 bytes: 80 of payload
constexpr std::uint32_t batch_nodes = 32;
constexpr std::size_t store_bytes_max = 128 * 1024; // per size class

struct free_node {
  free_node* next;
  free_node* next_batch; // valid in the first node of a stored batch
};

constexpr std::size_t class_of(std::size_t bytes) noexcept {
  return (bytes + size_step - 1) / size_step - 1;
}
constexpr std::size_t class_bytes(std::size_t index) noexcept {
  return (index + 1) * size_step;
}

void free_all(free_node* node) noexcept {
  while (node != nullptr) {
    ::operator delete(std::exchange(node, node->next));
  }
}

/// Full batches that no thread holds, for one size.
class batch_store {
public:
  free_node* take() noexcept {
    lock_guard lock{mutex_};
    free_node* batch = batches_;
    if (batch != nullptr) {
      batches_ = batch->next_batch;
      --count_;
    }
    return batch;
  }

  /// False: the store is full and the batch still the caller's.
  bool give(free_node* batch, std::size_t bytes) noexcept {
    lock_guard lock{mutex_};
    if ((count_ + 1) * batch_nodes * bytes > store_bytes_max) {
      return false;
    }
    batch->next_batch = batches_;
    batches_ = batch;
    ++count_;
    return true;
  }

private:
  mutex mutex_;
  free_node* batches_ WHARF_GUARDED_BY(mutex_) = nullptr;
  std::size_t count_ WHARF_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: threads may release nodes while the process ends. The
// nodes in it stay reachable, so they are no leak.
std::array<batch_store, size_classes>& stores() noexcept {
  alignas(64) static std::byte
      memory[sizeof(std::array<batch_store, size_classes>)];
  static auto* const all = new (memory) std::array<batch_store, size_classes>;
  return *all;
}

/// One thread's free nodes of one size: a batch in use and a full one behind
/// it, so that a thread at the border does not bounce on the store.
struct cache_line {
  free_node* nodes;
  free_node* full;
  std::uint32_t count; // of `nodes`
};

struct thread_cache {
  std::array<cache_line, size_classes> lines;
  bool watched; // a cleaner of this thread will empty the cache
  bool closed;  // the cleaner has run: cache nothing more
};

constinit thread_local thread_cache cache{};

/// Empties the cache when its thread ends.
struct cache_cleaner {
  ~cache_cleaner() {
    cache.closed = true;
    for (cache_line& line : cache.lines) {
      free_all(std::exchange(line.nodes, nullptr));
      free_all(std::exchange(line.full, nullptr));
      line.count = 0;
    }
  }
};

void watch() {
  thread_local cache_cleaner cleaner;
  static_cast<void>(&cleaner);
  cache.watched = true;
}

void* refill(std::size_t index) {
  cache_line& line = cache.lines[index];
  if (line.full != nullptr) {
    line.nodes = std::exchange(line.full, nullptr);
  } else {
    line.nodes = stores()[index].take();
    if (line.nodes == nullptr) {
      return ::operator new(class_bytes(index));
    }
  }
  line.count = batch_nodes - 1;
  free_node* node = line.nodes;
  line.nodes = node->next;
  return node;
}

void spill(std::size_t index) noexcept {
  cache_line& line = cache.lines[index];
  if (line.full != nullptr &&
      !stores()[index].give(line.full, class_bytes(index))) {
    free_all(line.full);
  }
  line.full = std::exchange(line.nodes, nullptr);
  line.count = 0;
}

#endif

} // namespace

void* node_allocate(std::size_t bytes) {
#if !defined(WHARF_NO_NODE_CACHE)
  const std::size_t index = class_of(bytes);
  if (index < size_classes) {
    cache_line& line = cache.lines[index];
    if (free_node* node = line.nodes; node != nullptr) {
      line.nodes = node->next;
      --line.count;
      return node;
    }
    return refill(index);
  }
#endif
  return ::operator new(bytes);
}

void node_release(void* memory, std::size_t bytes) noexcept {
#if !defined(WHARF_NO_NODE_CACHE)
  const std::size_t index = class_of(bytes);
  if (index < size_classes && !cache.closed) {
    if (!cache.watched) {
      watch();
    }
    cache_line& line = cache.lines[index];
    auto* node = static_cast<free_node*>(memory);
    node->next = line.nodes;
    line.nodes = node;
    if (++line.count == batch_nodes) {
      spill(index);
    }
    return;
  }
#endif
  static_cast<void>(bytes);
  ::operator delete(memory);
}

} // namespace wharf::inline v1::detail

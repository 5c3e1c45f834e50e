// node_pool.cpp -- batches of nodes between threads.
//
// Nodes are messages, in steps of 8 bytes, and the frames of coroutines, in
// steps of 64.
// Each thread keeps a few free nodes per size. When it has too many it hands
// one batch to the shared store, when it has none it takes one: the lock is
// touched once in `batch_nodes` nodes. Fresh nodes are cut from blocks, so that
// messages that were posted in a row lie in a row. The store is bounded; nodes
// beyond that are retired, and a block whose nodes are all retired goes back
// to the system. Under AddressSanitizer nothing is cached, since a cache hides
// uses after the end.

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

constexpr std::size_t small_step = 8;
constexpr std::size_t small_classes = 12; // up to 96 bytes: 72 of payload
constexpr std::size_t small_max = small_step * small_classes;
constexpr std::size_t large_step = 64;
constexpr std::size_t large_classes = 15; // from 128 to 1024
constexpr std::size_t size_classes = small_classes + large_classes;
// Per size class. Each node that is kept may keep its whole block.
constexpr std::size_t store_bytes_max = 16 * 1024;

struct free_node {
  free_node* next;
  free_node* next_batch; // valid in the first node of a stored batch
};

constexpr std::size_t class_of(std::size_t bytes) noexcept {
  return bytes <= small_max
             ? (bytes + small_step - 1) / small_step - 1
             : small_classes + (bytes - large_step - 1) / large_step;
}
constexpr std::size_t class_bytes(std::size_t index) noexcept {
  return index < small_classes ? (index + 1) * small_step
                               : (index - small_classes + 2) * large_step;
}
static_assert(class_bytes(class_of(small_max)) == small_max);
static_assert(class_bytes(class_of(small_max + 1)) == 128);
static_assert(class_bytes(class_of(128)) == 128);
static_assert(class_bytes(class_of(129)) == 192);
static_assert(class_of(1024) == size_classes - 1);
static_assert(class_of(1025) == size_classes);

/// How many nodes travel between threads at once: some KiB at most.
constexpr std::uint32_t batch_nodes(std::size_t index) noexcept {
  return index < small_classes
             ? 32
             : static_cast<std::uint32_t>(4096 / class_bytes(index));
}

/// Memory that nodes of one size are cut from.
struct alignas(64) node_block {
  atomic<std::size_t> unretired; // nodes, cut or not, that are not retired
};
constexpr std::size_t block_bytes = 8192; // also its alignment

node_block& block_of(void* node) noexcept {
  return *reinterpret_cast<node_block*>(reinterpret_cast<std::uintptr_t>(node) &
                                        ~(block_bytes - 1));
}

std::size_t block_capacity(std::size_t node_bytes) noexcept {
  return (block_bytes - sizeof(node_block)) / node_bytes;
}

void retire(node_block& block, std::size_t nodes) noexcept {
  // acq_rel: the last one sees all uses of the nodes before it frees them.
  if (nodes != 0 &&
      block.unretired.fetch_sub(nodes, memory_order_acq_rel) == nodes) {
    block.~node_block();
    ::operator delete(&block, std::align_val_t{block_bytes});
  }
}

/// Retires a list, neighbours of one block together.
void retire_all(free_node* node) noexcept {
  node_block* block = nullptr;
  std::size_t nodes = 0;
  while (node != nullptr) {
    free_node* const next = node->next;
    node_block& its = block_of(node);
    if (&its != block) {
      if (block != nullptr) {
        retire(*block, nodes);
      }
      block = &its;
      nodes = 0;
    }
    ++nodes;
    node = next;
  }
  if (block != nullptr) {
    retire(*block, nodes);
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
  bool give(free_node* batch, std::size_t index) noexcept {
    lock_guard lock{mutex_};
    if ((count_ + 1) * batch_nodes(index) * class_bytes(index) >
        store_bytes_max) {
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
  std::byte* uncut;    // the rest of a block
  std::uint32_t count; // of `nodes`
  std::uint32_t uncut_count;
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
      retire_all(std::exchange(line.nodes, nullptr));
      retire_all(std::exchange(line.full, nullptr));
      if (line.uncut_count != 0) {
        retire(block_of(line.uncut), line.uncut_count);
      }
      line = {};
    }
  }
};

void watch() {
  thread_local cache_cleaner cleaner;
  static_cast<void>(&cleaner);
  cache.watched = true;
}

void* cut(std::size_t index, cache_line& line) {
  const std::size_t bytes = class_bytes(index);
  if (line.uncut_count == 0) {
    void* memory = ::operator new(block_bytes, std::align_val_t{block_bytes});
    const std::size_t capacity = block_capacity(bytes);
    auto* block = new (memory) node_block{{capacity}};
    line.uncut = reinterpret_cast<std::byte*>(block + 1);
    line.uncut_count = static_cast<std::uint32_t>(capacity);
  }
  --line.uncut_count;
  return std::exchange(line.uncut, line.uncut + bytes);
}

void* refill(std::size_t index) {
  if (cache.closed) {
    // The thread is ending: a block for one node, which its release retires.
    cache_line line{};
    void* node = cut(index, line);
    retire(block_of(node), line.uncut_count);
    return node;
  }
  if (!cache.watched) {
    watch();
  }
  cache_line& line = cache.lines[index];
  if (line.full != nullptr) {
    line.nodes = std::exchange(line.full, nullptr);
  } else {
    line.nodes = stores()[index].take();
    if (line.nodes == nullptr) {
      return cut(index, line);
    }
  }
  line.count = batch_nodes(index) - 1;
  free_node* node = line.nodes;
  line.nodes = node->next;
  return node;
}

void spill(std::size_t index) noexcept {
  cache_line& line = cache.lines[index];
  if (line.full != nullptr && !stores()[index].give(line.full, index)) {
    retire_all(line.full);
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
  if (index < size_classes) {
    auto* node = static_cast<free_node*>(memory);
    if (cache.closed) {
      retire(block_of(node), 1);
      return;
    }
    if (!cache.watched) {
      watch();
    }
    cache_line& line = cache.lines[index];
    node->next = line.nodes;
    line.nodes = node;
    if (++line.count == batch_nodes(index)) {
      spill(index);
    }
    return;
  }
#endif
  static_cast<void>(bytes);
  ::operator delete(memory);
}

} // namespace wharf::inline v1::detail

// Replaces operator new and delete for the whole executable; the forms for
// arrays call these. Those that do not throw are replaced too: a sanitizer's
// own ones would not go through the throwing ones.

#include "allocation_count.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t rounded_up(std::size_t size, std::align_val_t to) {
  const auto step = static_cast<std::size_t>(to);
  return (size + step - 1) / step * step;
}

constinit std::atomic<std::ptrdiff_t> bytes{0};
constinit std::atomic<std::size_t> calls{0};

void* counted(void* memory) {
  if (memory == nullptr) {
    throw std::bad_alloc{};
  }
  calls.fetch_add(1, std::memory_order_relaxed);
  bytes.fetch_add(static_cast<std::ptrdiff_t>(::malloc_usable_size(memory)),
                  std::memory_order_relaxed);
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) {
    bytes.fetch_sub(static_cast<std::ptrdiff_t>(::malloc_usable_size(memory)),
                    std::memory_order_relaxed);
    std::free(memory);
  }
}

} // namespace

void* operator new(std::size_t size) {
  return counted(std::malloc(size != 0 ? size : 1));
}
void* operator new(std::size_t size, std::align_val_t to) {
  return counted(
      std::aligned_alloc(static_cast<std::size_t>(to), rounded_up(size, to)));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (...) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace wharf::test {

std::ptrdiff_t live_bytes() noexcept {
  return bytes.load(std::memory_order_relaxed);
}

std::size_t allocations() noexcept {
  return calls.load(std::memory_order_relaxed);
}

} // namespace wharf::test

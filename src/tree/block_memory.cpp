#include "tree/block_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kPageBytes = std::size_t{2} << 20;  // of a large page

[[noreturn]] void throw_no_memory() { throw Error(ErrorCode::kResource, "search: no memory left for nodes"); }

std::byte* round_up(std::byte* address, std::size_t unit) {
  return address + (unit - reinterpret_cast<std::uintptr_t>(address) % unit) % unit;
}

// Reserves addresses for that many bytes, starting at a large page. No memory is behind them yet.
std::byte* reserve(std::size_t num_bytes) {
  void* const mapped =
      mmap(nullptr, num_bytes + kPageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw_no_memory();
  auto* const start = static_cast<std::byte*>(mapped);
  std::byte* const rounded = round_up(start, kPageBytes);
  if (rounded != start) munmap(start, static_cast<std::size_t>(rounded - start));
  munmap(rounded + num_bytes, static_cast<std::size_t>(start + kPageBytes - rounded));
  return rounded;
}

}  // namespace

void BlockMemory::Release::operator()(std::byte* memory) const {
  if (num_mapped > 0) {
    munmap(memory, num_mapped);
  } else {
    std::free(memory);
  }
}

void BlockMemory::grow(std::size_t num_bytes) {
  if (num_bytes <= num_bytes_) return;
  if (num_bytes < kLargeBytes || !uses_large_pages_) {
    reallocate(num_bytes);
  } else {
    map((num_bytes + kPageBytes - 1) / kPageBytes * kPageBytes);
  }
}

void BlockMemory::reallocate(std::size_t num_bytes) {
  const std::ptrdiff_t offset = begin_ - memory_.get();
  auto* const moved = static_cast<std::byte*>(std::realloc(memory_.get(), num_bytes + kLineBytes));
  if (moved == nullptr) throw_no_memory();
  static_cast<void>(memory_.release());
  memory_.reset(moved);
  begin_ = round_up(moved, kLineBytes);
  if (begin_ != moved + offset) std::memmove(begin_, moved + offset, num_bytes_);
  num_bytes_ = num_bytes;
}

void BlockMemory::map(std::size_t num_bytes) {
  if (memory_.get_deleter().num_mapped > 0) {
    extend(memory_, num_bytes);
  } else {
    Owner pages(nullptr, Release{0});
    extend(pages, num_bytes);
    if (num_bytes_ > 0) std::memcpy(pages.get(), begin_, num_bytes_);
    memory_ = std::move(pages);
  }
  begin_ = memory_.get();
  num_bytes_ = num_bytes;
}

// Gives `pages` at least that many bytes. Large pages are requested, but the system may have none. Existing pages are
// moved without copying their contents.
void BlockMemory::extend(Owner& pages, std::size_t num_bytes) {
  const std::size_t num_before = pages.get_deleter().num_mapped;
  if (num_bytes <= num_before) return;
  std::byte* const place = reserve(num_bytes);
  const void* const mapped =
      num_before > 0 ? mremap(pages.get(), num_before, num_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place)
                     : mmap(place, num_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (mapped == MAP_FAILED) throw_no_memory();  // `place` may belong to others by now, so it is not given back
  madvise(place, num_bytes, MADV_HUGEPAGE);     // small pages are used if there are no large ones
  static_cast<void>(pages.release());
  pages = Owner(place, Release{num_bytes});
}

}  // namespace treesample

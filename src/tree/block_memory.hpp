// Memory for an array of blocks. It grows, keeps its contents and begins at a cache line. On request, a large array
// uses large pages if the system has them: a search visits nodes all over the array, and with small pages it also waits
// for the translation of their addresses.
#pragma once

#include <cstddef>
#include <memory>

namespace treesample {

class BlockMemory {
 public:
  explicit BlockMemory(bool uses_large_pages) : uses_large_pages_(uses_large_pages) {}

  [[nodiscard]] std::byte* begin() const { return begin_; }
  [[nodiscard]] std::size_t num_bytes() const { return num_bytes_; }

  // Grows to at least that many bytes, and may move. Throws kResource, and changes nothing, if memory is short.
  void grow(std::size_t num_bytes);

  // An array of at least this size uses large pages.
  static constexpr std::size_t kLargeBytes = std::size_t{16} << 20;

 private:
  struct Release {
    std::size_t num_mapped;  // bytes; 0: from malloc
    void operator()(std::byte* memory) const;
  };
  using Owner = std::unique_ptr<std::byte, Release>;

  void reallocate(std::size_t num_bytes);
  void map(std::size_t num_bytes);
  static void extend(Owner& pages, std::size_t num_bytes);

  bool uses_large_pages_;
  Owner memory_{nullptr, Release{0}};
  std::byte* begin_ = nullptr;
  std::size_t num_bytes_ = 0;
};

}  // namespace treesample

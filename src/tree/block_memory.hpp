// Memory for an array of blocks: it grows, keeps what it holds and begins at a line of the cache. If so told it is in
// large pages once it is large, where the system has them: a search comes to nodes all over it, and with small pages
// waits for their addresses too.
#pragma once

#include <cstddef>
#include <memory>

namespace treesample {

class BlockMemory {
 public:
  explicit BlockMemory(bool uses_large_pages) : uses_large_pages_(uses_large_pages) {}

  [[nodiscard]] std::byte* begin() const { return begin_; }
  [[nodiscard]] std::size_t num_bytes() const { return num_bytes_; }

  // At least that many bytes, at another place perhaps. Throws kResource, and leaves all as it was, where there is no
  // memory left.
  void grow(std::size_t num_bytes);

  // From that many bytes on it uses large pages.
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

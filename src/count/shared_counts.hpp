// What several searches of one problem tell each other: counts of components, and which variable they decide in one.
//
// A count found beside components that are not yet searched may be too small, if one of these turns out to be
// impossible (docs/methods/zeros.md, section 4); a search keeps such counts to itself, and hands them over when it
// knows that everything beside them is possible. So a count that is here holds for everybody, whatever the others do.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "count/component_cache.hpp"
#include "count/exact_counts.hpp"

namespace treesample {

class SharedCounts {
 public:
  // `kind`: of the exact sums.
  SharedCounts(std::uint64_t memory_limit_bytes, const ExactCounts& kind);

  // Calls use(count, sums) for the count of a key that is there: the number of its exact sum is one of `sums`.
  template <typename Use>
  bool find(std::string_view key, std::uint64_t hash, const Use& use) {
    Part& part = part_of(hash);
    const std::lock_guard lock(part.mutex);
    const CachedCount* const count = part.cache->find(key, hash);
    if (count != nullptr) use(*count, *part.sums);
    return count != nullptr;
  }
  // Its exact sum is moved from `from`.
  void store(std::string_view key, std::uint64_t hash, const CachedCount& count, ExactCounts& from);

  // The variable that another search decided in the component with this hash, or -1. Two components may have the same
  // hash, so it may be a variable of another one. Searches that decide the same variables meet the same components.
  [[nodiscard]] int agreed_variable(std::uint64_t hash) const;
  void agree(std::uint64_t hash, int variable);

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::int64_t num_evicted() const;

 private:
  static constexpr std::size_t kParts = 64;
  static constexpr std::size_t kAgreements = std::size_t{1} << 16;
  struct Part {
    mutable std::mutex mutex;
    std::unique_ptr<ExactCounts> sums;
    std::unique_ptr<ComponentCache> cache;
  };
  // By other bits than those that the caches use for their chains.
  [[nodiscard]] Part& part_of(std::uint64_t hash) { return parts_[(hash >> 58) % kParts]; }

  std::array<Part, kParts> parts_;
  std::vector<std::atomic<std::uint64_t>> agreements_;  // by hash: its upper half, and the variable + 1
};

}  // namespace treesample

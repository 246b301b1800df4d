#include "count/shared_counts.hpp"

#include <algorithm>

namespace treesample {

SharedCounts::SharedCounts(std::uint64_t memory_limit_bytes, const ExactCounts& kind) : agreements_(kAgreements) {
  for (Part& part : parts_) {
    part.sums = kind.make_empty();
    part.cache = std::make_unique<ComponentCache>(memory_limit_bytes / kParts, part.sums.get());
  }
}

void SharedCounts::store(std::string_view key, std::uint64_t hash, const CachedCount& count, ExactCounts& from) {
  Part& part = part_of(hash);
  const std::lock_guard lock(part.mutex);
  if (part.cache->find(key, hash) != nullptr) return;  // another search was faster
  const CachedCount moved{count.count, part.sums->take_from(from, count.node)};
  if (!part.cache->store(key, hash, moved)) part.sums->forget(moved.node);
}

int SharedCounts::agreed_variable(std::uint64_t hash) const {
  const std::uint64_t word = agreements_[hash % kAgreements].load(std::memory_order_relaxed);
  return word >> 32 == hash >> 32 ? static_cast<int>(word & UINT32_MAX) - 1 : -1;
}

void SharedCounts::agree(std::uint64_t hash, int variable) {
  const std::uint64_t word = (hash >> 32 << 32) | (static_cast<std::uint64_t>(variable) + 1);
  agreements_[hash % kAgreements].store(word, std::memory_order_relaxed);
}

std::uint64_t SharedCounts::bytes() const {
  std::uint64_t bytes = agreements_.size() * sizeof(std::uint64_t);
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    bytes += part.cache->bytes() + part.sums->bytes();
  }
  return bytes;
}

std::int64_t SharedCounts::num_evicted() const {
  std::int64_t count = 0;
  for (const Part& part : parts_) {
    const std::lock_guard lock(part.mutex);
    count += part.cache->num_evicted();
  }
  return count;
}

}  // namespace treesample

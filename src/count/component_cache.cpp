#include "count/component_cache.hpp"

#include <algorithm>
#include <cstring>

#include "math/hash.hpp"

namespace treesample {

ComponentCache::ComponentCache(std::uint64_t memory_limit_bytes, ExactCounts* exact)
    : memory_limit_bytes_(memory_limit_bytes), exact_(exact) {
  constexpr std::size_t kFirstSize = 1024;
  chains_.assign(kFirstSize, kNone);
  bytes_ = chains_.size() * sizeof(std::uint32_t);
}

std::uint64_t ComponentCache::hash(std::string_view key) {
  std::uint64_t hash = key.size();
  while (!key.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(key.size(), sizeof(word));
    std::memcpy(&word, key.data(), size);
    hash = mixed(hash, word);
    key.remove_prefix(size);
  }
  return hash;
}

const CachedCount* ComponentCache::find(std::string_view key, std::uint64_t hash) {
  ++now_used_;
  for (std::uint32_t i = chains_[hash & (chains_.size() - 1)]; i != kNone; i = entries_[i].next) {
    Entry& entry = entries_[i];
    if (entry.hash != hash || std::string_view(entry.key.get(), entry.key_size) != key) continue;
    entry.used = now_used_;
    return &entry.count;
  }
  return nullptr;
}

bool ComponentCache::store(std::string_view key, std::uint64_t hash, const CachedCount& count) {
  // The memory of an entry, and of its places in the chains and in the journal.
  const std::uint64_t bytes = key.size() + kAllocation;
  constexpr std::uint64_t kFixed = 2 * (sizeof(Entry) + 2 * sizeof(std::uint32_t) + sizeof(Stored));
  if (bytes_ + bytes + kFixed > memory_limit_bytes_) make_room();
  if (bytes_ + bytes + kFixed > memory_limit_bytes_ || key.size() >= UINT32_MAX) return false;
  std::uint32_t index = 0;
  if (free_.empty()) {
    index = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
    bytes_ += kFixed;  // a vector may take up to twice the size of its contents
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[index];
  entry.key = std::make_unique_for_overwrite<char[]>(key.size());
  std::memcpy(entry.key.get(), key.data(), key.size());
  entry.key_size = static_cast<std::uint32_t>(key.size());
  entry.hash = hash;
  entry.count = count;
  entry.used = now_used_;
  entry.stored = ++now_stored_;
  std::uint32_t& chain = chains_[hash & (chains_.size() - 1)];
  entry.next = chain;
  chain = index;
  bytes_ += bytes;
  journal_.push_back({now_stored_, index});
  if (++num_entries_ > chains_.size()) grow_table();
  if (journal_.size() > 2 * num_entries_ + 1024) compact_journal();
  return true;
}

void ComponentCache::take_back(std::uint64_t mark) {
  for (; !journal_.empty() && journal_.back().when > mark; journal_.pop_back()) {
    const Stored& stored = journal_.back();
    if (entries_[stored.index].key != nullptr && entries_[stored.index].stored == stored.when) remove(stored.index);
  }
}

void ComponentCache::remove(std::uint32_t index) {
  Entry& entry = entries_[index];
  std::uint32_t* link = &chains_[entry.hash & (chains_.size() - 1)];
  while (*link != index) link = &entries_[*link].next;
  *link = entry.next;
  bytes_ -= entry.key_size + kAllocation;
  entry.key.reset();
  if (exact_ != nullptr) exact_->forget(entry.count.node);
  free_.push_back(index);
  --num_entries_;
}

void ComponentCache::make_room() {
  std::vector<std::uint64_t> used;
  used.reserve(num_entries_);
  for (const Entry& entry : entries_) {
    if (entry.key != nullptr) used.push_back(entry.used);
  }
  if (used.empty()) return;
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::nth_element(used.begin(), middle, used.end());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key == nullptr || entries_[i].used > *middle) continue;
    remove(i);
    ++num_evicted_;
  }
  compact_journal();
}

void ComponentCache::compact_journal() {
  std::erase_if(journal_, [&](const Stored& stored) {
    const Entry& entry = entries_[stored.index];
    return entry.key == nullptr || entry.stored != stored.when;
  });
}

void ComponentCache::grow_table() {
  bytes_ += chains_.size() * sizeof(std::uint32_t);
  chains_.assign(2 * chains_.size(), kNone);
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].key == nullptr) continue;
    std::uint32_t& chain = chains_[entries_[i].hash & (chains_.size() - 1)];
    entries_[i].next = chain;
    chain = i;
  }
}

}  // namespace treesample

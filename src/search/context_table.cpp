#include "search/context_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace treesample {

ContextTable::ContextTable(const SearchSpace& space, int level) {
  int shift = 0;
  for (const int n : space.levels[level].context) {
    const int bits = std::bit_width(static_cast<unsigned>(space.levels[n].num_states - 1));
    if (bits == 0) continue;  // it says nothing, and after a full word it would have no place
    if (shift + bits > 64) {
      last_of_.push_back(fields_.size());
      shift = 0;
    }
    fields_.push_back({space.levels[n].variable, shift});
    shift += bits;
  }
  last_of_.push_back(fields_.size());
  words_ = last_of_.size();
  packed_.resize(words_);
}

void ContextTable::pack(std::span<const int> x) {
  std::size_t i = 0;
  for (std::size_t word = 0; word < words_; ++word) {
    std::uint64_t packed = 0;
    for (; i < last_of_[word]; ++i) packed |= static_cast<std::uint64_t>(x[fields_[i].variable]) << fields_[i].shift;
    packed_[word] = packed;
  }
}

bool ContextTable::has_key(const std::uint32_t* slot, const std::uint64_t* key) const {
  std::size_t i = 0;
  while (i < words_ && (slot[2 * i] | std::uint64_t{slot[2 * i + 1]} << 32) == key[i]) ++i;
  return i == words_;
}

// The slot that has the key, or the free one where it belongs.
std::uint32_t* ContextTable::slot_of(const std::uint64_t* key) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words_; ++i) {
    hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  const std::size_t size = slot_size();
  std::size_t place = hash & (capacity_ - 1);
  while (true) {
    std::uint32_t* const slot = &slots_[place * size];
    if (slot[size - 1] == kNoNode || has_key(slot, key)) return slot;
    place = (place + 1) & (capacity_ - 1);
  }
}

void ContextTable::rebuild(std::size_t capacity) {
  const std::vector<std::uint32_t> slots = std::exchange(slots_, {});
  const std::size_t size = slot_size();
  capacity_ = capacity;
  slots_.assign(capacity * size, kNoNode);
  std::vector<std::uint64_t> key(words_);
  for (auto slot = slots.begin(); slot != slots.end(); slot += static_cast<std::ptrdiff_t>(size)) {
    if (slot[static_cast<std::ptrdiff_t>(size) - 1] == kNoNode) continue;
    for (std::size_t i = 0; i < words_; ++i) {
      const auto at = slot + static_cast<std::ptrdiff_t>(2 * i);
      key[i] = at[0] | std::uint64_t{at[1]} << 32;
    }
    std::copy_n(slot, size, slot_of(key.data()));
  }
}

NodeIndex& ContextTable::find_or_insert(std::span<const int> x) {
  if (2 * (count_ + 1) > capacity_) rebuild(std::max<std::size_t>(16, capacity_ * 2));
  pack(x);
  std::uint32_t* const slot = slot_of(packed_.data());
  NodeIndex& node = slot[slot_size() - 1];
  if (node == kNoNode) {
    for (std::size_t i = 0; i < words_; ++i) {
      slot[2 * i] = static_cast<std::uint32_t>(packed_[i]);
      slot[2 * i + 1] = static_cast<std::uint32_t>(packed_[i] >> 32);
    }
    ++count_;
  }
  return node;
}

void ContextTable::erase_if(const std::function<bool(NodeIndex)>& is_dead) {
  const std::size_t size = slot_size();
  for (std::size_t i = size - 1; i < slots_.size(); i += size) {
    if (slots_[i] == kNoNode || !is_dead(slots_[i])) continue;
    slots_[i] = kNoNode;
    --count_;
  }
  rebuild(capacity_);  // open addressing: the remaining keys may have to move
}

}  // namespace treesample

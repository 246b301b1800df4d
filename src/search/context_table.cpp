#include "search/context_table.hpp"

#include <algorithm>
#include <bit>

namespace treesample {

ContextTable::ContextTable(const SearchSpace& space, int level) {
  int word = 0;
  int shift = 0;
  for (const int n : space.levels[level].context) {
    const int bits = std::bit_width(static_cast<unsigned>(space.levels[n].num_states - 1));
    if (shift + bits > 64) {
      ++word;
      shift = 0;
    }
    fields_.push_back({space.levels[n].variable, word, shift});
    shift += bits;
  }
  words_ = static_cast<std::size_t>(word) + 1;
  packed_.resize(words_);
}

void ContextTable::pack(std::span<const int> x) {
  std::fill(packed_.begin(), packed_.end(), 0);
  for (const Field& field : fields_)
    packed_[field.word] |= static_cast<std::uint64_t>(x[field.variable]) << field.shift;
}

std::size_t ContextTable::slot_of(const std::uint64_t* key) const {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words_; ++i) {
    hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  const std::size_t mask = nodes_.size() - 1;
  const auto has_key = [&](std::size_t slot) {  // a word or two: less than the call that compares memory
    std::size_t i = 0;
    while (i < words_ && key[i] == keys_[slot * words_ + i]) ++i;
    return i == words_;
  };
  std::size_t slot = hash & mask;
  while (nodes_[slot] != kNoNode && !has_key(slot)) slot = (slot + 1) & mask;
  return slot;
}

void ContextTable::rebuild(std::size_t capacity) {
  const std::vector<std::uint64_t> keys = std::move(keys_);
  const std::vector<NodeIndex> nodes = std::move(nodes_);
  keys_.assign(capacity * words_, 0);
  nodes_.assign(capacity, kNoNode);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] == kNoNode) continue;
    const std::size_t slot = slot_of(&keys[i * words_]);
    std::copy_n(&keys[i * words_], words_, &keys_[slot * words_]);
    nodes_[slot] = nodes[i];
  }
}

NodeIndex& ContextTable::find_or_insert(std::span<const int> x) {
  if (2 * (count_ + 1) > nodes_.size()) rebuild(std::max<std::size_t>(16, nodes_.size() * 2));
  pack(x);
  const std::size_t slot = slot_of(packed_.data());
  if (nodes_[slot] == kNoNode) {
    std::copy(packed_.begin(), packed_.end(), &keys_[slot * words_]);
    ++count_;
  }
  return nodes_[slot];
}

void ContextTable::erase_if(const std::function<bool(NodeIndex)>& is_dead) {
  for (NodeIndex& node : nodes_) {
    if (node == kNoNode || !is_dead(node)) continue;
    node = kNoNode;
    --count_;
  }
  rebuild(nodes_.size());  // open addressing: what is left may have to move up
}

}  // namespace treesample

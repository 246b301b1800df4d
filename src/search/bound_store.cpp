#include "search/bound_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "treesample/error.hpp"

namespace treesample {

NodeIndex BoundStore::Pool::create() {
  if (!free_.empty()) {
    const NodeIndex index = free_.back();
    free_.pop_back();
    return index;
  }
  if (size_ == capacity_) {
    // realloc moves pages instead of bytes once a level is large.
    const std::uint64_t capacity = std::max<std::uint64_t>(8, std::uint64_t{capacity_} + capacity_ / 2);
    auto* const moved =
        capacity < kNoNode ? static_cast<std::byte*>(std::realloc(memory_.get(), capacity * item_bytes_)) : nullptr;
    if (moved == nullptr) throw Error(ErrorCode::kResource, "search: no memory left for nodes");
    static_cast<void>(memory_.release());
    memory_.reset(moved);
    capacity_ = static_cast<NodeIndex>(capacity);
  }
  return size_++;
}

BoundStore::BoundStore(std::shared_ptr<const SearchSpace> space) : space_(std::move(space)) {
  levels_.resize(space_->levels.size());
  for (int n = 0; n < space_->num_levels(); ++n) {
    LevelStore& store = levels_[n];
    store.num_states = space_->levels[n].num_states;
    store.num_children = static_cast<int>(space_->levels[n].children.size());
    store.nodes.set_item_bytes(sizeof(BoundNode));
    store.expansions.set_item_bytes(Expansion::num_bytes(store.num_states, store.num_children));
    if (space_->levels[n].is_shared) store.contexts = ContextTable(*space_, n);
  }
  root_links_.assign(space_->roots.size(), kNoNode);
}

NodeIndex BoundStore::create_node(int level) {
  NodePool& nodes = levels_[level].nodes;
  const NodeIndex index = nodes.create();
  new (nodes.at_bytes(index)) BoundNode;
  ++num_nodes_;
  used_bytes_ += sizeof(BoundNode);
  return index;
}

void BoundStore::create_expansion(int level, BoundNode& node) {
  Pool& expansions = levels_[level].expansions;
  node.expansion = expansions.create();
  std::memset(expansions.at_bytes(node.expansion), 0, expansions.item_bytes());
  const LevelStore& store = levels_[level];
  std::fill_n(expansion(level, node).links(0), std::size_t{1} * store.num_states * store.num_children, kNoNode);
  ++num_expansions_;
  used_bytes_ += expansions.item_bytes();
}

NodeIndex& BoundStore::find_or_insert(int level, std::span<const int> x) {
  ContextTable& table = levels_[level].contexts;
  const std::size_t bytes_before = table.num_bytes();
  NodeIndex& node = table.find_or_insert(x);
  used_bytes_ += table.num_bytes() - bytes_before;
  return node;
}

void BoundStore::give_back_expansion(LevelStore& store, BoundNode& node) {
  store.expansions.give_back(node.expansion);
  node.expansion = kNoNode;
  --num_expansions_;
  used_bytes_ -= store.expansions.item_bytes();
}

void BoundStore::collapse(const std::vector<std::vector<bool>>& is_marked) {
  // Parents before children: what is not reached any more gives everything back.
  std::vector<std::vector<bool>> is_reached(levels_.size());
  for (std::size_t n = 0; n < levels_.size(); ++n) is_reached[n].resize(levels_[n].nodes.size());
  for (std::size_t r = 0; r < root_links_.size(); ++r) {
    if (root_links_[r] != kNoNode) is_reached[space_->roots[r]][root_links_[r]] = true;
  }
  for (int n = 0; n < space_->num_levels(); ++n) {
    LevelStore& store = levels_[n];
    const std::vector<int>& children = space_->levels[n].children;
    for (NodeIndex i = 0; i < store.nodes.size(); ++i) {
      BoundNode& node = store.nodes.at(i);
      if (node.is_given_back) continue;
      if (!is_reached[n][i]) {
        if (node.expansion != kNoNode) give_back_expansion(store, node);
        node.is_given_back = true;
        store.nodes.give_back(i);
        --num_nodes_;
        used_bytes_ -= sizeof(BoundNode);
        continue;
      }
      if (node.expansion == kNoNode) continue;
      if (is_marked[n][i]) {
        give_back_expansion(store, node);
        node.was_collapsed = true;
        continue;
      }
      const Expansion expansion = this->expansion(n, node);
      for (int a = 0; a < store.num_states; ++a) {
        for (std::size_t j = 0; j < children.size(); ++j) {
          const NodeIndex child = expansion.is_evaluated(a) ? expansion.links(a)[j] : kNoNode;
          if (child != kNoNode) is_reached[children[j]][child] = true;
        }
      }
    }
    if (space_->levels[n].is_shared) {
      store.contexts.erase_if([&](NodeIndex i) { return !is_reached[n][i]; });
    }
  }
}

}  // namespace treesample

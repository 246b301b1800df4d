#include "search/bound_store.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "treesample/error.hpp"

namespace treesample {

namespace {

constexpr std::size_t kLineBytes = 64;

}  // namespace

ExpansionLayout::ExpansionLayout(int k, int c, bool with_hints, bool with_q_phi)
    : num_states(k), num_children(c), has_hints(with_hints) {
  const auto row_bytes = 4 * static_cast<std::uint32_t>(k);
  links = 4 + (has_hints ? row_bytes : 0);
  visits = links + row_bytes * static_cast<std::uint32_t>(c);
  factors = (visits + row_bytes + 7) / 8 * 8;
  q_phi = factors + 2 * row_bytes;
  size = q_phi + (with_q_phi ? 2 * row_bytes : 0);
}

NodeIndex BoundStore::Pool::create() {
  if (!free_.empty()) {
    const NodeIndex index = free_.back();
    free_.pop_back();
    return index;
  }
  if (size_ == capacity_) grow();
  return size_++;
}

void BoundStore::Pool::grow() {
  // realloc moves pages instead of bytes once a level is large.
  const auto capacity = std::min<std::uint64_t>(end_, std::max<std::uint64_t>(8, capacity_ + capacity_ / 2ULL));
  const std::ptrdiff_t offset = items_ - memory_.get();
  auto* const moved = size_ < capacity
                          ? static_cast<std::byte*>(std::realloc(memory_.get(), capacity * item_bytes_ + kLineBytes))
                          : nullptr;
  if (moved == nullptr) throw Error(ErrorCode::kResource, "search: no memory left for nodes");
  static_cast<void>(memory_.release());
  memory_.reset(moved);
  items_ = moved + (kLineBytes - reinterpret_cast<std::uintptr_t>(moved) % kLineBytes) % kLineBytes;
  if (items_ != moved + offset) std::memmove(items_, moved + offset, size_ * item_bytes_);
  capacity_ = static_cast<NodeIndex>(capacity);
}

BoundStore::BoundStore(std::shared_ptr<const SearchSpace> space, bool has_q_phi) : space_(std::move(space)) {
  const auto only_child = [&](int n) {
    return n >= 0 && space_->levels[n].children.size() == 1 ? space_->levels[n].children[0] : -1;
  };
  for (int n = 0; n < space_->num_levels(); ++n) {
    const Level& level = space_->levels[n];
    LevelFacts facts;
    facts.children = level.children.data();
    facts.variable = level.variable;
    facts.grandchild = only_child(only_child(n));
    facts.layout = {level.num_states, static_cast<int>(level.children.size()), facts.grandchild >= 0, has_q_phi};
    facts_.push_back(facts);
    levels_.push_back(
        {Pool(sizeof(BoundNode), kNoNode), Pool(facts.layout.size, BoundNode::kNoExpansion), ContextTable()});
  }
  root_links_.assign(space_->roots.size(), kNoNode);
}

NodeIndex BoundStore::create_node(int level) {
  Pool& nodes = levels_[level].nodes;
  const NodeIndex index = nodes.create();
  facts_[level].nodes = reinterpret_cast<BoundNode*>(nodes.items());
  new (&node(level, index)) BoundNode;
  ++num_nodes_;
  used_bytes_ += sizeof(BoundNode);
  return index;
}

void BoundStore::create_expansion(int level, BoundNode& node) {
  Pool& expansions = levels_[level].expansions;
  const ExpansionLayout& layout = facts_[level].layout;
  node.expansion = expansions.create();
  facts_[level].expansions = expansions.items();
  std::memset(block(facts_[level], node.expansion), 0, layout.size);
  const Expansion created = expansion(level, node);
  std::fill_n(created.links(0), std::size_t{1} * layout.num_states * layout.num_children, kNoNode);
  if (layout.has_hints) std::fill_n(&created.hint(0), layout.num_states, BoundNode::kNoExpansion);
  ++num_expansions_;
  used_bytes_ += layout.size;
}

NodeIndex& BoundStore::find_or_insert(int level, std::span<const int> x) {
  ContextTable& table = levels_[level].contexts;
  if (table.is_blank()) table = ContextTable(*space_, level);  // not before: contexts can be large, and levels many
  const std::size_t bytes_before = table.num_bytes();
  NodeIndex& node = table.find_or_insert(x);
  used_bytes_ += table.num_bytes() - bytes_before;
  return node;
}

void BoundStore::give_back_expansion(LevelStore& store, BoundNode& node) {
  store.expansions.give_back(node.expansion);
  node.expansion = BoundNode::kNoExpansion;
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
    const std::span<const int> children = this->children(n);
    for (NodeIndex i = 0; i < store.nodes.size(); ++i) {
      BoundNode& node = this->node(n, i);
      if (node.is_given_back) continue;
      if (!is_reached[n][i]) {
        if (node.is_expanded()) give_back_expansion(store, node);
        node.is_given_back = true;
        store.nodes.give_back(i);
        --num_nodes_;
        used_bytes_ -= sizeof(BoundNode);
        continue;
      }
      if (!node.is_expanded()) continue;
      if (is_marked[n][i]) {
        give_back_expansion(store, node);
        node.was_collapsed = true;
        continue;
      }
      const Expansion expansion = this->expansion(n, node);
      for (int a = 0; a < num_states(n); ++a) {
        for (std::size_t j = 0; j < children.size(); ++j) {
          const NodeIndex child = expansion.links(a)[j];
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

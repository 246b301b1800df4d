#include "search/bound_store.hpp"

#include <fmt/format.h>

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
  // 4 bytes per link and for each of at most six others per state.
  if (4.0 * k * (c + 6.0) > 4e9) {
    throw Error(ErrorCode::kResource,
                fmt::format("search: a variable with {} states and {} children is too much", k, c));
  }
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
  const auto capacity = std::min<std::uint64_t>(end_, std::max<std::uint64_t>(8, capacity_ + capacity_ / 2ULL));
  if (size_ >= capacity || !set_capacity(capacity)) {
    throw Error(ErrorCode::kResource, "search: no memory left for nodes");
  }
}

bool BoundStore::Pool::set_capacity(std::uint64_t capacity) {
  // realloc remaps the pages of a large level instead of copying its bytes.
  const std::ptrdiff_t offset = items_ - memory_.get();
  auto* const moved = static_cast<std::byte*>(std::realloc(memory_.get(), capacity * item_bytes_ + kLineBytes));
  if (moved == nullptr) return false;
  static_cast<void>(memory_.release());
  memory_.reset(moved);
  items_ = moved + (kLineBytes - reinterpret_cast<std::uintptr_t>(moved) % kLineBytes) % kLineBytes;
  if (items_ != moved + offset) std::memmove(items_, moved + offset, size_ * item_bytes_);
  capacity_ = static_cast<NodeIndex>(capacity);
  return true;
}

BoundStore::Pool::Pool(const Pool& other)
    : item_bytes_(other.item_bytes_), size_(0), end_(other.end_), free_(other.free_) {
  if (other.size_ == 0) return;
  if (!set_capacity(other.size_)) throw Error(ErrorCode::kResource, "search: no memory left for nodes");
  size_ = other.size_;
  std::memcpy(items_, other.items_, size_ * item_bytes_);
}

void BoundStore::Pool::place(Pool& other, NodeIndex first, NodeIndex to) const {
  if (other.size_ > first) {
    std::memcpy(items_ + to * item_bytes_, other.items_ + first * item_bytes_, (other.size_ - first) * item_bytes_);
  }
  other = Pool(item_bytes_, end_);
}

void BoundStore::Pool::extend(NodeIndex size, const Pool& other, NodeIndex first, NodeIndex to) {
  size_ = size;
  for (const NodeIndex i : other.free_) {
    if (i >= first) free_.push_back(i - first + to);
  }
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
  if (table.is_blank()) table = ContextTable(*space_, level);  // only now: contexts can be large and levels many
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

void BoundStore::collapse(const std::vector<std::vector<bool>>& is_marked, std::span<const Extent> kept) {
  // Parents before children: a node that is no longer reached gives everything below it back.
  std::vector<std::vector<bool>> is_reached(levels_.size());
  for (std::size_t n = 0; n < levels_.size(); ++n) is_reached[n].resize(levels_[n].nodes.size());
  for (std::size_t n = 0; n < kept.size(); ++n) std::fill_n(is_reached[n].begin(), kept[n].nodes, true);
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

std::vector<BoundStore::Extent> BoundStore::extents() const {
  std::vector<Extent> result;
  for (const LevelStore& level : levels_) result.push_back({level.nodes.size(), level.expansions.size()});
  return result;
}

void BoundStore::see_pools(std::size_t level) {
  facts_[level].nodes = reinterpret_cast<BoundNode*>(levels_[level].nodes.items());
  facts_[level].expansions = levels_[level].expansions.items();
}

std::shared_ptr<BoundStore> BoundStore::copy() const {
  const std::shared_ptr<BoundStore> result(new BoundStore(*this));
  for (std::size_t n = 0; n < levels_.size(); ++n) result->see_pools(n);
  return result;
}

// Changes the indices to those in a store that has the extents `base` before it takes what this one has beyond
// `common`.
void BoundStore::relink(std::size_t level, std::span<const Extent> common, std::span<const Extent> base) {
  const auto moved = [](NodeIndex i, NodeIndex from, NodeIndex to) { return i < from ? i : i - from + to; };
  const auto moved_expansion = [&](std::size_t n, std::uint32_t e) {
    return e == BoundNode::kNoExpansion ? e : moved(e, common[n].expansions, base[n].expansions);
  };
  LevelStore& here = levels_[level];
  const auto n = static_cast<int>(level);
  for (NodeIndex i = common[level].nodes; i < here.nodes.size(); ++i) {
    node(n, i).expansion = moved_expansion(level, node(n, i).expansion);
  }
  const std::span<const int> children = this->children(n);
  for (std::uint32_t e = common[level].expansions; e < here.expansions.size(); ++e) {
    const Expansion expansion(block(facts_[level], e), facts_[level].layout);
    for (int a = 0; a < num_states(n); ++a) {
      for (std::size_t j = 0; j < children.size(); ++j) {
        NodeIndex& link = expansion.links(a)[j];
        if (link != kNoNode) link = moved(link, common[children[j]].nodes, base[children[j]].nodes);
      }
      if (expansion.has_hints()) expansion.hint(a) = BoundNode::kNoExpansion;
    }
  }
}

// The extents after taking what the copy has beyond `common`; empty where indices do not suffice.
std::vector<BoundStore::Extent> BoundStore::extents_with(const BoundStore& copy, std::span<const Extent> common,
                                                         std::span<const Extent> base) const {
  std::vector<Extent> result;
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    const LevelStore& theirs = copy.levels_[n];
    const std::uint64_t nodes = std::uint64_t{base[n].nodes} + theirs.nodes.size() - common[n].nodes;
    const std::uint64_t expansions =
        std::uint64_t{base[n].expansions} + theirs.expansions.size() - common[n].expansions;
    if (nodes > levels_[n].nodes.end() || expansions > levels_[n].expansions.end()) return {};
    result.push_back({static_cast<NodeIndex>(nodes), static_cast<NodeIndex>(expansions)});
  }
  return result;
}

void BoundStore::take(std::span<const Part> parts, std::span<const Extent> common, ThreadTeam& threads) {
  std::vector<Part> taken;
  std::vector<std::vector<Extent>> bases = {extents()};  // where the part of each begins, and the end
  for (const Part& part : parts) {
    std::vector<Extent> end = extents_with(*part.copy, common, bases.back());
    if (end.empty()) continue;
    taken.push_back(part);
    bases.push_back(std::move(end));
  }
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    const bool has_room = levels_[n].nodes.make_room(bases.back()[n].nodes) &&
                          levels_[n].expansions.make_room(bases.back()[n].expansions);
    see_pools(n);
    if (!has_room) return;
  }
  for (std::size_t p = 0; p < taken.size(); ++p) {
    for (const auto [level, index] : taken[p].places) {
      const std::uint32_t theirs = taken[p].copy->node(level, index).expansion;
      node(level, index).expansion = theirs - common[level].expansions + bases[p][level].expansions;
    }
  }
  for (std::size_t n = 0; n < levels_.size(); ++n) {
    auto& [nodes, expansions, contexts] = levels_[n];
    const std::uint64_t nodes_before = nodes.num_used(), expansions_before = expansions.num_used();
    for (std::size_t p = 0; p < taken.size(); ++p) {
      const LevelStore& theirs = taken[p].copy->levels_[n];
      nodes.extend(bases[p + 1][n].nodes, theirs.nodes, common[n].nodes, bases[p][n].nodes);
      expansions.extend(bases[p + 1][n].expansions, theirs.expansions, common[n].expansions, bases[p][n].expansions);
    }
    num_nodes_ += nodes.num_used() - nodes_before;
    num_expansions_ += expansions.num_used() - expansions_before;
    used_bytes_ += (nodes.num_used() - nodes_before) * sizeof(BoundNode) +
                   (expansions.num_used() - expansions_before) * expansions.item_bytes();
  }
  // Each level of a copy is given back as soon as it is taken, so that hardly any memory is needed twice.
  threads.run(levels_.size() * taken.size(), 1, [&](std::size_t piece, std::size_t /*last*/, int /*thread*/) {
    const std::size_t n = piece / taken.size(), p = piece % taken.size();
    BoundStore& copy = *taken[p].copy;
    copy.relink(n, common, bases[p]);
    levels_[n].nodes.place(copy.levels_[n].nodes, common[n].nodes, bases[p][n].nodes);
    levels_[n].expansions.place(copy.levels_[n].expansions, common[n].expansions, bases[p][n].expansions);
    copy.levels_[n].contexts = ContextTable();
  });
}

}  // namespace treesample

// The nodes of a search with bounds: storage and identity, no policy.
//
// A node is a sub-problem (level, context) with its three values; it is created when an edge above it is evaluated. Its
// expansion, once it has one, is a block of the level's second array:
//
//   uint32    choice          the action that the next traversal takes
//   uint32    hint[K]         expansion of the grandchild behind an edge, see Expansion::hint; not at all levels
//   uint32    link[K][C]      node of each child level below an edge; none where R = -inf
//   uint32    visits[K]
//   double    factor[K]       exp(R), see factor_of_reward
//   double    q_phi[K]        only for a rule that reads it
//
// In a tree an edge of a binary node takes 56 bytes: 32 for the child, 24 here. All edges of an expansion are
// evaluated. Their values are not stored: they are the factor times the children's values, which are adjacent in memory
// when only this edge leads to them. A collapsed node gives its expansion back and keeps its bounds, as if it had never
// been searched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "math/reward_factor.hpp"
#include "search/bound_values.hpp"
#include "search/context_table.hpp"
#include "thread_team.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

struct BoundNode : BoundValues {
  static constexpr std::uint32_t kNoExpansion = (1U << 28) - 1;

  [[nodiscard]] bool is_expanded() const { return expansion != kNoExpansion; }
  // True when the search can go there.
  [[nodiscard]] bool is_open() const { return !is_complete && !is_pending; }
  void set_values(const BoundValues& values) { static_cast<BoundValues&>(*this) = values; }

  std::uint32_t expansion : 28 = kNoExpansion;
  bool is_complete : 1 = false;    // nothing is left to search below
  bool was_collapsed : 1 = false;  // its bounds are better than the leaf values
  bool is_given_back : 1 = false;  // by collapse; the memory is free for another node
  bool is_pending : 1 = false;     // nothing below can be chosen until rewards arrive
};
static_assert(sizeof(BoundNode) == 32);

// Offsets are in bytes from the start of a block.
struct ExpansionLayout {
  ExpansionLayout() = default;
  ExpansionLayout(int k, int c, bool with_hints, bool with_q_phi);

  int num_states = 1, num_children = 0;
  std::uint32_t links = 0, visits = 0, factors = 0, q_phi = 0, size = 0;
  bool has_hints = false;
};

// A view of an expansion. Valid until one of the same level is created.
class Expansion {
 public:
  // Rewards of a larger magnitude are not kept as exp(R), because times_factor of BoundValues has a limited range.
  static constexpr double kMostReward = 128.0;

  Expansion(std::byte* block, const ExpansionLayout& layout) : block_(block), layout_(&layout) {}

  [[nodiscard]] std::uint32_t& choice() const { return *at<std::uint32_t>(0); }
  [[nodiscard]] NodeIndex* links(int action) const {
    return at<NodeIndex>(layout_->links) + static_cast<std::ptrdiff_t>(action) * layout_->num_children;
  }
  // For prefetching: the expansion that a traversal through the edge reaches after the child's, by the child's choice
  // when it was last visited through this edge. In a tree the next traversal reaches it, unless it is collapsed.
  [[nodiscard]] bool has_hints() const { return layout_->has_hints; }
  [[nodiscard]] std::uint32_t& hint(int action) const { return at<std::uint32_t>(4)[action]; }

  [[nodiscard]] double* factors() const { return at<double>(layout_->factors); }
  [[nodiscard]] bool has_q_phi() const { return layout_->size > layout_->q_phi; }
  [[nodiscard]] std::span<double> q_phi() const {
    return {at<double>(layout_->q_phi), static_cast<std::size_t>(layout_->num_states)};
  }
  [[nodiscard]] double reward(int action) const { return reward_of_factor(factors()[action]); }
  void set_reward(int action, double reward) const { factors()[action] = factor_of_reward(reward, kMostReward); }
  [[nodiscard]] std::uint32_t visits(int action) const { return at<std::uint32_t>(layout_->visits)[action]; }
  void add_visit(int action) const {
    if (visits(action) != UINT32_MAX) ++at<std::uint32_t>(layout_->visits)[action];
  }

 private:
  template <class T>
  [[nodiscard]] T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(block_ + offset);
  }

  std::byte* block_;
  const ExpansionLayout* layout_;
};

class BoundStore {
 public:
  explicit BoundStore(std::shared_ptr<const SearchSpace> space, bool has_q_phi = false);

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  // The bytes of an expansion of the level.
  [[nodiscard]] std::size_t expansion_bytes(int level) const { return facts_[level].layout.size; }
  [[nodiscard]] BoundNode& node(int level, NodeIndex index) const { return facts_[level].nodes[index]; }
  [[nodiscard]] Expansion expansion(int level, const BoundNode& node) const {
    return {block(facts_[level], node.expansion), facts_[level].layout};
  }
  // Copied from the space, to be close to the nodes.
  [[nodiscard]] int num_states(int level) const { return facts_[level].layout.num_states; }
  [[nodiscard]] int variable(int level) const { return facts_[level].variable; }
  [[nodiscard]] std::span<const int> children(int level) const {
    return {facts_[level].children, static_cast<std::size_t>(facts_[level].layout.num_children)};
  }
  // The expansion of the only child behind the chosen edge; kNoExpansion where there is none.
  [[nodiscard]] std::uint32_t chosen_expansion(int level, const Expansion& expansion) const {
    if (facts_[level].layout.num_children != 1) return BoundNode::kNoExpansion;
    return node(facts_[level].children[0], *expansion.links(static_cast<int>(expansion.choice()))).expansion;
  }
  // For a traversal that follows an edge and knows, or guesses, the expansion of its only child: prefetches the nodes
  // after the child and the expansion that follows the child's, and returns the latter.
  std::uint32_t fetch_ahead(int level, const Expansion& expansion, int action, std::uint32_t child_expansion) const;
  // One past the largest index in use.
  [[nodiscard]] NodeIndex end_index(int level) const { return levels_[level].nodes.size(); }

  // Both throw kResource when 32 bits (28 for expansions) or the memory do not suffice. A new expansion is all 0,
  // without links.
  NodeIndex create_node(int level);
  void create_expansion(int level, BoundNode& node);
  // For shared levels: the node of the context in x; kNoNode if there is none yet.
  NodeIndex& find_or_insert(int level, std::span<const int> x);

  // For a search by several threads (search_team.hpp), each of which has a copy: the part of each level that all copies
  // have in common, with the same indices.
  struct Extent {
    NodeIndex nodes = 0, expansions = 0;
  };
  struct Place {
    int level = 0;
    NodeIndex index = kNoNode;
  };
  // Gives back the expansions of the nodes for which `is_marked[level][index]` holds, and everything that can then no
  // longer be reached, except for nodes that `kept` covers.
  void collapse(const std::vector<std::vector<bool>>& is_marked, std::span<const Extent> kept = {});

  [[nodiscard]] std::vector<Extent> extents() const;
  [[nodiscard]] std::shared_ptr<BoundStore> copy() const;
  // A copy of this store, and the nodes of the common part, without expansions when it was copied, that get the copy's.
  struct Part {
    BoundStore* copy = nullptr;
    std::span<const Place> places = {};
  };
  // Takes what the copies have made beyond the common part, but for contexts, and leaves them empty. A copy for which
  // indices do not suffice is left out, and so are all where the memory does not.
  void take(std::span<const Part> parts, std::span<const Extent> common, ThreadTeam& threads);

  // The virtual edge above the roots: one node per root.
  [[nodiscard]] std::span<NodeIndex> root_links() { return root_links_; }
  [[nodiscard]] std::span<const NodeIndex> root_links() const { return root_links_; }

  [[nodiscard]] std::uint64_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::uint64_t num_expansions() const { return num_expansions_; }
  // Memory in use, without the free items that collapse left.
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  // Items of equal size. Those given back are used again first. The items begin at a cache line.
  class Pool {
   public:
    // Items are numbered from 0 to end - 1.
    Pool(std::size_t item_bytes, NodeIndex end) : item_bytes_(item_bytes), end_(end) {}
    [[nodiscard]] NodeIndex size() const { return size_; }
    [[nodiscard]] std::size_t item_bytes() const { return item_bytes_; }
    [[nodiscard]] std::byte* items() const { return items_; }
    [[nodiscard]] std::uint64_t num_used() const { return size_ - free_.size(); }
    NodeIndex create();
    void give_back(NodeIndex index) { free_.push_back(index); }
    // A copy has no spare room.
    Pool(const Pool& other);
    Pool(Pool&&) = default;
    Pool& operator=(Pool&&) = default;
    [[nodiscard]] NodeIndex end() const { return end_; }
    // Returns false when there is no memory for so many items.
    bool make_room(NodeIndex size) { return size <= capacity_ || set_capacity(size); }
    // Moves the other pool's items from `first` on to those from `to` on; pre: there is room. Several threads may do
    // this at once, each with another pool and place.
    void place(Pool& other, NodeIndex first, NodeIndex to) const;
    // Afterwards: there are `size` items, and those that the other pool had given back are free here too.
    void extend(NodeIndex size, const Pool& other, NodeIndex first, NodeIndex to);

   private:
    void grow();
    bool set_capacity(std::uint64_t capacity);

    std::size_t item_bytes_;
    std::unique_ptr<std::byte, Free> memory_;
    std::byte* items_ = nullptr;
    NodeIndex size_ = 0, capacity_ = 0, end_;
    std::vector<NodeIndex> free_;
  };
  // What a traversal needs to know about a level, in adjacent memory.
  struct LevelFacts {
    BoundNode* nodes = nullptr;
    std::byte* expansions = nullptr;
    const int* children = nullptr;
    int variable = 0;
    int grandchild = -1;  // the level after the only child, if that has an only child too
    ExpansionLayout layout;
  };
  struct LevelStore {
    Pool nodes;
    Pool expansions;
    ContextTable contexts;
  };
  BoundStore(const BoundStore&) = default;
  void see_pools(std::size_t level);
  [[nodiscard]] std::vector<Extent> extents_with(const BoundStore& copy, std::span<const Extent> common,
                                                 std::span<const Extent> base) const;
  void relink(std::size_t level, std::span<const Extent> common, std::span<const Extent> base);
  static std::byte* block(const LevelFacts& facts, std::uint32_t expansion) {
    return facts.expansions + std::size_t{expansion} * facts.layout.size;
  }
  void give_back_expansion(LevelStore& store, BoundNode& node);

  std::shared_ptr<const SearchSpace> space_;
  std::vector<LevelFacts> facts_;
  std::vector<LevelStore> levels_;
  std::vector<NodeIndex> root_links_;
  std::uint64_t num_nodes_ = 0, num_expansions_ = 0;
  std::size_t used_bytes_ = 0;
};

// Always inlined: g++ 12 takes a function that only prefetches for one without effect, and removes its calls.
[[gnu::always_inline]] inline std::uint32_t BoundStore::fetch_ahead(int level, const Expansion& expansion, int action,
                                                                    std::uint32_t child_expansion) const {
  const LevelFacts& facts = facts_[level];
  if (child_expansion != BoundNode::kNoExpansion) {
    const LevelFacts& child = facts_[facts.children[0]];
    const NodeIndex* link = Expansion(block(child, child_expansion), child.layout).links(0);
    for (int a = 0; a < child.layout.num_states; ++a) {
      for (int j = 0; j < child.layout.num_children; ++j) __builtin_prefetch(facts_[child.children[j]].nodes + *link++);
    }
  }
  if (!expansion.has_hints()) return BoundNode::kNoExpansion;
  const std::uint32_t hint = expansion.hint(action);
  if (hint != BoundNode::kNoExpansion) __builtin_prefetch(block(facts_[facts.grandchild], hint));
  return hint;
}

}  // namespace treesample

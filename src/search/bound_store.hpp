// Where a search with bounds keeps its nodes: storage and identity, no policy.
//
// A node is a sub-problem (level, context) with its three values; it exists from the moment when an edge
// above it is evaluated. Its expansion, once it has one, is a block of the level's second array:
//
//   uint32    choice          the action that the next traversal takes
//   uint32    (unused)
//   double    reward[K]       R of an evaluated edge; the estimate Q of one that is not
//   uint32    edge[K]         visits and flags
//   uint32    link[K][C]      node of each child level below an evaluated edge
//
// (per binary edge in a tree 48 bytes: 32 of the child, 8 + 4 + 4 here). The values of an edge are not stored:
// they are the reward plus the children's, which lie side by side when only this edge leads to them.
// A collapsed node gives its expansion back and stays, with its bounds, as if it had never been searched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "search/context_table.hpp"
#include "treesample/model/search_space.hpp"

namespace treesample {

struct BoundNode {
  double lower = 0.0;     // L: certified
  double upper = 0.0;     // U: certified
  double estimate = 0.0;  // V: the paper's value, within [L, U]
  std::uint32_t expansion = kNoNode;
  bool is_complete = false;    // solved: nothing below is left to search
  bool was_collapsed = false;  // its values are better than the fall-backs'
  bool is_given_back = false;  // by collapse; the memory waits for another node
  bool is_pending = false;     // nothing below can be chosen until rewards arrive
};

// A view of an expansion. Valid until one of the same level is created.
class Expansion {
 public:
  Expansion(std::byte* block, int num_states, int num_children)
      : block_(block), num_states_(num_states), num_children_(num_children) {}

  static std::size_t num_bytes(int num_states, int num_children) {
    return (8 + std::size_t{12} * num_states + std::size_t{4} * num_states * num_children + 7) / 8 * 8;
  }
  [[nodiscard]] std::uint32_t& choice() const { return *reinterpret_cast<std::uint32_t*>(block_); }
  [[nodiscard]] double* rewards() const { return reinterpret_cast<double*>(block_ + 8); }
  [[nodiscard]] std::uint32_t* edges() const {
    return reinterpret_cast<std::uint32_t*>(block_ + 8 + std::ptrdiff_t{8} * num_states_);
  }
  [[nodiscard]] NodeIndex* links(int action) const {
    return edges() + num_states_ + static_cast<std::ptrdiff_t>(action) * num_children_;
  }

  [[nodiscard]] bool is_evaluated(int action) const { return (edges()[action] & kEvaluated) != 0; }
  void set_evaluated(int action) const { edges()[action] |= kEvaluated; }
  [[nodiscard]] std::uint32_t visits(int action) const { return edges()[action] & kVisitsMask; }
  void add_visit(int action) const {
    if (visits(action) != kVisitsMask) ++edges()[action];
  }

  static constexpr std::uint32_t kEvaluated = 1U << 31;
  static constexpr std::uint32_t kVisitsMask = (1U << 30) - 1;

 private:
  std::byte* block_;
  int num_states_, num_children_;
};

class BoundStore {
 public:
  explicit BoundStore(std::shared_ptr<const SearchSpace> space);

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  [[nodiscard]] BoundNode& node(int level, NodeIndex index) const { return levels_[level].nodes.at(index); }
  [[nodiscard]] Expansion expansion(int level, const BoundNode& node) const {
    const LevelStore& store = levels_[level];
    return {store.expansions.at_bytes(node.expansion), store.num_states, store.num_children};
  }
  // One past the largest index in use.
  [[nodiscard]] NodeIndex end_index(int level) const { return levels_[level].nodes.size(); }

  // Both throw kResource when 32 bits or memory do not suffice. A new expansion has no evaluated edges.
  NodeIndex create_node(int level);
  void create_expansion(int level, BoundNode& node);
  // For shared levels: the node of the context that x gives it, kNoNode if there is none.
  NodeIndex& find_or_insert(int level, std::span<const int> x);

  // Gives back the expansions of nodes for which `is_marked[level][index]` holds and everything that can
  // then no longer be reached.
  void collapse(const std::vector<std::vector<bool>>& is_marked);

  // The virtual edge above the roots: one node per root.
  [[nodiscard]] std::span<NodeIndex> root_links() { return root_links_; }
  [[nodiscard]] std::span<const NodeIndex> root_links() const { return root_links_; }

  [[nodiscard]] std::uint64_t num_nodes() const { return num_nodes_; }
  [[nodiscard]] std::uint64_t num_expansions() const { return num_expansions_; }
  // Memory in use, without what was given back by collapse.
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  // Equal items that can be given back and are then used again first.
  class Pool {
   public:
    void set_item_bytes(std::size_t bytes) { item_bytes_ = bytes; }
    [[nodiscard]] std::byte* at_bytes(NodeIndex index) const { return memory_.get() + index * item_bytes_; }
    [[nodiscard]] NodeIndex size() const { return size_; }
    [[nodiscard]] std::size_t item_bytes() const { return item_bytes_; }
    NodeIndex create();
    void give_back(NodeIndex index) { free_.push_back(index); }

   private:
    std::size_t item_bytes_ = 0;
    std::unique_ptr<std::byte, Free> memory_;
    NodeIndex size_ = 0, capacity_ = 0;
    std::vector<NodeIndex> free_;
  };
  struct NodePool : Pool {
    [[nodiscard]] BoundNode& at(NodeIndex index) const { return *reinterpret_cast<BoundNode*>(at_bytes(index)); }
  };
  struct LevelStore {
    int num_states = 1, num_children = 0;
    NodePool nodes;
    Pool expansions;
    ContextTable contexts;
  };
  void give_back_expansion(LevelStore& store, BoundNode& node);

  std::shared_ptr<const SearchSpace> space_;
  std::vector<LevelStore> levels_;
  std::vector<NodeIndex> root_links_;
  std::uint64_t num_nodes_ = 0, num_expansions_ = 0;
  std::size_t used_bytes_ = 0;
};

}  // namespace treesample

// Where a search keeps its nodes: storage and identity, no policy.
//
// Nodes are equal blocks (node.hpp) in an array, addressed by a 32-bit index. In the space `tree`, where all variables
// have one number of states, all levels share an array: what is created about the same time then lies together, and
// large pages are full. Else each level has its own.
//
// With a uniform prior a node that can have only one parent edge gets no block until it is visited a
// second time: until then its value is the prior's, which its parent's edge holds already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "search/block_memory.hpp"
#include "search/context_table.hpp"
#include "search/node.hpp"
#include "treesample/space/search_space.hpp"

namespace treesample {

// Can values below an edge of this level change without a visit of the node?
bool has_shared_children(const SearchSpace& space, int level);

class NodeStore {
 public:
  // `has_factors` says by level whether nodes keep exp(R); empty: all do.
  NodeStore(std::shared_ptr<const SearchSpace> space, bool has_prior, const std::vector<bool>& has_factors = {});

  [[nodiscard]] const SearchSpace& space() const { return *space_; }
  [[nodiscard]] bool has_prior() const { return has_prior_; }
  [[nodiscard]] Node node(int level, NodeIndex index) const {
    const LevelStore& store = levels_[level];
    return {store.blocks + std::size_t{index} * store.layout.size, &store.layout};
  }
  // Asks for a node's first line of the cache.
  [[gnu::always_inline]] void prefetch(int level, NodeIndex index) const {
    const LevelStore& store = levels_[level];
    __builtin_prefetch(store.blocks + std::size_t{index} * store.layout.size);
  }
  // The number of states of all levels; 0: they differ.
  [[nodiscard]] int common_num_states() const { return common_num_states_; }
  // Do all levels share an array? Then level n + 1 is the only one below level n, and nodes come after their parents.
  // Else the nodes of each level are those from 0 to num_in_array - 1.
  [[nodiscard]] bool is_one_array() const { return is_one_array_; }
  [[nodiscard]] std::uint32_t num_in_array(int level) const { return arrays_[array_of(level)].count; }

  // Makes room for the nodes that one traversal creates where levels share an array: views then stay valid until the
  // next call. Where they do not, a traversal creates nodes only at levels below its views. True when nodes moved.
  bool make_room() {
    if (!is_one_array_ || arrays_[0].capacity - arrays_[0].count >= kMostPerTraversal) [[likely]]
      return false;
    grow(0);
    return true;
  }
  // A copy of the level's blank node. Throws kResource when 32 bits or memory do not suffice.
  NodeIndex create(int level);
  // What a new node looks like: no visits and no links; the search fills in its prior.
  [[nodiscard]] Node blank(int level) { return {levels_[level].blank.get(), &levels_[level].layout}; }
  // V of a node that has no block, by the uniform prior: log K + log_states_below.
  [[nodiscard]] double prior_value(int level) const { return levels_[level].prior_value; }
  [[nodiscard]] const ScaledValue& scaled_prior_value(int level) const { return levels_[level].scaled_prior_value; }
  // For shared levels: the node with the context that x gives it, kNoNode if there is none.
  NodeIndex& find_or_insert(int level, std::span<const int> x);

  [[nodiscard]] std::uint64_t num_nodes() const;
  // Bytes that are in use by nodes, and bytes held in all (growing ahead, look-up tables).
  [[nodiscard]] std::size_t used_bytes() const;
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }

  // The virtual edge above the roots, which Algorithm 2 backs up as n = 0: a link per root.
  std::vector<NodeIndex>& root_links() { return root_links_; }
  [[nodiscard]] const std::vector<NodeIndex>& root_links() const { return root_links_; }

 private:
  static constexpr std::uint32_t kMostPerTraversal = 2;  // the last node of the path and, with a prior, its child

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct LevelStore {
    BlockLayout layout{1, 0, true, false};
    std::byte* blocks = nullptr;  // where the array begins
    double prior_value = 0.0;
    ScaledValue scaled_prior_value;
    std::unique_ptr<std::byte, Free> blank;
  };
  struct NodeArray {
    explicit NodeArray(bool uses_large_pages) : memory(uses_large_pages) {}

    BlockMemory memory;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;
  };

  [[nodiscard]] std::size_t array_of(int level) const { return is_one_array_ ? 0 : static_cast<std::size_t>(level); }
  void grow(int level);

  std::shared_ptr<const SearchSpace> space_;
  bool has_prior_;
  std::vector<LevelStore> levels_;
  int common_num_states_ = 0;
  bool is_one_array_ = false;
  std::vector<NodeArray> arrays_;  // one, or by level
  std::vector<ContextTable> contexts_;
  std::vector<NodeIndex> root_links_;
  std::size_t held_bytes_ = 0;
};

}  // namespace treesample

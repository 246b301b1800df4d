// Where a search keeps its nodes: storage and identity, no policy.
//
// Each level has an array of equal blocks (node.hpp), one per node, addressed by a 32-bit index. The arrays begin at a
// line of the cache.
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

#include "search/context_table.hpp"
#include "search/node.hpp"
#include "treesample/model/search_space.hpp"

namespace treesample {

// Can values below an edge of this level change without a visit of the node?
bool has_shared_children(const SearchSpace& space, int level);

// What all levels have in common: their number of states (0: they differ), and whether each is the only child of the
// one above.
struct CommonShape {
  int num_states = 0;
  bool is_path = false;
};
CommonShape common_shape(const SearchSpace& space);

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
  [[nodiscard]] std::uint32_t num_nodes(int level) const { return levels_[level].count; }

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
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  struct LevelStore {
    BlockLayout layout{1, 0, true, false};
    std::byte* blocks = nullptr;  // the first line of the cache in `memory`
    double prior_value = 0.0;
    ScaledValue scaled_prior_value;
    std::unique_ptr<std::byte, Free> memory;
    std::unique_ptr<std::byte, Free> blank;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;
  };

  void grow(LevelStore& store);

  std::shared_ptr<const SearchSpace> space_;
  bool has_prior_;
  std::vector<LevelStore> levels_;
  std::vector<ContextTable> contexts_;
  std::vector<NodeIndex> root_links_;
  std::size_t held_bytes_ = 0;
};

}  // namespace treesample

// The nodes of a search as a sampler sees them: the common interface of both searches for passes over their nodes.
//
// At a node of the store a sampler draws the state of the level's variable from the node's edges, then continues in all
// children of that edge. Where a child is not in the store, it continues with a leaf value.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "treesample/math/log_bounds.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

using NodeIndex = std::uint32_t;  // the number of a node within its level
inline constexpr NodeIndex kNoNode = UINT32_MAX;

// The edges of one node, one per state of its variable. Fields that were not asked for are left unchanged.
struct NodeEdges {
  std::vector<NodeIndex> children;  // [state][child level]; kNoNode: not in the store
  std::vector<double> weights;      // proportional to the probabilities
  double total = 1.0;               // their sum
  std::vector<double> values;       // Q(a), in nats
  double log_total = 0.0;           // log sum exp of the values
  std::vector<double> rewards;      // R(a) where the edge was evaluated; -inf elsewhere
  std::vector<char> is_evaluated;

  void resize(std::size_t num_states, std::size_t num_children) {
    children.resize(num_states * num_children);
    weights.resize(num_states);
    values.resize(num_states);
    rewards.resize(num_states);
    is_evaluated.resize(num_states);
  }
  [[nodiscard]] double probability(int action) const { return weights[action] / total; }
  // If the weight is too small, uses the values, provided that they were read.
  [[nodiscard]] double log_probability(int action, bool has_values) const {
    constexpr double kLeast = 1e-290;
    if (has_values && !(weights[action] > kLeast)) return values[action] - log_total;
    return weights[action] > 0.0 ? std::log(weights[action] / total) : -std::numeric_limits<double>::infinity();
  }
};

// Facts that are only shown to people.
struct EdgeFacts {
  std::int64_t visits = 0;
  LogBounds bounds;  // of Q(a); infinite if the search has none
};

class StoreView {
 public:
  virtual ~StoreView() = default;

  [[nodiscard]] virtual const SearchSpace& space() const = 0;
  // The node of the r-th root; kNoNode if there is none.
  [[nodiscard]] virtual NodeIndex root(std::size_t r) const = 0;
  // All indices of a level are below this.
  [[nodiscard]] virtual NodeIndex end_index(int level) const = 0;
  // True if no index occurs at two levels and every node has one parent.
  [[nodiscard]] virtual bool is_tree() const = 0;
  // Do samplers read values together with weights?
  [[nodiscard]] virtual bool has_values() const = 0;
  // True if no sample leaves the store: everything possible is in it.
  [[nodiscard]] virtual bool is_whole() const = 0;

  enum class Read { kChildren, kWeights, kRewards, kAll };  // weights come with rewards, and everything with kAll
  // Reads the parts that are asked for, and always the children. Returns false if there is no such node: indices of a
  // level may have gaps.
  virtual bool read(int level, NodeIndex index, Read what, NodeEdges& edges) const = 0;
  // One entry per state. The node must exist.
  virtual void read_facts(int level, NodeIndex index, std::vector<EdgeFacts>& facts) const = 0;
  [[nodiscard]] virtual std::uint64_t num_nodes() const = 0;
  // The leaf value from which samples continue at a level if the node is not in the store; null if this never happens.
  [[nodiscard]] virtual const LeafValue* below(int level) const = 0;
};

}  // namespace treesample

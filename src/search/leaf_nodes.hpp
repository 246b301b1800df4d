// New nodes of the search, with their leaf values.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "search/bound_store.hpp"
#include "search/calibration.hpp"
#include "search/node_rewards.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

class LeafNodes {
 public:
  // Keeps a reference to the store. With `learns`, the leaf values get an estimate that is learned from the rewards.
  LeafNodes(BoundStore& store, const LeafValues& leaves, bool learns);
  // The same for the store of another thread.
  LeafNodes(const LeafNodes& other, BoundStore& store);

  // Pre: x is -1 everywhere.
  void add_roots(const Assignment& x);
  // Gives a node its expansion. The children of its edges are new nodes, or known ones where the context occurred
  // before. Pre: x holds the path down to the node; it is unchanged afterwards.
  void add_edges(BoundStore::Place place, const RewardRow& row, Assignment& x);

  [[nodiscard]] const LeafValues& leaves() const { return leaves_; }
  [[nodiscard]] CalibrationSchedule& calibration() { return calibration_; }
  // An impossible state was met.
  [[nodiscard]] bool has_zeros() const { return has_zeros_; }

 private:
  // The leaf values of a node.
  struct Leaf {
    double lower = 0.0, upper = 0.0;
    std::optional<double> estimate = {};  // if there is one and it is not learned
  };
  // The leaf values for all edges of a node, of one of its child levels.
  struct LeafRow {
    bool is_known = false;
    std::vector<double> lower, upper, estimate;
  };
  // The leaf values of a level's last new node, and the same as numbers: many nodes have equal leaf values.
  struct LastLeaf {
    double lower = NAN, upper = NAN, estimate = NAN;
    BoundValues values;
  };

  [[nodiscard]] bool is_exact_leaf(int level) const { return leaves_.upper && leaves_.upper->is_exact(level); }
  NodeIndex child_node(const Level& here, std::size_t child, Assignment& x);
  Leaf leaf_of(const Level& here, std::size_t child, Assignment& x);
  NodeIndex create_node(int level, Leaf leaf, const Assignment& x);

  BoundStore& store_;
  LeafValues leaves_;
  CalibrationSchedule calibration_;
  bool has_zeros_ = false;
  std::vector<LastLeaf> last_leaves_;  // by level
  std::vector<LeafRow> rows_;          // of the node that add_edges works on, by child; kept for their memory
};

}  // namespace treesample

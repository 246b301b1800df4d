// The limits of a tree search other than its budget, and the reports to its observer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "space/run_watch.hpp"
#include "tree/edge_rewards.hpp"
#include "tree/leaf_sum.hpp"
#include "tree/tree_store.hpp"
#include "treesample/tree/tree_sample.hpp"

namespace treesample {

// The arguments of tree_sample().
struct TreeSearchCall {
  const FactorGraph& graph;
  const SearchSpace& space;
  const LeafValues& leaves;
  const Limits& limits;
  const TreeSearchOptions& options;
  const Observer& observer;
};

class TreeWatch {
 public:
  // Keeps references to the store, the rewards and the graph.
  TreeWatch(const TreeSearchCall& call, const TreeStore& store, const EdgeRewards& rewards);

  // Called before the first traversal. Leaves of paths that were known before the search count too.
  void begin();
  // Called with the path of each traversal, once its last edge is evaluated.
  template <class NodeView>
  void note(std::span<const Step<NodeView>> path) {
    if (sums_leaves_ && path.size() == num_levels_ && path.back().factor != 0.0) leaves_.add(path);
  }

  // Called after each traversal. Returns true if the search has to end; reason() then says why. From time to time it
  // reports progress.
  bool is_over() {
    ++num_traversals_;
    if (store_.held_bytes() > most_bytes_) return true;
    return (looks_.is_due() || is_report_due()) && look();
  }
  [[nodiscard]] StopReason reason() const { return reason_; }
  [[nodiscard]] std::int64_t num_traversals() const { return num_traversals_; }
  [[nodiscard]] double seconds() const { return watch_.seconds(); }

 private:
  [[nodiscard]] bool is_report_due() const {
    return observer_interval_ > 0 && num_traversals_ % observer_interval_ == 0;
  }
  bool look();
  void tell();
  double log_lower();

  const TreeStore& store_;
  const EdgeRewards& rewards_;
  const FactorGraph& graph_;
  std::size_t num_levels_;
  bool sums_leaves_;
  LeafSum leaves_;
  std::size_t most_bytes_;
  LookSchedule looks_;
  std::int64_t observer_interval_;  // traversals; 0: every few looks
  std::int64_t num_traversals_ = 0, num_looks_ = 0;
  double log_lower_ = kNegInf;
  std::optional<double> rounding_;  // of L, for a model without functions
  RunWatch watch_;
  StopReason reason_ = StopReason::kMemory;
};

}  // namespace treesample

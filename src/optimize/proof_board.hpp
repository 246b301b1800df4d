// What the threads of a proof share: the model in costs, the open nodes, and the best configurations so far.
//
// A thread takes the open node with the least bound and gives back what its dive leaves of it. When nothing is open and
// no thread dives, the proof is done. Whatever the threads do, a configuration that is not known is in an open node, in
// a dive, or not better than the last of the k best by more than the slack.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "optimize/cost_reduction.hpp"
#include "optimize/cost_search.hpp"
#include "optimize/cost_tables.hpp"
#include "optimize/open_nodes.hpp"

namespace treesample {

class ProofBoard {
 public:
  // `known`: possible configurations; where several are wanted, as many as are wanted.
  ProofBoard(const FactorGraph& graph, const std::vector<Configuration>& known, const CostSearch::Options& options);

  [[nodiscard]] const CostTables& tables() const { return tables_; }
  [[nodiscard]] const CostSearch::Options& options() const { return options_; }
  // Nothing that costs as much is looked for. It never rises.
  [[nodiscard]] Cost top() const { return top_.load(std::memory_order_relaxed); }

  // ---- By any thread ---------------------------------------------------------------------------------------------
  // Eliminated variables are put into their best states.
  void offer(Assignment x);
  [[nodiscard]] Assignment first();
  // Waits for a node to search. Nothing when there will be none, or when it is asked to stop.
  std::optional<OpenNodes::Node> take(const ShouldStop& should_stop);
  [[nodiscard]] std::vector<BranchDecision> decisions(const OpenNodes::Node& node);
  [[nodiscard]] bool has_room();
  // What a dive leaves of the node that was taken.
  void give_back(const OpenNodes::Node& from, std::span<const BranchDecision> path, std::span<const Cost> bounds,
                 std::optional<Cost> end);

  // ---- By one thread, while no other dives -----------------------------------------------------------------------
  void open_root(Cost bound) { open_.push({bound, OpenNodes::kRoot, 0}); }
  [[nodiscard]] bool is_over() const { return open_.empty() || open_.least().bound >= top(); }
  // Of all configurations that are not known.
  [[nodiscard]] Cost bound() const;
  // Nothing was looked for that is better by less than a step of the costs.
  [[nodiscard]] bool is_by_steps() const { return open_gap_ > units(options_.tolerance); }
  [[nodiscard]] const std::vector<Configuration>& best() const { return best_; }  // the best first

 private:
  [[nodiscard]] Cost units(double nats) const;

  const FactorGraph& graph_;
  CostSearch::Options options_;
  CostTables tables_;
  CostReduction reduction_;
  std::vector<Configuration> best_;
  std::vector<Cost> costs_;  // of the best, in their order
  Cost slack_ = 1;           // nothing is looked for that is better than the last of the best by less
  Cost open_gap_ = 1;        // nothing of that is better by more than this
  Cost known_cost_ = kTopLine;
  std::atomic<Cost> top_ = kTopLine;
  OpenNodes open_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  int num_diving_ = 0;
};

}  // namespace treesample

// The tables of one bound by weighted mini-buckets, and the passes that tighten it. The equations are in
// treesample/value/mini_bucket.hpp. In their notation, a forward pass computes lambda_c from the last level to the
// first and matches the moments of each bucket on its way; a backward pass computes the moments mu_c and the
// derivatives with respect to the weights, from the first level to the last.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "math/unset_vector.hpp"
#include "model/dense_table.hpp"
#include "treesample/stop.hpp"
#include "value/block_team.hpp"
#include "value/cluster_moments.hpp"
#include "value/mini_bucket_plan.hpp"
#include "value/mini_bucket_waves.hpp"

namespace treesample {

class MiniBucketPasses {
 public:
  enum class Side { kUpper, kLower };
  // Keeps references to both. `plan` must fit into memory; for kLower no factor may have a -inf entry
  // unless the plan is exact.
  MiniBucketPasses(const FactorGraph& graph, const MiniBucketPlan& plan, Side side);

  // Runs at most `max_passes` forward passes (at least 1) and keeps the tables of the one with the best bound.
  // `should_settle` ends all passes but the first one, and a pass under way is undone. `should_stop` ends everything
  // with Error (kInterrupted). The result has the same bits for any number of threads.
  void run(int max_passes, ThreadTeam& team, const ShouldStop& should_settle, const ShouldStop& should_stop,
           const TellShare& progress = {});

  // lambda_c over the separator, a bound of its rounding error, and its largest entry by magnitude (not counting -inf).
  [[nodiscard]] std::span<const double> message(int cluster) const { return tables_[cluster].message; }
  [[nodiscard]] double rounding(int cluster) const { return tables_[cluster].rounding; }
  [[nodiscard]] double magnitude(int cluster) const { return tables_[cluster].magnitude; }
  // The sum of the constant messages: the bound on log Z without the constant factors.
  [[nodiscard]] double bound() const;
  [[nodiscard]] int num_passes() const { return num_passes_; }

 private:
  using Table = UnsetVector;
  struct Tables {
    double weight = 1.0;  // w_c
    double rounding = 0.0, magnitude = 0.0;
    Table message;
    Table shift;                    // over shift_scope; empty if the bucket has one cluster
    double shifts_magnitude = 0.0;  // sum over all matches of what they added
  };

  [[nodiscard]] std::vector<TableView> inputs(int cluster) const;  // tables that add up to F_c
  [[nodiscard]] ClusterView view(int cluster) const;
  // These return false, unfinished, if the team is_ended().
  bool forward(bool matches);
  bool eliminate(BlockTeam& team, int cluster);
  bool match(BlockTeam& team, const MiniBucketPlan::Match& match);
  bool apply_shift(BlockTeam& team, int cluster, std::span<const int> scope, const Table& shift);
  bool backward();
  bool send(BlockTeam& team, int cluster, std::vector<Table>& moments);
  void move_weights(const MiniBucketPlan::Bucket& bucket);
  void tighten(int max_passes, const ShouldStop& should_settle);
  void estimate_rounding(ThreadTeam& threads);
  void copy(const Table& from, Table& to);
  void save();
  void restore();
  [[nodiscard]] int num_states(int cluster) const { return graph_.num_states(plan_.clusters[cluster].scope.back()); }

  const FactorGraph& graph_;
  const MiniBucketPlan& plan_;
  Side side_;
  std::optional<BlockTeam> team_;  // only during run()
  MiniBucketWaves waves_;
  ShouldStop should_settle_;  // asked before each wave, and by the team within
  double step_ = 1.0;         // scales all shifts and weight moves; halved when a pass made the bound worse
  int num_passes_ = 0;
  std::vector<Tables> tables_;
  std::vector<Table> from_above_;  // log mu of the separator - lambda / w: adding it to F / w gives log mu
  std::vector<double> entropies_;  // of p_c under mu_c
  std::vector<Table> best_shifts_;
  std::vector<double> best_weights_, best_magnitudes_;
};

}  // namespace treesample

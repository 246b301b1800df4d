// Weighted mini-buckets (Liu and Ihler 2011): bounds on log Z and on every sub-problem of a search space, Q-values made
// from them, and a sampler whose weights they bound: the leaf value U.
//
// Levels are eliminated from the last to the first. The bucket of level n, that is the factors M_n and
// the messages sent to n, is split into clusters c with scopes S_c of at most i + 1 variables (a
// larger factor has a cluster of its own). With weights w_c that add up to 1 in each bucket,
//
//   F_c(x_Sc)              = sum of the cluster's factors and messages + its cost shift
//   lambda_c(x_Sc without n) = w_c log sum over x_n of exp(F_c / w_c),   sent to the deepest level left
//
// bounds the sum over x_n by Hoelder's inequality: from above when all w_c > 0, from below when one is
// positive and the others negative. The cost shifts of a bucket add up to 0. With ctx and V_j as in
// search_space.hpp,
//
//   U_j(x_ctx(j)) = sum of the messages sent from j and its descendants to levels before j >= V_j,
//   log Z        <= log constant + sum over the roots of U_j,
//   log sum_a exp(R_n(x, a) + sum over children j of U_j) <= U_n       (one step down never loosens),
//
// and the same reversed for L_j. With i at the width of the space every bucket is one cluster, no
// weight matters, and U_j = V_j = L_j: that is elimination.
//
// Tightening. The derivative of the bound with respect to F_c is the moment mu_c(x_Sc) = p_c(x_n | rest) mu(rest), with
// p_c = exp((F_c - lambda_c) / w_c) and mu(rest) from the cluster that got lambda_c; with respect to w_c it is the
// entropy of p_c under mu_c. A pass goes through the buckets. For every set A of variables that two clusters of a
// bucket share, it moves F_c by w_c (mean - log mu_c(x_A)), with the w-weighted mean of log mu over the clusters that
// contain A: a fixed point of the bound. The first pass does not know mu(rest) and takes it as constant. Before each
// further pass the weights follow their derivatives. A pass that makes the bound worse is undone and repeated with half
// the step.
//
// A state that one cluster excludes (-inf) is excluded from its neighbours too. The lower bound has
// negative powers and needs a model without -inf entries. All bounds are widened by an estimate of
// their rounding error, so they hold for the numbers returned.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "treesample/model/factor_graph.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/stop.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample {

struct MiniBucketOptions {
  std::uint64_t bytes = std::uint64_t{512} << 20;
  // Limits the choice of the i-bound if this is less than the memory. The smallest i-bound is used even if it takes
  // more.
  std::uint64_t wanted_bytes = UINT64_MAX;
  std::optional<int> i_bound = {};  // none: the largest i-bound that fits
  int passes = 10;                  // at most, for each of the two bounds; at least 1
  bool lower_bound = true;          // whether to compute it, if it is possible
  // 0: one per core. The bounds are the same for any number of threads, with one exception: if time or memory is short,
  // many threads may find a lower bound when few find none.
  int threads = 1;
  // Ends the passes; a pass under way is undone. The first pass of the upper bound is always completed.
  ShouldStop should_settle = {};
  // Ends even that first pass, and everything else, with Error (kInterrupted).
  ShouldStop should_stop = {};
  TellShare progress = {};  // share of the tables of all passes
};

struct MiniBucketReport {
  int i_bound = 0;
  int num_clusters = 0;
  bool is_exact = false;  // every bucket is one cluster
  bool has_lower = false;
  int upper_passes = 0;
  int lower_passes = 0;          // 0 if there is no lower bound, or if it equals the upper one
  double log_upper = 0.0;        // of Z, including constant factors
  double log_lower = 0.0;        // -inf if there is none
  std::uint64_t bytes = 0;       // of tables, at the peak
  std::uint64_t kept_bytes = 0;  // of tables, after construction
  std::int64_t table_reads = 0;  // different factor entries that were read: all of them
};

class WeightedMiniBucket final : public LeafValue {
 public:
  // Neither the graph nor the space is needed after the call. Throws Error: kArgument if a factor is a function or an
  // option is out of range, kResource before any work if the tables do not fit.
  WeightedMiniBucket(const FactorGraph& graph, const SearchSpace& space, const MiniBucketOptions& options = {});
  ~WeightedMiniBucket() override;

  [[nodiscard]] const MiniBucketReport& report() const;

  // U_j and L_j, given the states that x has for the context of the level. x is indexed by variable, and only the
  // context is read. Each takes a few table look-ups, and does not check that those states are legal. L_j is -inf if
  // nothing is known.
  [[nodiscard]] double log_upper(int level, std::span<const int> x) const;
  [[nodiscard]] double log_lower(int level, std::span<const int> x) const;
  // U_j.
  [[nodiscard]] double log_value(int level, std::span<const int> x) const override { return log_upper(level, x); }
  void log_values(int level, int variable, std::span<int> x, std::span<double> values) const override;
  // True if U_j = L_j = V_j up to rounding: no bucket from this level down was split.
  [[nodiscard]] bool is_exact(int level) const override;

  // Q_phi_n(a | x) = R_n(x, a) + sum over children j of U_j(x, a). Reads factors: see table_reads().
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;
  // Factor entries that one row of q_values reads: |M_n| K_n.
  [[nodiscard]] int table_reads(int level) const;

  // Draws the states of the level's variable and of all its descendants, given the context in x, from a distribution q
  // whose weights are bounded (the leaf part of a sampler by upper bounds):
  //
  //   sum of the factors below at x <= U_j(x_ctx(j)) + log q(x below | x_ctx(j))     for all x.
  //
  // At each level q(x_n | x) is the softmax of q_values: by the third inequality above the weights telescope to at most
  // U_j. (The mixture sum_c w_c p_c of Liu, Fisher and Ihler 2015 has the same bound; its effective sample size was 7 %
  // to 51 % smaller on four models, and it needs the cost shifts.) If no state of a variable is possible, q is uniform;
  // so q always adds up to 1. Returns log q.
  double draw_below(int level, std::span<int> x, Random& random, StopCheck& stop) const override;
  [[nodiscard]] double log_prob_below(int level, std::span<const int> x) const override;
  std::optional<Step> sample_level(int level, std::span<int> x, Random& random) const override;
  void probabilities(int level, std::span<const int> x, std::span<double> probs) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// U from mini-buckets, L from the ELBO of `distributions`. The lower bound of the mini-buckets is `lower_bound`.
LeafValues mini_bucket_leaves(const FactorGraph& graph, const SearchSpace& space,
                              std::shared_ptr<const WeightedMiniBucket> buckets,
                              const LocalDistributions& distributions, const ShouldStop& should_stop = {});

}  // namespace treesample

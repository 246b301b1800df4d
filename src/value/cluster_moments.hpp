// The two loops over a cluster's table that moments of mini-buckets are made by (equations in
// treesample/value/mini_bucket.hpp). Neither stores the table: F_c is added up block by block while it is in the
// first-level cache, since that reads less memory than F_c has.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "math/unset_vector.hpp"
#include "model/dense_table.hpp"
#include "value/block_team.hpp"

namespace treesample {

// What the moment of a cluster is made of.
struct ClusterView {
  const FactorGraph& graph;
  std::span<const int> scope;       // the variable that is summed out is the last
  std::vector<TableView> inputs;    // what adds up to F_c
  double weight = 1.0;              // w_c
  std::span<const double> message;  // lambda_c

  [[nodiscard]] std::size_t num_states() const { return static_cast<std::size_t>(graph.num_states(scope.back())); }
};

// log of the sum over everything but `onto` of exp(F / w + from_above): log mu_c on these variables, which have the
// order of the cluster's. -inf exactly where F is -inf for every completion; else normalised. `from_above` is over the
// separator, or empty. Nothing when the team is_ended().
std::optional<UnsetVector> log_moment(const ClusterView& cluster, std::span<const double> from_above,
                                      std::span<const int> onto, BlockTeam& team);

// mu_c(x) = p_c(x_n | x_sep) mu(x_sep) with p_c = exp((F_c - lambda_c) / w_c), added up onto the separators of the
// children.
struct MomentSink {
  std::span<const int> separator;
  UnsetVector* moment = nullptr;  // is made here
};
struct SentMoments {
  std::span<const double> above;  // mu(x_sep)
  std::vector<MomentSink> children;
  UnsetVector* from_above = nullptr;  // gets log mu(x_sep) - lambda_c / w_c, what F / w lacks to be log mu; or null
};
// The conditional entropy of p_c under mu, the derivative of the bound by w_c. Nothing when the team is_ended().
std::optional<double> send_moments(const ClusterView& cluster, const SentMoments& sent, BlockTeam& team);

}  // namespace treesample

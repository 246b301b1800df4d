// The two loops over a cluster's table that make the moments of mini-buckets (equations in
// treesample/value/mini_bucket.hpp). Neither stores the table: F_c is added up block by block in the first-level cache,
// because its inputs take less memory than F_c.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "math/unset_vector.hpp"
#include "model/dense_table.hpp"
#include "value/block_team.hpp"

namespace treesample {

// The quantities from which the moment of a cluster is computed.
struct ClusterView {
  const FactorGraph& graph;
  std::span<const int> scope;       // the last variable is the one summed out
  std::vector<TableView> inputs;    // their sum is F_c
  double weight = 1.0;              // w_c
  std::span<const double> message;  // lambda_c

  [[nodiscard]] std::size_t num_states() const { return static_cast<std::size_t>(graph.num_states(scope.back())); }
};

// log mu_c on the variables `onto`, which are in the order of the cluster's scope: log of the sum over all other
// variables of exp(F / w + from_above). -inf exactly if F is -inf for every completion; otherwise normalised.
// `from_above` is over the separator, or empty. Returns none if the team is_ended().
std::optional<UnsetVector> log_moment(const ClusterView& cluster, std::span<const double> from_above,
                                      std::span<const int> onto, BlockTeam& team);

// mu_c(x) = p_c(x_n | x_sep) mu(x_sep) with p_c = exp((F_c - lambda_c) / w_c), summed onto the separators of the
// children.
struct MomentSink {
  std::span<const int> separator;
  UnsetVector* moment = nullptr;  // set by send_moments
};
struct SentMoments {
  std::span<const double> above;  // mu(x_sep)
  std::vector<MomentSink> children;
  UnsetVector* from_above = nullptr;  // set to log mu(x_sep) - lambda_c / w_c = log mu_c - F_c / w_c; may be null
};
// Returns the conditional entropy of p_c under mu, which is the derivative of the bound with respect to w_c; none if
// the team is_ended().
std::optional<double> send_moments(const ClusterView& cluster, const SentMoments& sent, BlockTeam& team);

}  // namespace treesample

// Leaf values that include the pending factors: the ELBO of sampling uniformly below a prefix,
//
//   Q_phi_n(a | x_<n) = sum over n' > n of log K_n' + sum over the factors m of levels >= n of mean psi_m(x_<n)
//
// where the mean is over all entries of m that agree with x_<n. The paper's prior is only the first sum, "the values
// when all factors vanish everywhere"; the second one corrects it for factors that do not vanish. It is the same for
// all actions a, so samples are still uniform off the store.
//
// It reads the factors' tables in advance and without charge. So tables of results show it beside the paper's methods,
// not as one of them.
#pragma once

#include "treesample/value/leaf_value.hpp"

namespace treesample {

class ElboValue final : public LeafValue {
 public:
  // Only for tables without -inf, in a space that is a path; otherwise throws Error (kArgument).
  ElboValue(const FactorGraph& graph, const SearchSpace& space);
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override;

 private:
  // The mean of a factor given the first j variables of its scope, in the order of their levels.
  struct PartialMean {
    std::vector<int> variables;
    std::vector<int> strides;
    std::vector<double> values;
  };
  struct LevelTerms {
    double constant = 0.0;             // log-states below and all means that need no variable
    std::vector<PartialMean> pending;  // factors of which some variables are assigned at this level
    int num_states = 1;
  };
  std::vector<LevelTerms> levels_;
  int num_variables_;
};

}  // namespace treesample

// A weighted sum of atoms, sum_i p_i delta(x, x_i): the result of SIS, SMC, Gibbs and BP.
//
// Equal atoms are merged before anything is computed, because the entropy of the distribution is that of the merged
// weights. (Unmerged weights would overstate it, and the KL could become negative.) Each atom carries its log
// gamma_hat, which every method knows from its paid evaluations, so that
//
//   delta-KL = KL(P_X || P*) - log Z = -mean_log_density() - entropy()
//
// is exact and costs no evaluation.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "treesample/model/approximation.hpp"

namespace treesample {

// The rows are stored one after the other, each with one state per variable. For each row there are two logarithms: of
// its weight, up to a common constant, and of its density. A row with weight -inf is left out.
struct Particles {
  std::vector<int> states;
  std::vector<double> log_weights;
  std::vector<double> log_densities;
};

class ParticleApproximation final : public Approximation {
 public:
  // There may be no rows, or all may have weight 0. The approximation is then empty: its log_prob is -inf everywhere,
  // and everything that needs an atom throws Error (kArgument).
  ParticleApproximation(const FactorGraph& graph, const Particles& particles);

  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;

  [[nodiscard]] bool is_empty() const { return probabilities_.empty(); }
  // -sum_i p_i log p_i over the distinct atoms.
  [[nodiscard]] double entropy() const;
  // E[log gamma_hat] under the approximation, the paper's energy; -inf if an atom has density 0.
  [[nodiscard]] double mean_log_density() const;
  [[nodiscard]] Marginals marginals() const;
  // The atom of highest density; none if there is no atom of positive density.
  [[nodiscard]] std::optional<Configuration> best() const;

  // The distinct atoms, in lexicographic order of their states.
  [[nodiscard]] int num_atoms() const { return static_cast<int>(probabilities_.size()); }
  [[nodiscard]] std::span<const int> atom(int index) const;
  [[nodiscard]] double probability(int index) const { return probabilities_[index]; }
  [[nodiscard]] double log_density(int index) const { return log_densities_[index]; }

 private:
  void require_atoms(const char* function) const;

  std::vector<int> num_states_;        // by variable
  std::vector<int> states_;            // rows, sorted
  std::vector<double> probabilities_;  // positive, sum 1
  std::vector<double> cumulative_;     // running sums, for sampling
  std::vector<double> log_densities_;
};

}  // namespace treesample

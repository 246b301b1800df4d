// P_X for a function of which some values were evaluated: the true value where it was evaluated, the learned one
// elsewhere.
//
//   P_X(x) = gamma_hat(x) / Z_X where x was evaluated,  exp(learned(x)) / Z_X elsewhere
//
// Elimination of the learned model gives the probability of every prefix, in the reverse of its order. So evaluated
// configurations can be cut out along their paths. Z_X is then a sum of positive numbers, and nothing cancels: the
// values of evaluated configurations, and the learned masses of the branches that leave their paths.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "treesample/exact/elimination.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/model/factor_graph.hpp"
#include "treesample/stop.hpp"

namespace treesample {

class LearnedApproximation final : public Approximation {
 public:
  // `learned` has tables only, over the variables of the target. `asked` are different configurations with their true
  // log densities. Throws whatever Elimination throws.
  LearnedApproximation(Elimination learned, const FactorGraph& graph, std::vector<Configuration> asked,
                       const ShouldStop& should_stop = {});

  // log Z_X, and its two parts: the evaluated configurations, and the learned mass of all others.
  [[nodiscard]] double log_value() const;
  [[nodiscard]] double log_asked() const;
  [[nodiscard]] double log_elsewhere() const;
  [[nodiscard]] const Elimination& learned() const;
  [[nodiscard]] bool is_asked(std::span<const int> x) const;

  [[nodiscard]] Assignment sample(Random& random) const override;
  [[nodiscard]] double log_prob(std::span<const int> x) const override;
  // Of P_X: those of the learned model, with the densities of evaluated configurations in place of learned ones. Where
  // these have nearly all of the learned mass and little of P_X, theirs alone, because nothing but rounding is left of
  // the learned probabilities.
  [[nodiscard]] Marginals marginals() const;
  // A sample from P_X given that x was not evaluated. Throws kArgument if all possible configurations were evaluated.
  [[nodiscard]] Assignment sample_elsewhere(Random& random) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace treesample

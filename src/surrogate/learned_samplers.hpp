// The distributions from which the search draws configurations: P_X, its square root, and the uniform one over all that
// the tables allow. All of them exclude the configurations that were evaluated.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "surrogate/difference_estimate.hpp"
#include "surrogate/learned_model.hpp"
#include "treesample/surrogate/learned_approximation.hpp"

namespace treesample {

class LearnedSamplers {
 public:
  static constexpr double kFlatScale = 0.5;                     // the power for the square root
  static constexpr double kFromLearned = 0.6, kFromFlat = 0.3;  // P_X and its square root

  // Makes the samplers from the present learned model. Throws kInterrupted if asked to stop; learned() is then either
  // the earlier or the new one.
  void make(const LearnedModel& model, const FactorGraph& graph, const std::vector<Configuration>& asked,
            const LearnedModelLimits& limits, const ShouldStop& should_stop);
  // Makes only learned(): for an answer, after which nothing is drawn.
  void make_learned(const LearnedModel& model, const FactorGraph& graph, const std::vector<Configuration>& asked,
                    const LearnedModelLimits& limits, const ShouldStop& should_stop);

  [[nodiscard]] const std::shared_ptr<const LearnedApproximation>& learned() const { return learned_; }
  // True if the tables allow any configuration that was not evaluated.
  [[nodiscard]] bool has_any() const;

  // Draws from the mixture q. Pre: has_any().
  [[nodiscard]] Assignment draw(Random& random) const { return pick(random).sample_elsewhere(random); }
  [[nodiscard]] Assignment draw_uniform(Random& random) const { return uniform_->sample_elsewhere(random); }
  // Returns 1 / q and exp(S) / q; the caller turns the first into gamma_hat / q.
  [[nodiscard]] TargetSample weigh(Assignment x) const;

 private:
  [[nodiscard]] const LearnedApproximation& pick(Random& random) const;

  std::shared_ptr<const LearnedApproximation> learned_, flat_, uniform_;
};

// Draws configurations from models that are drawn from the posterior given the values (Thompson sampling). These
// configurations lie where large values are still possible.
class PosteriorDraws {
 public:
  // All log-values of a drawn model are multiplied by `scale`.
  PosteriorDraws(double scale, const LearnedModelLimits& limits) : scale_(scale), limits_(limits) {}

  // None if the drawn model allows no configuration.
  std::optional<Assignment> sample(const LearnedModel& model, Random& random);
  // Call it when the model was fitted again.
  void forget() { drawn_.reset(); }

 private:
  double scale_;
  LearnedModelLimits limits_;
  std::optional<Elimination> drawn_;
  int num_from_one_ = 0;
};

}  // namespace treesample

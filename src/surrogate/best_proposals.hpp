// Chooses what to evaluate next where only the best configuration is looked for.
//
// Two ways take turns according to their success: configurations drawn from exp(4 S), with S drawn from the posterior
// given the values (Thompson sampling), and neighbours of the five best. A way succeeds when it finds one of the best
// tenth of all values; its share is (successes + 1) / (tries + 2). A tenth of all proposals is drawn as in the ordinary
// search.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "surrogate/learned_model.hpp"
#include "surrogate/learned_samplers.hpp"

namespace treesample {

class BestProposals {
 public:
  enum Way : std::int64_t { kOther, kDrawn, kNeighbour };
  struct Proposal {
    Assignment x;
    Way way = kOther;
  };

  BestProposals(const FactorGraph& graph, const LearnedModelLimits& limits)
      : graph_(graph), draws_(kSharpness, limits) {}

  // Nothing where the proposal is to be drawn as in the ordinary search.
  std::optional<Proposal> next(const LearnedModel& model, Random& random);
  // Records the outcome of a proposal.
  void note(Way way, const Configuration& asked);
  // To be called when the model was fitted again.
  void forget_draw() { draws_.forget(); }

 private:
  static constexpr double kSharpness = 4.0;
  Assignment neighbour(Random& random) const;

  const FactorGraph& graph_;
  PosteriorDraws draws_;
  std::vector<Configuration> best_;  // the best first
  std::vector<double> values_;       // of everything evaluated, sorted
  double tries_[3] = {}, successes_[3] = {};
};

// The most probable configuration of the model as it was learned; none where it allows none, or was asked to stop.
std::optional<Assignment> learned_optimum(const LearnedModel& model, const LearnedModelLimits& limits,
                                          const ShouldStop& should_stop);

}  // namespace treesample

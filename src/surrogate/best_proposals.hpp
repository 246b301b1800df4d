// Chooses what to evaluate next if only the best configuration is wanted.
//
// Two ways of choosing take turns according to their success: configurations drawn from exp(4 S), with S drawn from the
// posterior given the values (Thompson sampling), and neighbours of the five best. A way succeeds when it finds one of
// the best tenth of all values; its share is (successes + 1) / (tries + 2). A tenth of all proposals is drawn as in the
// ordinary search (learned_search.hpp).
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

  // None if the proposal is to be drawn as in the ordinary search.
  std::optional<Proposal> next(const LearnedModel& model, Random& random);
  // Records the outcome of a proposal.
  void note(Way way, const Configuration& asked);
  // Call it when the model was fitted again.
  void forget_draw() { draws_.forget(); }

 private:
  static constexpr double kSharpness = 4.0;
  Assignment neighbour(Random& random) const;

  const FactorGraph& graph_;
  PosteriorDraws draws_;
  std::vector<Configuration> best_;  // the best one first
  std::vector<double> values_;       // of all evaluated configurations, sorted
  double tries_[3] = {}, successes_[3] = {};
};

// The most probable configuration of the learned model; none if the model allows none, or if it was asked to stop.
std::optional<Assignment> learned_optimum(const LearnedModel& model, const LearnedModelLimits& limits,
                                          const ShouldStop& should_stop);

}  // namespace treesample

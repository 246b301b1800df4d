// What to ask next where only the best configuration is looked for.
//
// Two ways take turns by their success: configurations drawn from exp(4 S), with S drawn from what the values leave
// open (Thompson's way), and neighbours of the five best. A way that brought one of the best tenth of all values
// succeeded; its share is (successes + 1) / (tries + 2), and a tenth of all is drawn as otherwise.
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

  // Nothing where it is to be drawn as otherwise.
  std::optional<Proposal> next(const LearnedModel& model, Random& random);
  // What came of it.
  void note(Way way, const Configuration& asked);
  // The model has learned.
  void forget_draw() { draws_.forget(); }

 private:
  static constexpr double kSharpness = 4.0;
  Assignment neighbour(Random& random) const;

  const FactorGraph& graph_;
  PosteriorDraws draws_;
  std::vector<Configuration> best_;  // the best first
  std::vector<double> values_;       // of all that was asked, sorted
  double tries_[3] = {}, successes_[3] = {};
};

}  // namespace treesample

#include "tree/tree_rounding.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Bounds for the sum of a level's factors: `most` for the sum itself, `positive` for the sum of the positive entries,
// `negative` for the sum of the magnitudes of the negative ones.
struct Reach {
  double most = 0.0, positive = 0.0, negative = 0.0;
};

Reach reach_of(const FactorGraph& graph, const Level& level, double function_magnitude) {
  Reach reach{function_magnitude, function_magnitude, function_magnitude};
  for (const int m : level.factors) {
    if (!graph.factor(m).is_table()) continue;
    double most = kNegInf;
    double least = 0.0;
    for (const double value : graph.factor(m).log_values()) {
      most = std::max(most, value);
      if (value != kNegInf) least = std::min(least, value);
    }
    reach.most += most;
    reach.positive += std::max(most, 0.0);
    reach.negative -= least;
  }
  return reach;
}

}  // namespace

// Z is a sum over paths of products of exp(R_n), computed by products and sums of positive numbers, so that relative
// errors of the levels add up. At a level with m factors whose magnitudes add up to M these errors are
//
//   m eps M             from adding up R_n, and from the factors as they are given,
//   eps (K + C + 16)    from the exponential, K additions and C products with the values of the children,
//   8 eps (|V| + 256)   if a product leaves the range of a double and is made from logarithms, |V| <= sum of all M; a
//                       sum is within 256 nats of its unit (is_out_of_range).
//
// A Q_phi that is far from V can take a node's value out of the range of its unit. The node then takes the values of
// its evaluated edges from their children again (TreeSearch::repair). So in a solved tree every value is computed from
// final ones, whatever the values were before.
//
// All paths with an R_n below -T together make up less than exp(-800) of Z, for T = 800 + log(number of configurations)
// + (the largest possible rewards of the other levels) - log Z. So M need not count entries below -T.
double tree_rounding(const FactorGraph& graph, const SearchSpace& space, std::span<const double> function_magnitudes,
                     double log_z) {
  if (log_z == kNegInf) return 0.0;
  std::vector<Reach> reaches;
  double depth = 800.0 - (log_z - space.log_constant);
  for (int n = 0; n < space.num_levels(); ++n) {
    reaches.push_back(reach_of(graph, space.levels[n], function_magnitudes[n]));
    depth += std::log(space.levels[n].num_states) + reaches[n].most;
  }
  double terms = 0.0;
  double magnitudes = 0.0;
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    const Reach& reach = reaches[n];
    const double magnitude =
        reach.positive + std::min(reach.negative, std::max(depth, 0.0) + reach.positive + std::abs(reach.most));
    terms += static_cast<double>(level.factors.size() + 2) * (1.0 + magnitude) + level.num_states +
             static_cast<double>(level.children.size()) + 16.0;
    magnitudes += magnitude + std::log(level.num_states);
  }
  const double last = std::abs(log_z) + std::abs(space.log_constant);
  const double logarithms = 8.0 * space.num_levels() * (magnitudes + 256.0);
  return kEpsilon * (terms + logarithms + 4.0 * last) + space.log_constant_error;
}

}  // namespace treesample

// The models, and the leaf values, on which the tree search is compared with enumeration and with its literal
// transcription.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/math/random.hpp"
#include "treesample/model/approximation.hpp"
#include "treesample/space/search_space.hpp"
#include "treesample/value/leaf_value.hpp"

namespace treesample::testing {

inline constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};
inline constexpr std::int64_t kUnlimited = 1'000'000'000;

// The options cycle through sizes, arities, zeros and functions.
inline RandomModelOptions model_options(int variant) {
  RandomModelOptions options;
  options.num_variables = 1 + variant % 7;
  options.max_states = 1 + variant % 4;
  options.num_factors = variant % 9;
  options.min_arity = variant % 2;
  options.zero_probability = variant % 3 == 0 ? 0.3 : 0.0;
  options.function_probability = variant % 5 == 0 ? 0.5 : 0.0;
  return options;
}

inline SearchSpace space_of(const FactorGraph& graph, SpaceKind kind, OrderKind order = OrderKind::kGiven) {
  return make_search_space(graph, search_order(graph, kind, {.kind = order}), kind);
}

inline double total_probability(const FactorGraph& graph, const Approximation& approximation) {
  double total = 0.0;
  for_each_configuration(graph, [&](const Assignment& x) { total += std::exp(approximation.log_prob(x)); });
  return total;
}

// A Q_phi that looks random but depends only on the states before the level.
class HashValue final : public LeafValue {
 public:
  explicit HashValue(const SearchSpace& space, std::uint64_t seed = 7, double scale = 1.0)
      : LeafValue(space), space_(space), seed_(seed), scale_(scale) {}
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override {
    const std::size_t width = prefixes.size() / count;
    const int num_states = space_.levels[level].num_states;
    for (int r = 0; r < count; ++r) {
      std::uint64_t hash = seed_ + level;
      for (std::size_t i = 0; i < width; ++i) hash = hash * 31 + prefixes[r * width + i] + 2;
      Random random(hash);
      for (int a = 0; a < num_states; ++a) q[r * num_states + a] = scale_ * random.normal();
    }
  }

 private:
  SearchSpace space_;
  std::uint64_t seed_;
  double scale_;
};

}  // namespace treesample::testing

// Samples against log_prob: a chi-square over all configurations with a false-alarm rate of 1e-6 each.
#include <gtest/gtest.h>

#include <cmath>

#include "support/chi_square.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

TEST(SearchSampling, SamplesFollowLogProb) {
  Random model_random(21);
  for (int variant = 0; variant < 12; ++variant) {
    testing::RandomModelOptions options{
        .num_variables = 4, .max_states = 3, .zero_probability = variant % 3 == 0 ? 0.2 : 0.0};
    const FactorGraph graph = testing::random_model(model_random, options);
    const SpaceKind kind = static_cast<SpaceKind>(variant % 3);
    const SearchSpace space = make_search_space(graph, search_order(graph, kind, {}), kind);
    const QUctResult result = q_uct_search(graph, space, {}, {.budget = 5 + 10 * (variant / 3)});
    if (!std::isfinite(result.approximation->log_value())) continue;
    constexpr int kNumSamples = 40'000;
    std::vector<int> counts(static_cast<std::size_t>(std::lround(std::exp(graph.log_num_configurations()))), 0);
    Random random(variant, "samples");
    for (int i = 0; i < kNumSamples; ++i) ++counts[configuration_index(graph, result.approximation->sample(random))];
    std::vector<double> log_probs;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      log_probs.push_back(result.approximation->log_prob(configuration_at(graph, i)));
    }
    SCOPED_TRACE(::testing::Message() << "variant " << variant);
    testing::expect_counts_follow(counts, log_probs);
  }
}

}  // namespace
}  // namespace treesample

// Theory of SIS and SMC against enumeration: the estimate of Z is unbiased, weights are density over proposal.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/equal_marginals.hpp"
#include "support/search_models.hpp"
#include "treesample/baselines/smc.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::expect_equal_marginals;
using testing::HashValue;
using testing::random_model;
using testing::RandomModelOptions;

SearchSpace path_of(const FactorGraph& graph, Random& random, SpaceKind kind = SpaceKind::kTree) {
  return make_search_space(graph, random.permutation(graph.num_variables()), kind);
}

RandomModelOptions smc_model(int variant) {
  return {.num_variables = 5,
          .num_factors = 8,
          .min_arity = variant % 2,
          .zero_probability = variant == 1 ? 0.25 : 0.0,
          .function_probability = variant == 2 ? 0.5 : 0.0,
          .scale = 0.8};
}

// The mean of Z_estimate / Z over independent runs is 1 within 4.5 standard errors. There are 42 comparisons: a false
// alarm in fewer than 3 of 1e4 seeds.
TEST(Smc, EstimateOfZIsUnbiased) {
  constexpr int kRuns = 1500;
  Random random(41);
  for (int variant = 0; variant < 3; ++variant) {
    FactorGraph graph = random_model(random, smc_model(variant));
    while (enumerate(graph).log_z == kNegInf) graph = random_model(random, smc_model(variant));
    const double log_z = enumerate(graph).log_z;
    const SearchSpace space = path_of(graph, random);
    const auto hash_prior = std::make_shared<HashValue>(space, 7, 0.6);
    for (const auto scheme :
         {ResamplingScheme::kMultinomial, ResamplingScheme::kStratified, ResamplingScheme::kSystematic}) {
      for (const double threshold : {0.0, 0.6, 1.0}) {
        if (threshold == 0.0 && scheme != ResamplingScheme::kMultinomial) continue;  // never resampled
        for (const bool is_uniform : {true, false}) {
          SCOPED_TRACE(fmt::format("variant {} {} t {} uniform {}", variant, to_string(scheme), threshold, is_uniform));
          double sum = 0.0;
          double sum_of_squares = 0.0;
          for (int run = 0; run < kRuns; ++run) {
            const SmcOptions options{
                .ess_threshold = threshold, .resampling = scheme, .seed = static_cast<std::uint64_t>(run)};
            const Limits limits{.budget = 40};  // 8 particles
            const SmcResult result =
                smc(graph, space, {.estimate = is_uniform ? nullptr : hash_prior}, limits, options);
            const double ratio = std::exp(result.report.estimate - log_z);
            sum += ratio;
            sum_of_squares += ratio * ratio;
          }
          const double mean = sum / kRuns;
          const double standard_error = std::sqrt((sum_of_squares / kRuns - mean * mean) / kRuns);
          EXPECT_NEAR(mean, 1.0, 4.5 * standard_error);
          EXPECT_LT(standard_error, 0.1);  // otherwise the comparison says nothing
        }
      }
    }
  }
}

// At t = 0 the weight of an atom is (particles there) * density / proposal, so all of it can be recomputed.
TEST(Smc, SisWeightsAreDensityOverProposal) {
  Random random(42);
  for (int trial = 0; trial < 20; ++trial) {
    const FactorGraph graph = random_model(random, {.num_variables = 4, .num_factors = 6, .zero_probability = 0.1});
    const SearchSpace space = path_of(graph, random);
    const SmcResult result = smc(graph, space, {}, {.budget = 4 * 20'000}, {.ess_threshold = 0.0});
    const Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) {
      EXPECT_EQ(result.report.estimate, kNegInf);
      continue;
    }
    EXPECT_EQ(result.report.num_resamplings, 0);
    EXPECT_NEAR(result.report.estimate, exact.log_z, 0.1);
    for (int i = 0; i < result.approximation.num_atoms(); ++i) {
      const std::span<const int> x = result.approximation.atom(i);
      ASSERT_NEAR(result.approximation.log_density(i), graph.log_density(x), 1e-12);
      // p = (count / I) K^N gamma / Z_estimate, so the count it implies is a whole number.
      const double count = std::exp(std::log(result.approximation.probability(i)) + result.report.estimate -
                                    graph.log_density(x) - graph.log_num_configurations()) *
                           20'000;
      ASSERT_NEAR(count, std::round(count), 1e-6);
    }
    expect_equal_marginals(result.approximation.marginals(), exact.marginals, 0.05);
  }
}

TEST(Smc, ResampledParticlesKeepTheirDensitiesAndApproachTheTarget) {
  Random random(52);
  for (const double zeros : {0.0, 0.2}) {
    const FactorGraph graph = random_model(
        random, {.num_variables = 6, .min_states = 2, .num_factors = 9, .zero_probability = zeros, .scale = 0.8});
    const Enumeration exact = enumerate(graph);
    ASSERT_NE(exact.log_z, kNegInf);
    for (const auto scheme :
         {ResamplingScheme::kMultinomial, ResamplingScheme::kStratified, ResamplingScheme::kSystematic}) {
      const SmcResult result =
          smc(graph, path_of(graph, random), {}, {.budget = 6 * 20'000}, {.ess_threshold = 1.0, .resampling = scheme});
      EXPECT_GT(result.report.num_resamplings, 1);
      for (int i = 0; i < result.approximation.num_atoms(); ++i) {
        ASSERT_NEAR(result.approximation.log_density(i), graph.log_density(result.approximation.atom(i)), 1e-12);
      }
      EXPECT_NEAR(result.report.estimate, exact.log_z, 0.1);
      expect_equal_marginals(result.approximation.marginals(), exact.marginals, 0.05);
    }
  }
}

// With the exact values as proposal all weights equal Z: one particle is enough.
class ExactPrior final : public LeafValue {
 public:
  ExactPrior(const FactorGraph& graph, const SearchSpace& space) : LeafValue(space), graph_(graph), space_(space) {}
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override {
    const std::size_t width = prefixes.size() / count;
    const Level& at = space_.levels[level];
    const Enumeration exact = enumerate(graph_);
    std::fill(q.begin(), q.end(), kNegInf);
    for (std::size_t index = 0; index < exact.log_probs.size(); ++index) {
      const Assignment x = configuration_at(graph_, index);
      for (int r = 0; r < count; ++r) {
        bool agrees = true;
        for (std::size_t v = 0; v < width; ++v) {
          agrees = agrees && (prefixes[r * width + v] < 0 || prefixes[r * width + v] == x[v]);
        }
        double& value = q[r * at.num_states + x[at.variable]];
        if (agrees) value = log_add_exp(value, exact.log_probs[index]);
      }
    }
  }

 private:
  FactorGraph graph_;
  SearchSpace space_;
};

TEST(Smc, ExactValuesAsProposalGiveZWithoutError) {
  Random random(43);
  for (int trial = 0; trial < 10; ++trial) {
    const FactorGraph graph = random_model(random, {.num_variables = 4, .num_factors = 6, .zero_probability = 0.15});
    const double log_z = enumerate(graph).log_z;
    const SearchSpace space = path_of(graph, random, SpaceKind::kGraph);
    const auto prior = std::make_shared<ExactPrior>(graph, space);
    // t = 0, because the weights of prefixes differ and resampling would add noise.
    const SmcResult result = smc(graph, space, {.estimate = prior}, {.budget = 4 * 30}, {.ess_threshold = 0.0});
    if (log_z == kNegInf) {
      EXPECT_EQ(result.report.estimate, kNegInf);
      EXPECT_TRUE(result.approximation.is_empty());
    } else {
      EXPECT_NEAR(result.report.estimate, log_z, 1e-10);
      EXPECT_NEAR(result.report.ess, 30.0, 1e-8);
    }
  }
}

}  // namespace
}  // namespace treesample

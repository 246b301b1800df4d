// Telescoped leaf values in the tree search, against enumeration and against the literal transcription.
#include "treesample/value/telescoped_value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "examples/literal_tree_sample.hpp"
#include "support/expect_same_tree.hpp"
#include "support/search_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/space/reward.hpp"
#include "treesample/tree/tree_sample.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::HashValue;
using testing::model_options;
using testing::random_model;
using testing::RandomModelOptions;

// Exact Q* plus an error that is the same for all actions of a node and different for every node.
class ShiftedExactValue final : public LeafValue {
 public:
  ShiftedExactValue(const FactorGraph& graph, const SearchSpace& space, double scale)
      : LeafValue(space), exact_(graph, space), noise_(space, 11, scale) {}
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override {
    exact_.q_values(level, prefixes, count, q);
    const auto num_states = static_cast<std::size_t>(space().levels[level].num_states);
    std::vector<double> noise(q.size());
    noise_.q_values(level, prefixes, count, noise);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count) * num_states; ++i) q[i] += noise[i / num_states];
  }

 private:
  WeightedMiniBucket exact_;
  HashValue noise_;
};

// V(root) + log q(x_<=n) - R_0 - ... - R_{n-1}: the unrolled recursion.
std::vector<double> unrolled(const FactorGraph& graph, const SearchSpace& space, const LeafValue& of, double root_value,
                             const std::vector<int>& prefix) {
  Reward reward(graph, space);
  Budget unlimited(INT64_MAX, BudgetUnit::kReward);
  Assignment x(space.levels.size(), -1);
  double value = root_value;
  std::vector<double> q;
  for (std::size_t n = 0;; ++n) {
    q.resize(space.levels[n].num_states);
    of.q_values(static_cast<int>(n), x, 1, q);
    const double total = log_sum_exp(q);
    for (double& entry : q) entry += value - total;
    if (n == prefix.size()) return q;
    x[space.levels[n].variable] = prefix[n];
    const double paid = reward.evaluate(static_cast<int>(n), x, unlimited);
    if (paid == kNegInf) return std::vector<double>(space.levels[prefix.size()].num_states, 0.0);  // never used
    value = q[prefix[n]] - paid;
  }
}

TEST(Telescoped, GrowsTheTreeOfTheLiteralTranscription) {
  Random random(23);
  for (int variant = 0; variant < 60; ++variant) {
    RandomModelOptions options = model_options(variant);
    options.num_variables = 3 + variant % 5;
    const FactorGraph graph = random_model(random, options);
    const std::vector<int> order = random.permutation(graph.num_variables());
    const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
    const auto of = std::make_shared<HashValue>(space, variant, 2.0);
    const double root_value = random.normal();
    const auto q_phi = std::make_shared<TelescopedValue>(space, of, Calibration{.root_value = root_value});
    literal::TreeSample<>::Options twin_options{.c = 0.3 + 0.2 * (variant % 5)};
    twin_options.q_phi = [&](const std::vector<int>& prefix) {
      return unrolled(graph, space, *of, root_value, prefix);
    };
    SCOPED_TRACE(variant);
    for (const std::int64_t budget : {1, 10, 200}) testing::expect_same_tree(graph, order, budget, twin_options, q_phi);
  }
}

TEST(Telescoped, SearchOfEverythingEqualsEnumeration) {
  Random random(5);
  for (int variant = 0; variant < 40; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    const SearchSpace space = testing::space_of(graph, SpaceKind::kTree);
    const auto q_phi = std::make_shared<TelescopedValue>(space, std::make_shared<HashValue>(space, variant, 3.0),
                                                         Calibration{.root_value = -2.0, .shift = 1.0, .trust = 0.3});
    const TreeSearchResult result = tree_sample(graph, space, {.estimate = q_phi}, {});
    const Enumeration exact = enumerate(graph);
    if (exact.log_z == kNegInf) {
      EXPECT_EQ(result.report.estimate, kNegInf);
    } else {
      EXPECT_NEAR(result.report.estimate, exact.log_z, 1e-9) << variant;
    }
  }
}

// The case that telescoping is made for: differences within a node are right, values of neighbouring levels disagree.
TEST(Telescoped, ErrorsThatANodesActionsShareDoNotMatter) {
  Random random(8);
  for (int variant = 0; variant < 12; ++variant) {
    const FactorGraph graph = random_model(random, {.num_variables = 6, .max_states = 3, .num_factors = 9});
    const SearchSpace space = testing::space_of(graph, SpaceKind::kTree);
    const auto noisy = std::make_shared<ShiftedExactValue>(graph, space, 1.0);
    const Telescoped made = telescope(graph, space, noisy, Budget(2000, BudgetUnit::kReward), {}, 3);
    const Enumeration exact = enumerate(graph);
    // The weight of every sample is Z.
    EXPECT_NEAR(made.calibration.root_value + space.log_constant, exact.log_z, 1e-8);
    EXPECT_NEAR(made.sampled_kl, 0.0, 1e-8);
    EXPECT_EQ(made.num_samples, 200);
    EXPECT_LT(made.spent.reward_evaluations, 1200);  // samples share prefixes
    double largest = 0.0;
    double largest_absolute = 0.0;
    for (const std::int64_t budget : {0, 5, 40}) {
      const TreeSearchResult telescoped = tree_sample(graph, space, {.estimate = made.value}, {.budget = budget});
      const TreeSearchResult absolute = tree_sample(graph, space, {.estimate = noisy}, {.budget = budget});
      testing::for_each_configuration(graph, [&](const Assignment& x) {
        const double expected = graph.log_density(x) - exact.log_z;
        largest = std::max(largest, std::abs(telescoped.approximation.log_prob(x) - expected));
        largest_absolute = std::max(largest_absolute, std::abs(absolute.approximation.log_prob(x) - expected));
      });
    }
    EXPECT_LT(largest, 1e-7) << variant;
    EXPECT_GT(largest_absolute, 0.1) << variant;
  }
}

// V^q of the leaf value alone, by enumeration, without constant factors.
double exact_value(const FactorGraph& graph, const SearchSpace& space, const LeafValue& of) {
  double value = 0.0;
  testing::for_each_configuration(graph, [&](const Assignment& x) {
    const double log_q = of.log_prob_below(0, x);
    value += std::exp(log_q) * (graph.log_density(x) - space.log_constant - log_q);
  });
  return value;
}

TEST(Telescoped, RootIsWhatSamplesMakeOfItAndPaidFor) {
  Random random(12);
  const FactorGraph graph = random_model(random, {.num_variables = 5, .num_factors = 6});
  const SearchSpace space = testing::space_of(graph, SpaceKind::kTree);
  const auto of = std::make_shared<HashValue>(space, 3, 0.5);
  const double expected = exact_value(graph, space, *of);
  constexpr int kRepeats = 4000;
  double sum = 0.0;
  double squares = 0.0;
  for (int seed = 0; seed < kRepeats; ++seed) {
    const Telescoped made =
        telescope(graph, space, of, Budget(1000, BudgetUnit::kReward), {.count = 20, .correcting = 0.0}, seed);
    EXPECT_EQ(made.num_samples, 20);
    EXPECT_LE(made.spent.reward_evaluations, 100);
    sum += made.calibration.root_value;
    squares += made.calibration.root_value * made.calibration.root_value;
  }
  const double mean = sum / kRepeats;
  const double error = std::sqrt((squares / kRepeats - mean * mean) / kRepeats);
  EXPECT_LT(std::abs(mean - expected), 5.0 * error);  // false alarm: one in two million
  // Never more than its share of the budget; without a sample, the leaf value's own V(root).
  EXPECT_LE(telescope(graph, space, of, Budget(30, BudgetUnit::kReward), {}, 1).spent.reward_evaluations, 24);
  const Telescoped none = telescope(graph, space, of, Budget(100, BudgetUnit::kReward), {.count = 0}, 1);
  EXPECT_EQ(none.spent.reward_evaluations, 0);
  EXPECT_EQ(none.calibration.root_value, of->log_value(0, Assignment(5, -1)));
}

// Sampled paths are in the tree: a search without budget knows them, and one with a budget pays for nothing twice.
TEST(Telescoped, SamplesArePartOfTheTree) {
  Random random(4);
  for (int variant = 0; variant < 30; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    const SearchSpace space = testing::space_of(graph, SpaceKind::kTree);
    const auto of = std::make_shared<HashValue>(space, variant, 1.0);
    const Telescoped made = telescope(graph, space, of, Budget(100, BudgetUnit::kReward), {.count = 10}, 3);
    const TreeSearchOptions options{.known = made.known};
    const TreeSearchResult none = tree_sample(graph, space, {.estimate = made.value}, {.budget = 0}, options);
    EXPECT_EQ(none.report.spent.reward_evaluations, 0);
    const TreeSearchResult rest = tree_sample(graph, space, {.estimate = made.value}, {}, options);
    const TreeSearchResult all = tree_sample(graph, space, {.estimate = made.value}, {});
    EXPECT_EQ(rest.report.stop, all.report.stop);
    EXPECT_EQ(rest.report.spent.reward_evaluations + made.spent.reward_evaluations, all.report.spent.reward_evaluations)
        << variant;
    if (all.report.estimate != kNegInf) {
      EXPECT_NEAR(rest.report.estimate, all.report.estimate, 1e-9);
    }
  }
}

TEST(Telescoped, RefusesKnownPathsOfOtherModels) {
  Random random(2);
  const FactorGraph graph = random_model(random, model_options(5));
  const SearchSpace space = testing::space_of(graph, SpaceKind::kTree);
  const auto search = [&](const KnownPath& path) {
    return tree_sample(graph, space, {}, {.budget = 1}, {.known = std::make_shared<KnownPaths>(KnownPaths{path})});
  };
  const Assignment x(space.levels.size(), 0);
  EXPECT_NO_THROW(search({x, {{0.5, 0.0}}}));
  EXPECT_THROW(search({Assignment(1 + x.size(), 0), {}}), Error);
  EXPECT_THROW(search({x, {{NAN, 0.0}}}), Error);
  EXPECT_THROW(search({Assignment(x.size(), 1000), {{0.0, 0.0}}}), Error);
}

// A leaf value whose Q-values are off by a number per level and state, like those of a network on another problem.
class OffsetValue final : public LeafValue {
 public:
  OffsetValue(const FactorGraph& graph, const SearchSpace& space, double scale)
      : LeafValue(space), exact_(graph, space, 0.0), scale_(scale) {}
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override {
    exact_.q_values(level, prefixes, count, q);
    const int num_states = space().levels[level].num_states;
    for (int r = 0; r < count * num_states; ++r) q[r] += scale_ * ((level + r % num_states) % 2);
  }

 private:
  ShiftedExactValue exact_;
  double scale_;
};

TEST(Telescoped, CorrectsWhatAllSamplesShare) {
  Random random(31);
  double before = 0.0;
  double after = 0.0;
  for (int variant = 0; variant < 10; ++variant) {
    const FactorGraph graph = random_model(random, {.num_variables = 8, .max_states = 3, .num_factors = 10});
    const SearchSpace space = testing::space_of(graph, SpaceKind::kTree);
    const auto of = std::make_shared<OffsetValue>(graph, space, 0.7);
    const Telescoped made = telescope(graph, space, of, Budget(5000, BudgetUnit::kReward), {}, 5);
    const double log_z = enumerate(graph).log_z - space.log_constant;
    before += log_z - exact_value(graph, space, *of);
    after += log_z - exact_value(graph, space, *made.value);
  }
  EXPECT_LT(after, 0.35 * before) << before;
}

TEST(Telescoped, RefusesOtherSpaces) {
  Random random(1);
  const FactorGraph graph = random_model(random, model_options(5));
  const SearchSpace tree = testing::space_of(graph, SpaceKind::kTree);
  const SearchSpace merged = testing::space_of(graph, SpaceKind::kGraph);
  EXPECT_THROW(TelescopedValue(merged, std::make_shared<HashValue>(merged), {}), Error);
  EXPECT_THROW(TelescopedValue(tree, nullptr, {}), Error);
  EXPECT_THROW(TelescopedValue(tree, std::make_shared<HashValue>(tree), {.root_value = NAN}), Error);
}

}  // namespace
}  // namespace treesample

// The best configuration of a learned function, where log Z is the question.
#include <gtest/gtest.h>

#include <vector>

#include "treesample/exact/max_product.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample {
namespace {

// So flat that draws hardly come across the best of 531,441 configurations, and so simple that it is known
// nevertheless.
TEST(LearnedSearch, AsksWhatItBelievesToBeTheBest) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed, "flat");
    FactorGraph model;
    for (int v = 0; v < 12; ++v) model.add_variable(3);
    for (int v = 0; v + 1 < 12; ++v) {
      std::vector<double> values(9);
      for (double& value : values) value = 0.15 * random.normal();
      model.add_table({v, v + 1}, values);
    }
    FactorGraph graph;  // all of it in one function
    std::vector<int> scope;
    for (int v = 0; v < 12; ++v) scope.push_back(graph.add_variable(3));
    graph.add_factor(Factor::function(scope, [&](std::span<const int> x) { return model.log_density(x); }));
    const LearnedResult result = learned_search(graph, {.budget = 300, .unit = BudgetUnit::kCall}, {.seed = seed});
    ASSERT_TRUE(result.best) << seed;
    EXPECT_NEAR(result.best->log_density, most_probable(model)->configuration.log_density, 1e-9) << seed;
    EXPECT_LE(result.report.spent.calls, 300) << seed;
    EXPECT_TRUE(result.report.errors && result.report.errors->num_samples >= 20) << seed;
  }
}

}  // namespace
}  // namespace treesample

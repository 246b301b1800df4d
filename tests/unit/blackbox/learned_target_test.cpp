#include "blackbox/learned_target.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/blackbox/portfolio.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

LearnedTarget target_of(double (*value)(std::span<const int>, Random&), int count) {
  FactorGraph graph;
  std::vector<int> scope;
  for (int v = 0; v < 8; ++v) scope.push_back(graph.add_variable(3));
  graph.add_factor(Factor::function(scope, [](std::span<const int>) { return 0.0; }));
  const auto make = [](const Domain& domain, const Noise& noise) { return make_portfolio(domain, noise); };
  LearnedTarget target(graph, make, {});
  Random random(1);
  for (int i = 0; i < count; ++i) {
    Assignment x;
    for (int v = 0; v < 8; ++v) x.push_back(static_cast<int>(random.below(3)));
    if (!target.known(x)) target.tell(0, x, value(x, random), false);
  }
  target.fit({});
  return target;
}

double main_effects(std::span<const int> x, Random&) {
  double sum = 0.0;
  for (std::size_t v = 0; v < x.size(); ++v) sum += 0.3 * static_cast<double>(v) * x[v];
  return sum;
}

// What was foreseen badly before a function was found says nothing of the answer after that.
TEST(LearnedTarget, ErrorsOfAFunctionThatWasFoundAreThoseOfTheLastFit) {
  const LearnedTarget target = target_of(main_effects, 100);
  const std::vector<Foreseen> recent = target.recently_foreseen(std::vector<Foreseen>(80, {1.0, 6.0}));
  EXPECT_EQ(recent.size(), static_cast<std::size_t>(target.num_told() / 4));
  for (const auto& [predicted, found] : recent) EXPECT_NEAR(predicted, found, 1e-3);
}

TEST(LearnedTarget, ErrorsOfAnyOtherAreWhatWasForeseen) {
  const LearnedTarget random = target_of([](std::span<const int>, Random& draw) { return draw.normal(); }, 100);
  const std::vector<Foreseen> foreseen(80, {1.0, 6.0});
  for (const auto& [predicted, found] : random.recently_foreseen(foreseen)) EXPECT_EQ(found - predicted, 5.0);
  // Where it may be impossible is not found by values.
  const LearnedTarget partly = target_of(
      [](std::span<const int> x, Random& draw) { return x[0] == 0 ? -HUGE_VAL : main_effects(x, draw); }, 100);
  for (const auto& [predicted, found] : partly.recently_foreseen(foreseen)) EXPECT_EQ(found - predicted, 5.0);
}

TEST(LearnedTarget, PossibleValuesThatAreAllEqualAllowNoError) {
  const LearnedTarget flat =
      target_of([](std::span<const int> x, Random&) { return x[0] + x[1] == 0 ? -HUGE_VAL : 0.0; }, 60);
  EXPECT_NE(flat.why_no_error(), "");
  EXPECT_EQ(target_of(main_effects, 60).why_no_error(), "");
}

}  // namespace
}  // namespace treesample

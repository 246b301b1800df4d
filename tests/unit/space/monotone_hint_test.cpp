#include "space/monotone_hint.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

double rising_and_falling(std::span<const int> s) {
  return std::min(2.0 * s[0], 5.0) - 0.5 * s[1] * s[1] + (s[2] > 0 ? 1.0 : kNegInf);
}

FactorGraph graph_of(double (*function)(std::span<const int>)) {
  FactorGraph graph;
  graph.add_variable({.num_states = 4, .name = "dose"});
  graph.add_variable({.num_states = 5, .name = "age"});
  graph.add_variable({.num_states = 3, .name = "care"});
  graph.add_table({2}, {0.0, -0.5, 0.25});
  graph.add_factor(Factor::function({0, 1, 2}, function));
  return graph;
}

std::vector<KnownValue> some_values(const FactorGraph& graph, int count, bool has_corners) {
  Random random(5, "test");
  std::vector<KnownValue> known;
  const auto add = [&](std::vector<int> x) { known.push_back({std::ssize(known) + 1, 1, x, graph.log_value(1, x)}); };
  if (has_corners) add({3, 0, 2});
  for (int i = 0; i < count; ++i) {
    add({static_cast<int>(random.below(4)), static_cast<int>(random.below(5)), static_cast<int>(random.below(3))});
  }
  return known;
}

TEST(MonotoneHint, NamesDirectionsAndWhatWouldFollow) {
  const FactorGraph graph = graph_of(rising_and_falling);
  const std::optional<MonotoneHint> hint = monotone_hint(graph, some_values(graph, 30, true));
  ASSERT_TRUE(hint);
  using enum Direction;
  EXPECT_EQ(hint->directions, (std::vector<Direction>{kIncreasing, kDecreasing, kIncreasing}));
  EXPECT_EQ(hint->num_values, 31);
  EXPECT_GE(hint->num_pairs, 100);
  std::vector<double> all;
  for (int a = 0; a < 60; ++a) all.push_back(graph.log_density(std::vector<int>{a / 15, a / 3 % 5, a % 3}));
  ASSERT_TRUE(hint->log_z);
  EXPECT_LE(hint->log_z->lower, log_sum_exp(all));
  EXPECT_GE(hint->log_z->upper, log_sum_exp(all));
  EXPECT_LT(hint->log_z->upper - hint->log_z->lower, 1.5);
  const std::string text = hint_text(*hint, graph, "response");
  EXPECT_NE(text.find("all 31 values of response agree with a monotone function, which rises with"), std::string::npos)
      << text;
  EXPECT_NE(text.find(" and falls with"), std::string::npos) << text;
}

TEST(MonotoneHint, WithoutTheBestCornerThereIsNoUpperBound) {
  const FactorGraph graph = graph_of(rising_and_falling);
  std::vector<KnownValue> known = some_values(graph, 30, false);
  std::erase_if(known, [](const KnownValue& value) { return value.states == std::vector<int>{3, 0, 2}; });
  const std::optional<MonotoneHint> hint = monotone_hint(graph, known);
  ASSERT_TRUE(hint);
  EXPECT_FALSE(hint->log_z);
}

TEST(MonotoneHint, OneContradictionIsEnough) {
  const FactorGraph graph = graph_of(rising_and_falling);
  std::vector<KnownValue> known = some_values(graph, 30, true);
  known.front().log_value = -20.0;  // the best corner
  EXPECT_FALSE(monotone_hint(graph, known));
  known.front().is_missing = true;
  EXPECT_TRUE(monotone_hint(graph, known));
}

TEST(MonotoneHint, OtherFunctionsAndFewValuesBringNone) {
  const FactorGraph wavy = graph_of([](std::span<const int> s) { return std::sin(2.0 * s[0] + s[1] * s[2]); });
  EXPECT_FALSE(monotone_hint(wavy, some_values(wavy, 40, true)));
  const FactorGraph constant = graph_of([](std::span<const int>) { return 1.0; });
  EXPECT_FALSE(monotone_hint(constant, some_values(constant, 40, true)));
  const FactorGraph monotone = graph_of(rising_and_falling);
  EXPECT_FALSE(monotone_hint(monotone, some_values(monotone, 4, true)));
  EXPECT_FALSE(monotone_hint(monotone, {}));
  FactorGraph declared;
  for (int v = 0; v < 3; ++v) declared.add_variable(monotone.num_states(v));
  declared.add_factor(monotone.factor(0));
  using enum Direction;
  declared.add_factor(monotone.factor(1).monotone({kIncreasing, kDecreasing, kIncreasing}));
  EXPECT_FALSE(monotone_hint(declared, some_values(monotone, 30, true)));
}

}  // namespace
}  // namespace treesample

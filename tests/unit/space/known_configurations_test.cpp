#include "space/known_configurations.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// Two functions that share a variable, and a variable that only a table has.
FactorGraph two_functions() {
  FactorGraph graph;
  for (const int states : {3, 2, 4, 2}) graph.add_variable(states);
  graph.add_factor(
      Factor::function({0, 1}, [](std::span<const int> s) { return s[0] == s[1] ? kNegInf : 0.1 * s[0] - s[1]; }));
  graph.add_table({3, 0}, {0.0, -1.0, kNegInf, 0.5, 0.25, 2.0});
  graph.add_factor(Factor::function({2, 1}, [](std::span<const int> s) { return 1.0 / (1 + s[0] + s[1]); }));
  return graph;
}

TEST(KnownConfigurations, AreAllThatValuesOfAllFunctionsDecide) {
  const FactorGraph graph = two_functions();
  Random random(3, "test");
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<KnownValue> known;
    std::set<std::pair<int, std::vector<int>>> told;
    for (int i = 0; i < 8; ++i) {
      const Assignment x = {static_cast<int>(random.below(3)), static_cast<int>(random.below(2)),
                            static_cast<int>(random.below(4)), 0};
      const int factor = random.below(2) == 0 ? 0 : 2;
      const std::vector<int> states = factor == 0 ? std::vector{x[0], x[1]} : std::vector{x[2], x[1]};
      known.push_back({i + 1, factor, states, graph.log_value(factor, x)});
      told.emplace(factor, states);
    }
    std::set<Assignment> expected, found;
    for (int i = 0; i < 48; ++i) {
      const Assignment x = {i / 16, i / 8 % 2, i / 2 % 4, i % 2};
      const bool is_known = told.contains({0, {x[0], x[1]}}) && told.contains({2, {x[2], x[1]}});
      if (is_known && graph.log_density(x) != kNegInf) expected.insert(x);
    }
    for (const KnownConfiguration& configuration : known_configurations(graph, known)) {
      EXPECT_TRUE(found.insert(configuration.x).second);
      EXPECT_NEAR(configuration.log_density, graph.log_density(configuration.x), 1e-12);
      EXPECT_LE(std::abs(configuration.log_density - graph.log_density(configuration.x)),
                2.0 * configuration.log_error);
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(KnownConfigurations, MissingValuesCountAsUnknownAndStepsAreLimited) {
  const FactorGraph graph = two_functions();
  std::vector<KnownValue> known = {{1, 0, {1, 0}, 0.1}, {2, 2, {3, 0}, 0.25}};
  EXPECT_EQ(known_configurations(graph, known).size(), 2U);
  EXPECT_EQ(known_configurations(graph, known, 3).size(), 1U);
  EXPECT_TRUE(known_configurations(graph, known, 1).empty());
  known[1].is_missing = true;
  EXPECT_TRUE(known_configurations(graph, known).empty());
  EXPECT_TRUE(known_configurations(graph, {}).empty());
}

}  // namespace
}  // namespace treesample

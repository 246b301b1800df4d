// Most probable states of small random models against enumeration.
#include "treesample/exact/map_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using States = std::vector<int>;

// log S(y) for all y, by enumeration.
std::map<States, double> log_sums(const FactorGraph& graph, const std::vector<int>& variables) {
  const Enumeration all = enumerate(graph);
  std::map<States, double> sums;
  for (std::size_t i = 0; i < all.log_probs.size(); ++i) {
    const Assignment x = configuration_at(graph, i);
    States y;
    for (const int v : variables) y.push_back(x[v]);
    const double log_weight = all.log_probs[i] == kNegInf ? kNegInf : all.log_probs[i] + all.log_z;
    const auto [known, is_new] = sums.emplace(y, log_weight);
    if (!is_new) known->second = log_add_exp(known->second, log_weight);
  }
  return sums;
}

std::vector<int> some_variables(Random& random, int num_variables, int count) {
  std::vector<int> chosen = random.permutation(num_variables);
  chosen.resize(static_cast<std::size_t>(std::min(count, num_variables)));
  return chosen;
}

FactorGraph model(Random& random, int i) {
  return testing::random_model(random, {.num_variables = 2 + i % 8,
                                        .num_factors = 3 + i % 11,
                                        .min_arity = 0,
                                        .max_arity = 3,
                                        .zero_probability = i % 3 == 0 ? 0.3 : 0.0,
                                        .scale = i % 5 == 0 ? 30.0 : 1.5});
}

// So little memory that every bucket is split that can be.
constexpr std::size_t kLittleMemory = 16;

// The options with the sums that the search asks for where buckets of summed variables are split.
MapOptions with_sums(const FactorGraph& graph) {
  MapOptions options;
  options.log_sum = [&graph](const std::vector<int>& variables, const States& states) {
    Evidence given;
    for (std::size_t i = 0; i < variables.size(); ++i) given.push_back({variables[i], states[i]});
    return Elimination(condition(graph, given).graph).bounds();
  };
  return options;
}

TEST(MapSearch, FindsTheBestOfEnumeration) {
  Random random(1, "map");
  for (int i = 0; i < 400; ++i) {
    const FactorGraph graph = model(random, i);
    MapOptions options = with_sums(graph);
    options.variables = some_variables(random, graph.num_variables(), 1 + i % 5);
    if (i % 4 == 0) options.variables.clear();
    for (const std::size_t bytes : {std::size_t{1} << 20, kLittleMemory}) {
      const MapResult found = map_search(graph, {.bytes = bytes}, options);
      const std::map<States, double> truth = log_sums(graph, found.variables);
      double best = kNegInf;
      for (const auto& [y, value] : truth) best = std::max(best, value);
      EXPECT_TRUE(found.is_done) << i;
      if (best == kNegInf) {
        EXPECT_TRUE(found.best.empty()) << i;
        EXPECT_EQ(found.log_upper, kNegInf) << i;
        continue;
      }
      ASSERT_FALSE(found.best.empty()) << i;
      const double value = truth.at(found.best[0].states);
      const double slack = 1e-12 * (1.0 + std::abs(best));
      EXPECT_NEAR(value, best, 1e-9 * (1.0 + std::abs(best))) << i;
      EXPECT_LE(found.best[0].log_value.lower, value + slack) << i;
      EXPECT_GE(found.best[0].log_value.upper, value - slack) << i;
      EXPECT_GE(found.log_upper, best - slack) << i;
      EXPECT_LE(found.gap(), MapResult::kTolerance) << i;
    }
  }
}

TEST(MapSearch, TheKBestComeInTheirOrder) {
  Random random(2, "map");
  int num_split = 0;
  for (int i = 0; i < 200; ++i) {
    const FactorGraph graph = model(random, i);
    MapOptions options = with_sums(graph);
    options.k = 1 + i % 7;
    if (i % 2 == 0) options.variables = some_variables(random, graph.num_variables(), 3);
    const MapResult found = map_search(graph, {.bytes = i % 3 == 0 ? kLittleMemory : std::size_t{1} << 20}, options);
    num_split += found.is_exact_heuristic ? 0 : 1;
    std::vector<double> truth;
    const std::map<States, double> sums = log_sums(graph, found.variables);
    for (const auto& [y, value] : sums) {
      if (value != kNegInf) truth.push_back(value);
    }
    std::sort(truth.rbegin(), truth.rend());
    truth.resize(std::min<std::size_t>(truth.size(), static_cast<std::size_t>(options.k)));
    ASSERT_EQ(found.best.size(), truth.size()) << i;
    EXPECT_TRUE(found.is_done);
    std::set<States> different;
    for (std::size_t j = 0; j < truth.size(); ++j) {
      EXPECT_NEAR(sums.at(found.best[j].states), truth[j], 1e-8 * (1.0 + std::abs(truth[j]))) << i << " " << j;
      different.insert(found.best[j].states);
    }
    EXPECT_EQ(different.size(), truth.size()) << i;
  }
  EXPECT_GT(num_split, 20);
}

// Whenever the search is stopped, the truth is within its bounds, and they never widen.
TEST(MapSearch, BoundsHoldAtAnyTime) {
  Random random(3, "map");
  int num_open = 0;
  for (int i = 0; i < 60; ++i) {
    const FactorGraph graph = testing::random_model(
        random,
        {.num_variables = 11, .min_states = 2, .max_states = 2, .num_factors = 30, .max_arity = 3, .scale = 2.0});
    MapOptions options = with_sums(graph);
    if (i % 2 == 0) options.variables = some_variables(random, 11, 6);
    double best = kNegInf;
    double last_upper = HUGE_VAL, last_lower = kNegInf;
    for (const std::int64_t looks : {0, 16, 32, 64, 128, 256, 100'000}) {
      options.max_expanded = looks;
      const MapResult found = map_search(graph, {.bytes = kLittleMemory}, options);
      if (best == kNegInf) {
        for (const auto& [y, value] : log_sums(graph, found.variables)) best = std::max(best, value);
      }
      num_open += found.gap() > MapResult::kTolerance ? 1 : 0;
      EXPECT_GE(found.log_upper, best - 1e-9);
      EXPECT_LE(found.log_upper, last_upper + 1e-9);
      last_upper = found.log_upper;
      if (found.best.empty()) continue;
      EXPECT_LE(found.best[0].log_value.lower, best + 1e-9);
      EXPECT_GE(found.best[0].log_value.lower, last_lower - 1e-9);
      last_lower = found.best[0].log_value.lower;
    }
  }
  EXPECT_GT(num_open, 50);
}

// Where large factors cancel, what buckets say of configurations is rounded by more than these differ.
TEST(MapSearch, NothingIsCalledDoneThatRoundingLeavesOpen) {
  Random random(5, "map");
  constexpr int kVariables = 6, kNumBest = 4;
  for (int i = 0; i < 10; ++i) {
    FactorGraph graph = testing::variables(kVariables, 2);
    const std::vector<int> all = testing::integers(kVariables);
    for (int u = 0; u < kVariables; ++u) {
      for (int v = u + 1; v < kVariables; ++v) {
        std::vector<double> large(4, 0.0), opposite(4, 0.0);
        for (std::size_t entry = 1; entry < large.size(); ++entry) {
          large[entry] = 1e12 * random.normal();
          opposite[entry] = 1e-3 * random.normal() - large[entry];
        }
        graph.add_table({u, v}, large);
        graph.add_table({v, u}, {opposite[0], opposite[2], opposite[1], opposite[3]});
      }
    }
    std::vector<double> bonus(1 << kVariables, 0.0);  // the best one is known exactly
    bonus[0] = 50.0;
    graph.add_table(all, bonus);
    const MapResult found = map_search(graph, {}, {.k = kNumBest});
    ASSERT_EQ(found.best.size(), static_cast<std::size_t>(kNumBest));
    std::vector<double> densities;  // within 1e-10, because log_density compensates
    for (std::size_t x = 0; x < bonus.size(); ++x) densities.push_back(graph.log_density(configuration_at(graph, x)));
    std::sort(densities.rbegin(), densities.rend());
    const double missed = densities[kNumBest - 1] - graph.log_density(found.best.back().states);
    EXPECT_TRUE(!found.is_done || missed <= MapResult::kTolerance) << i << " " << missed;
  }
}

TEST(MapSearch, WrongArgumentsAreRefused) {
  FactorGraph graph = testing::variables({2});
  EXPECT_THROW(map_search(graph, {}, {.variables = {1}}), Error);
  EXPECT_THROW(map_search(graph, {}, {.variables = {0, 0}}), Error);
  EXPECT_THROW(map_search(graph, {}, {.k = 0}), Error);
  graph.add_factor(Factor::function({0}, [](std::span<const int>) { return 0.0; }));
  EXPECT_THROW(map_search(graph), Error);
  const MapResult empty = map_search(FactorGraph());
  EXPECT_EQ(empty.best.size(), 1U);
}

FactorGraph named(const FactorGraph& graph) {
  FactorGraph result;
  for (int v = 0; v < graph.num_variables(); ++v) {
    result.add_variable({.num_states = graph.num_states(v), .name = std::string("v") + std::to_string(v)});
  }
  for (const Factor& factor : graph.factors()) result.add_factor(factor);
  return result;
}

// infer(): joint queries, evidence by name, the k best and marginal MAP together.
TEST(InferByName, QueriesAndMapAgreeWithEnumeration) {
  Random random(4, "map");
  for (int i = 0; i < 60; ++i) {
    const FactorGraph graph = named(testing::random_model(
        random, {.num_variables = 7, .num_factors = 9, .zero_probability = i % 3 == 0 ? 0.2 : 0.0, .scale = 1.5}));
    Model model(graph);
    FactorGraph observed = graph;
    if (i % 2 == 0) {
      model.observe("v2", std::to_string(graph.num_states(2) - 1));
      std::vector<double> values(static_cast<std::size_t>(graph.num_states(2)), kNegInf);
      values.back() = 0.0;
      observed.add_table({2}, values);
    }
    if (i % 5 == 0) {
      std::vector<double> weights(static_cast<std::size_t>(graph.num_states(4)), 0.25);
      weights.front() = 2.0;
      model.observe_soft("v4", weights);
      for (double& weight : weights) weight = std::log(weight);
      observed.add_table({4}, weights);
    }
    const Question question{
        .query = {{"v0"}, {"v3", "v1"}, {"v2", "v5", "v6"}}, .k_best = 3, .map = {"v5", "v2", "v0"}};
    const InferOptions options = i % 4 == 0 ? InferOptions{.select = SelectRule::kGap} : InferOptions{};
    const Answer answer = infer(model, question, {}, options);
    const Enumeration truth = enumerate(observed);
    if (truth.log_z == kNegInf) {
      EXPECT_TRUE(answer.map->states.empty());
      continue;
    }
    EXPECT_NEAR(*answer.log_z, truth.log_z, 1e-8);
    ASSERT_EQ(answer.queries.size(), 3U);
    for (const QueryAnswer& query : answer.queries) {
      const std::map<States, double> sums = log_sums(observed, query.variables);
      std::size_t row = 0;
      ASSERT_EQ(query.probabilities.size(), sums.size());
      for (const auto& [y, value] : sums) {  // in the order of the table
        EXPECT_NEAR(query.probabilities[row++], std::exp(value - truth.log_z), 1e-8) << i;
      }
    }
    const std::map<States, double> sums = log_sums(observed, answer.map->variables);
    double best = kNegInf;
    for (const auto& [y, value] : sums) best = std::max(best, value);
    EXPECT_NEAR(sums.at(answer.map->states), best, 1e-8) << i;
    EXPECT_TRUE(answer.map->is_optimal) << i;
    EXPECT_TRUE(answer.is_k_best_optimal) << i;
    std::vector<double> densities = truth.log_probs;
    std::sort(densities.rbegin(), densities.rend());
    for (std::size_t j = 0; j < answer.k_best.size(); ++j) {
      EXPECT_NEAR(answer.k_best[j].log_density, densities[j] + truth.log_z, 1e-8) << i;
    }
    ASSERT_TRUE(answer.best);
    EXPECT_EQ(answer.is_best_optimal, true) << i;
    EXPECT_EQ(answer.best->x.size(), 7U);
    EXPECT_NEAR(answer.best->log_density, densities[0] + truth.log_z, 1e-8) << i;
  }
}

// Clusters of a clique take far longer to find than a look at the clock.
TEST(MapSearch, LooksAtTheClockWhileItPlansItsBuckets) {
  constexpr int kVariables = 120;
  FactorGraph graph;
  for (int v = 0; v < kVariables; ++v) graph.add_variable(2);
  for (int v = 0; v < kVariables; ++v) {
    for (int u = 0; u < v; ++u) graph.add_table({u, v}, {0.1, 0.2, 0.4, 0.3});
  }
  int num_looks = 0;
  const Observer observer{.should_stop = [&] {
    ++num_looks;
    return false;
  }};
  map_search(graph, {}, {.bucket_bytes = 1 << 16, .max_expanded = 1}, observer);
  EXPECT_GT(num_looks, 2 * kVariables);
}

}  // namespace
}  // namespace treesample

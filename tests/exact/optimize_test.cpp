// The search for the most probable configuration, on small random models, against enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "optimize/cost_search.hpp"
#include "optimize/local_search.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph model(Random& random, int i) {
  return testing::random_model(random, {.num_variables = 2 + i % 9,
                                        .num_factors = 3 + i % 14,
                                        .min_arity = 0,
                                        .max_arity = 2 + i % 3,
                                        .zero_probability = i % 3 == 0 ? 0.3 : 0.0,
                                        .scale = i % 5 == 0   ? 30.0
                                                 : i % 7 == 0 ? 1e-3
                                                              : 1.5});
}

double best_of_all(const FactorGraph& graph) {
  const Enumeration all = enumerate(graph);
  double best = kNegInf;
  for (std::size_t i = 0; i < all.log_probs.size(); ++i)
    best = std::max(best, graph.log_density(configuration_at(graph, i)));
  return best;
}

double slack_of(double log_density) { return 1e-9 * (1.0 + std::abs(log_density)); }

TEST(CostSearch, ProvesTheBestOfEnumeration) {
  Random random(1, "costs");
  int num_possible = 0;
  for (int i = 0; i < 600; ++i) {
    const FactorGraph graph = model(random, i);
    const double best = best_of_all(graph);
    LocalSearch local(graph, {.seed = 1}, {}, {});
    ASSERT_EQ(local.best().x.empty(), best == kNegInf) << i;
    if (best == kNegInf) continue;
    ++num_possible;
    CostSearch search(graph, local.best(), {});
    search.run(std::int64_t{1} << 40, {});
    EXPECT_TRUE(search.is_done()) << i;
    EXPECT_GE(search.best().log_density, best - slack_of(best)) << i;
    EXPECT_GE(search.log_upper(), best) << i;
    EXPECT_LE(search.log_upper(), best + slack_of(best)) << i;
    EXPECT_DOUBLE_EQ(search.best().log_density, graph.log_density(search.best().x)) << i;
  }
  EXPECT_GT(num_possible, 400);
}

TEST(CostSearch, ProvesTheSameWithSeveralThreads) {
  Random random(7, "costs");
  for (int i = 0; i < 60; ++i) {
    const FactorGraph graph = model(random, 9 * i + 8);
    const double best = best_of_all(graph);
    LocalSearch local(graph, {.seed = 1}, {}, {});
    if (best == kNegInf) continue;
    CostSearch search(graph, local.best(), {.threads = 3});
    search.run(std::int64_t{1} << 40, {});
    EXPECT_TRUE(search.is_done()) << i;
    EXPECT_GE(search.best().log_density, best - slack_of(best)) << i;
    EXPECT_GE(search.log_upper(), best) << i;
    EXPECT_LE(search.log_upper(), best + slack_of(best)) << i;
  }
}

// Chains of small dense blobs: once the variables between them are fixed, they are parts.
FactorGraph blobs(Random& random, int num_blobs, int size) {
  FactorGraph graph;
  for (int v = 0; v < num_blobs * size; ++v) graph.add_variable(2 + v % 2);
  const auto join = [&](int a, int b) {
    std::vector<double> values;
    for (int k = 0; k < graph.num_states(a) * graph.num_states(b); ++k)
      values.push_back(random.below(12) == 0 ? kNegInf : 3.0 * random.uniform());
    graph.add_table({a, b}, values);
  };
  for (int blob = 0; blob < num_blobs; ++blob) {
    for (int a = 0; a < size; ++a) {
      for (int b = a + 1; b < size; ++b) join(blob * size + a, blob * size + b);
    }
    if (blob > 0) join((blob - 1) * size, blob * size + 1);
  }
  return graph;
}

TEST(CostSearch, PartsThatAreSolvedByThemselvesChangeNothing) {
  Random random(8, "costs");
  std::int64_t num_parts = 0;
  for (int i = 0; i < 100; ++i) {
    const FactorGraph graph = blobs(random, 5, 8);
    LocalSearch local(graph, {.seed = 1}, {}, {});
    if (local.best().x.empty()) continue;
    CostSearch with(graph, local.best(), {}), without(graph, local.best(), {.splits = false});
    with.run(std::int64_t{1} << 40, {});
    without.run(std::int64_t{1} << 40, {});
    EXPECT_TRUE(with.is_done() && without.is_done()) << i;
    EXPECT_NEAR(with.best().log_density, without.best().log_density, 1e-9) << i;
    EXPECT_NEAR(with.log_upper(), without.log_upper(), 1e-9) << i;
    num_parts += with.num_parts();
  }
  EXPECT_GT(num_parts, 100);
}

TEST(CostSearch, ProvesTheBestFewOfEnumeration) {
  Random random(9, "costs");
  int num_checked = 0;
  for (int i = 0; i < 400; ++i) {
    const FactorGraph graph = model(random, i);
    const Enumeration all = enumerate(graph);
    std::vector<Configuration> possible;
    for (std::size_t k = 0; k < all.log_probs.size(); ++k) {
      const Assignment x = configuration_at(graph, k);
      if (graph.log_density(x) != kNegInf) possible.push_back({x, graph.log_density(x)});
    }
    const int k = 2 + i % 5;
    if (std::ssize(possible) < k) continue;
    ++num_checked;
    const std::vector<Configuration> known(possible.begin(), possible.begin() + k);  // any ones, in any order
    CostSearch search(graph, known, {.threads = i % 7 == 0 ? 2 : 1, .num_best = k});
    search.run(std::int64_t{1} << 40, {});
    EXPECT_TRUE(search.is_done()) << i;
    std::sort(possible.begin(), possible.end(),
              [](const auto& a, const auto& b) { return a.log_density > b.log_density; });
    ASSERT_EQ(std::ssize(search.all_best()), k) << i;
    std::set<Assignment> different;
    for (int j = 0; j < k; ++j) {
      const double expected = possible[static_cast<std::size_t>(j)].log_density;
      EXPECT_NEAR(search.all_best()[static_cast<std::size_t>(j)].log_density, expected, slack_of(expected)) << i;
      different.insert(search.all_best()[static_cast<std::size_t>(j)].x);
    }
    EXPECT_EQ(std::ssize(different), k) << i;
    const double last = possible[static_cast<std::size_t>(k - 1)].log_density;
    EXPECT_LE(search.log_upper(), last + slack_of(last)) << i;
    if (std::ssize(possible) > k) EXPECT_GE(search.log_upper(), possible[static_cast<std::size_t>(k)].log_density) << i;
  }
  EXPECT_GT(num_checked, 250);
}

TEST(CostSearch, HasABoundOfEveryConfigurationWheneverItStops) {
  Random random(2, "costs");
  for (int i = 0; i < 150; ++i) {
    const FactorGraph graph = model(random, i);
    const double best = best_of_all(graph);
    LocalSearch local(graph, {.seed = 1}, {}, {});
    if (best == kNegInf) continue;
    CostSearch search(graph, local.best(), {});
    double upper = HUGE_VAL;
    for (int turn = 0; turn < 200 && !search.is_done(); ++turn) {
      int looks = i % 4 == 0 ? 2 : 1 << 20;  // some turns are cut short in the midst of their work
      search.run(1 + turn, [&] { return --looks < 0; });
      EXPECT_GE(search.log_upper(), best) << i;
      EXPECT_LE(search.log_upper(), upper + slack_of(best)) << i;
      upper = search.log_upper();
    }
  }
}

TEST(CostSearch, TakesBetterConfigurationsFromElsewhere) {
  Random random(3, "costs");
  const FactorGraph graph = testing::random_model(random, {.num_variables = 9, .num_factors = 14, .max_arity = 3});
  const Enumeration all = enumerate(graph);
  Configuration best{{}, kNegInf}, worst{{}, HUGE_VAL};
  for (std::size_t i = 0; i < all.log_probs.size(); ++i) {
    const Assignment x = configuration_at(graph, i);
    const double log_density = graph.log_density(x);
    if (log_density > best.log_density) best = {x, log_density};
    if (log_density < worst.log_density) worst = {x, log_density};
  }
  CostSearch search(graph, worst, {});
  search.offer(best);
  EXPECT_EQ(search.best().x, best.x);
  search.offer(worst);
  EXPECT_EQ(search.best().x, best.x);
  search.run(std::int64_t{1} << 40, {});
  EXPECT_EQ(search.best().x, best.x);
}

// Costs that are multiples of one number, or nearly so.
TEST(CostSearch, ProvesTheBestWhereCostsComeInSteps) {
  Random random(6, "costs");
  for (int i = 0; i < 300; ++i) {
    FactorGraph graph;
    const double unit = i % 2 == 0 ? 0.37 : 2.0, off = i % 3 == 0 ? 1e-9 : 0.0;
    for (int v = 0; v < 7; ++v) graph.add_variable(2 + v % 2);
    for (int m = 0; m < 12; ++m) {
      const std::vector<int> scope{m % 7, (m + 1 + m % 3) % 7};
      std::vector<double> values;
      for (int k = 0; k < graph.num_states(scope[0]) * graph.num_states(scope[1]); ++k)
        values.push_back(unit * static_cast<double>(random.below(4)) + off * random.uniform());
      graph.add_table(scope, values);
    }
    const double best = best_of_all(graph);
    LocalSearch local(graph, {.seed = 1}, {Assignment(7, 0)}, {});
    CostSearch search(graph, local.best(), {});
    search.run(std::int64_t{1} << 40, {});
    EXPECT_TRUE(search.is_done()) << i;
    EXPECT_GE(search.log_upper(), best) << i;
    EXPECT_GE(search.best().log_density, best - 1e-7) << i;
    EXPECT_LE(search.log_upper(), search.best().log_density + 1e-7) << i;
  }
}

TEST(LocalSearch, FindsTheBestOfSmallModels) {
  Random random(4, "local");
  for (int i = 0; i < 300; ++i) {
    const FactorGraph graph = model(random, i);
    const double best = best_of_all(graph);
    if (best == kNegInf) continue;
    LocalSearch search(graph, {.seed = 3}, {}, {});
    search.run(1e5, {});
    EXPECT_NEAR(search.best().log_density, best, slack_of(best)) << i;
    EXPECT_TRUE(search.is_whole()) << i;  // a bucket holds all of such a model
  }
}

TEST(LocalSearch, HasTheSameResultForAnyNumberOfThreads) {
  Random random(5, "local");
  const FactorGraph graph = testing::random_model(
      random, {.num_variables = 60, .num_factors = 150, .min_arity = 2, .max_arity = 3, .scale = 2.0});
  LocalSearch one(graph, {.seed = 7, .threads = 1}, {}, {}), three(graph, {.seed = 7, .threads = 3}, {}, {});
  one.run(5e6, {});
  three.run(5e6, {});
  EXPECT_EQ(one.best().x, three.best().x);
  EXPECT_EQ(one.num_entries(), three.num_entries());
  EXPECT_DOUBLE_EQ(one.best().log_density, graph.log_density(one.best().x));
}

TEST(LocalSearch, KeepsWhatItIsOffered) {
  FactorGraph graph;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {0.0, kNegInf, kNegInf, 1.0});
  graph.add_table({1, 2}, {kNegInf, kNegInf, kNegInf, 2.0});
  LocalSearch search(graph, {}, {{1, 1, 1}, {0, 0, 0}}, {});
  EXPECT_EQ(search.best().x, (Assignment{1, 1, 1}));
  search.offer({0, 1, 1});  // impossible
  EXPECT_EQ(search.best().log_density, 3.0);
}

}  // namespace
}  // namespace treesample

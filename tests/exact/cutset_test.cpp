// Sums over joint states of a cutset, against enumeration.
#include "treesample/exact/cutset.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "support/configurations.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using testing::random_model;

FactorGraph dense_model(Random& random, int num_variables, double zeros) {
  return random_model(random, {.num_variables = num_variables,
                               .min_states = 2,
                               .max_states = 3,
                               .num_factors = 3 * num_variables,
                               .min_arity = 0,
                               .zero_probability = zeros});
}

Marginals uniform_marginals(const FactorGraph& graph) {
  Marginals result;
  for (int v = 0; v < graph.num_variables(); ++v) result.emplace_back(graph.num_states(v), 1.0 / graph.num_states(v));
  return result;
}

std::vector<Assignment> all_configurations(const FactorGraph& graph) {
  std::vector<Assignment> all;
  testing::for_each_configuration(graph, [&](const Assignment& x) { all.push_back(x); });
  return all;
}

double log_sum(const FactorGraph& graph, const std::vector<Assignment>& all, const CutsetSum& sum) {
  std::vector<double> held = {kNegInf};
  for (const Assignment& x : all) {
    if (sum.holds(x)) held.push_back(graph.log_density(x));
  }
  return log_sum_exp(held);
}

void expect_contains(const LogBounds& bounds, double value) {
  const double rounding = value == kNegInf ? 0.0 : 1e-12 * (1.0 + std::abs(value));  // rounding of the reference sum
  EXPECT_LE(bounds.lower, value + rounding);
  EXPECT_GE(bounds.upper, value - rounding);
}

TEST(Cutset, SumsOverJointStatesEqualEnumeration) {
  int num_zero = 0, num_cut = 0;
  for (int trial = 0; trial < 60; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "cutset");
    const FactorGraph graph = dense_model(random, 5 + trial % 3, 0.15 * (trial % 4));
    const double log_z = enumerate(graph).log_z;
    const std::vector<Assignment> all = all_configurations(graph);
    CutsetSum sum(graph, choose_cutset(graph, uniform_marginals(graph), {.most_entries = 20.0}));
    num_cut += sum.cutset().variables.empty() ? 0 : 1;
    std::vector<Assignment> some;
    for (const Assignment& x : all) {
      if (random.uniform() < 0.02) some.push_back(x);
    }
    sum.add(some);
    expect_contains(sum.log_mass(), log_sum(graph, all, sum));
    EXPECT_LE(sum.log_mass().lower, log_z == kNegInf ? kNegInf : log_z + 1e-12 * (1.0 + std::abs(log_z)));
    sum.add(all);
    expect_contains(sum.log_mass(), log_z);
    EXPECT_EQ(sum.log_mass().clamp(sum.estimate()), sum.estimate());
    if (log_z == kNegInf) {
      ++num_zero;
      EXPECT_EQ(sum.log_mass().upper, kNegInf);
    } else {
      EXPECT_TRUE(sum.log_mass().is_exact());
    }
  }
  EXPECT_GT(num_zero, 0);
  EXPECT_GT(num_cut, 40);
}

TEST(Cutset, AJointStateCountsOnce) {
  Random random(3);
  const FactorGraph graph = dense_model(random, 6, 0.0);
  const std::vector<Assignment> all = all_configurations(graph);
  CutsetSum sum(graph, choose_cutset(graph, uniform_marginals(graph), {.most_entries = 20.0}));
  ASSERT_FALSE(sum.cutset().variables.empty());
  EXPECT_FALSE(sum.holds(all[0]));
  sum.add(std::vector<Assignment>{all[0], all[0]});
  EXPECT_EQ(sum.size(), 1);
  EXPECT_TRUE(sum.holds(all[0]));
  const double once = sum.estimate();
  sum.add(std::vector<Assignment>{all[0]});
  EXPECT_EQ(sum.size(), 1);
  EXPECT_EQ(sum.estimate(), once);
  EXPECT_GT(once, graph.log_density(all[0]));  // the other variables are summed over
}

TEST(Cutset, TheRestIsAsSmallAsWanted) {
  for (int trial = 0; trial < 20; ++trial) {
    Random random(trial, "small rest");
    const FactorGraph graph = dense_model(random, 12, 0.0);
    for (const double most : {1.0, 15.0, 60.0, 1e9}) {
      const Cutset cutset = choose_cutset(graph, uniform_marginals(graph), {.most_entries = most});
      EXPECT_LE(cutset.rest.num_entries, std::max(most, 12.0));
      EXPECT_EQ(cutset.variables.empty(), most == 1e9) << trial << " " << most;
      const std::set<int> distinct(cutset.variables.begin(), cutset.variables.end());
      EXPECT_EQ(distinct.size(), cutset.variables.size());
      EXPECT_EQ(cutset.rest.order.size(), 12);
    }
  }
}

// In a complete graph all variables save the same work, so the certain ones are fixed.
TEST(Cutset, CertainVariablesAreFixedFirst) {
  FactorGraph graph = testing::variables(10, 2);
  for (int v = 0; v < 10; ++v) {
    for (int u = 0; u < v; ++u) graph.add_table({u, v}, {0.0, 1.0, 1.0, 0.0});
  }
  Marginals marginals = uniform_marginals(graph);
  const std::set<int> certain = {1, 4, 6, 9};
  for (const int v : certain) marginals[static_cast<std::size_t>(v)] = {0.99, 0.01};
  const Cutset cutset = choose_cutset(graph, marginals, {.most_entries = 130.0});
  EXPECT_EQ(std::set<int>(cutset.variables.begin(), cutset.variables.end()), certain);
}

TEST(Cutset, TheSameBitsForAnyNumberOfThreads) {
  Random random(8);
  const FactorGraph graph = dense_model(random, 9, 0.05);
  const std::vector<Assignment> all = all_configurations(graph);
  std::vector<double> lower, estimate;
  for (const int threads : {1, 2, 3, 8}) {
    CutsetSum sum(graph, choose_cutset(graph, uniform_marginals(graph), {.most_entries = 20.0, .threads = threads}),
                  {.threads = threads});
    sum.add(std::span(all).first(all.size() - 7));
    ASSERT_GT(sum.size(), 16);
    lower.push_back(sum.log_mass().lower);
    estimate.push_back(sum.estimate());
  }
  EXPECT_EQ(std::set<double>(lower.begin(), lower.end()).size(), 1);
  EXPECT_EQ(std::set<double>(estimate.begin(), estimate.end()).size(), 1);
}

TEST(Cutset, EndsWithWhatThereIs) {
  Random random(9);
  const FactorGraph graph = dense_model(random, 8, 0.0);
  const std::vector<Assignment> all = all_configurations(graph);
  CutsetSum sum(graph, choose_cutset(graph, uniform_marginals(graph), {.most_entries = 40.0}), {.threads = 1});
  double last = kNegInf;
  int num_told = 0;
  sum.add(all, {.progress =
                    [&](const Progress& now) {
                      EXPECT_GE(now.log_z.lower, last);
                      last = now.log_z.lower;
                      ++num_told;
                    },
                .should_stop = [&] { return num_told >= 3; }});
  EXPECT_EQ(num_told, 3);
  EXPECT_EQ(sum.size(), 3);
  EXPECT_EQ(sum.log_mass().lower, last);
  expect_contains(sum.log_mass(), log_sum(graph, all, sum));
  const FactorGraph large = dense_model(random, 200, 0.0);
  EXPECT_THROW(choose_cutset(large, uniform_marginals(large), {.should_stop = [] { return true; }}), Error);
}

TEST(Cutset, SaysWhatIsWrong) {
  Random random(10);
  const FactorGraph graph = dense_model(random, 6, 0.0);
  const Cutset cutset = choose_cutset(graph, uniform_marginals(graph), {.most_entries = 20.0});
  EXPECT_THROW(choose_cutset(graph, {}), Error);
  EXPECT_THROW(choose_cutset(graph, uniform_marginals(graph), {.most_entries = 0.0}), Error);
  EXPECT_THROW(choose_cutset(graph, uniform_marginals(graph), {.tries = 0}), Error);
  EXPECT_THROW(CutsetSum(dense_model(random, 5, 0.0), cutset), Error);
  EXPECT_THROW(CutsetSum(graph, cutset, {.bytes = 1}), Error);
  Cutset wrong = cutset;
  wrong.variables.push_back(6);
  EXPECT_THROW(CutsetSum(graph, wrong), Error);
  FactorGraph with_function = graph;
  with_function.add_factor(Factor::function(
      {0}, [](std::span<const int>) { return 0.0; }, 0.0));
  EXPECT_THROW(CutsetSum(with_function, cutset), Error);
  CutsetSum sum(graph, cutset);
  EXPECT_THROW(sum.add(std::vector<Assignment>{{0, 0}}), Error);
  EXPECT_EQ(sum.log_mass().lower, kNegInf);
}

}  // namespace
}  // namespace treesample

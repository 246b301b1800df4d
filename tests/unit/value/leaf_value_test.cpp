// Leaf values against enumeration of what is below a level, for every level and all states above it.
#include "treesample/value/leaf_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

constexpr SpaceKind kSpaces[] = {SpaceKind::kTree, SpaceKind::kGraph, SpaceKind::kAndOr};
constexpr int kNumTrials = 24;

FactorGraph model_of_trial(int trial, double function_probability = 0.0) {
  RandomModelOptions options{.num_variables = 3 + trial % 3,
                             .max_states = 2 + trial % 2,
                             .num_factors = 5 + trial % 3,
                             .min_arity = trial % 2,
                             .zero_probability = 0.15 * (trial % 3),
                             .function_probability = function_probability,
                             .scale = 1.0 + trial % 4};
  Random random(trial, "leaf test");
  return random_model(random, options);
}

LocalDistributions random_distributions(const FactorGraph& graph, Random& random) {
  LocalDistributions result = uniform_distributions(graph);
  for (std::vector<double>& probs : result) {
    double sum = 0.0;
    for (double& p : probs) sum += p = random.uniform() < 0.2 ? 0.0 : random.uniform();
    for (double& p : probs) p = sum > 0.0 ? p / sum : 1.0 / static_cast<double>(probs.size());
  }
  return result;
}

// One sub-problem: a level, with the states of its ancestors in x and -1 everywhere else.
struct SubProblem {
  const FactorGraph& graph;
  const SearchSpace& space;
  int level = 0;
  Assignment x;
  std::vector<int> below = {};  // the level and its descendants, parents first
};

// Calls visit(x) for all states of `variables`, others as they are.
void for_each_state(const FactorGraph& graph, const std::vector<int>& variables, Assignment x,
                    const std::function<void(const Assignment&)>& visit) {
  for (const int v : variables) x[v] = 0;
  while (true) {
    visit(x);
    std::size_t i = variables.size();
    while (i > 0 && ++x[variables[i - 1]] == graph.num_states(variables[i - 1])) x[variables[--i]] = 0;
    if (i == 0) return;
  }
}

std::vector<int> variables_of(const SearchSpace& space, const std::vector<int>& levels) {
  std::vector<int> result;
  result.reserve(levels.size());
  for (const int n : levels) result.push_back(space.levels[n].variable);
  return result;
}

void for_each_sub_problem(const FactorGraph& graph, const SearchSpace& space,
                          const std::function<void(const SubProblem&)>& check) {
  for (int n = 0; n < space.num_levels(); ++n) {
    std::vector<int> above;
    for (int m = space.levels[n].parent; m >= 0; m = space.levels[m].parent) above.push_back(m);
    std::vector<int> below = {n};
    for (std::size_t i = 0; i < below.size(); ++i) {
      below.insert(below.end(), space.levels[below[i]].children.begin(), space.levels[below[i]].children.end());
    }
    for_each_state(graph, variables_of(space, above), Assignment(graph.num_variables(), -1), [&](const Assignment& x) {
      check({graph, space, n, x, below});
    });
  }
}

// visit(x, log gamma_j(x)) for all configurations of the sub-problem.
void for_each_configuration(const SubProblem& problem, const std::function<void(const Assignment&, double)>& visit) {
  for_each_state(problem.graph, variables_of(problem.space, problem.below), problem.x, [&](const Assignment& x) {
    double log_gamma = 0.0;
    for (const int n : problem.below) {
      for (const int m : problem.space.levels[n].factors) log_gamma += problem.graph.log_value(m, x);
    }
    visit(x, log_gamma);
  });
}

double log_z_of(const SubProblem& problem) {
  std::vector<double> values;
  for_each_configuration(problem, [&](const Assignment&, double log_gamma) { values.push_back(log_gamma); });
  return log_sum_exp(values);
}

// E_q[log gamma_j - log q], by enumeration.
double elbo_of(const SubProblem& problem, const LeafValue& leaf) {
  double sum = 0.0;
  for_each_configuration(problem, [&](const Assignment& x, double log_gamma) {
    const double log_prob = leaf.log_prob_below(problem.level, x);
    if (log_prob != kNegInf) sum += std::exp(log_prob) * (log_gamma - log_prob);
  });
  return sum;
}

double tolerance_at(double value) { return 1e-11 * (1.0 + std::abs(value)); }

// log q adds up to 1, and what is drawn has the log q that was said.
void expect_distribution(const SubProblem& problem, const LeafValue& leaf, Random& random) {
  std::vector<double> log_probs;
  for_each_configuration(
      problem, [&](const Assignment& x, double) { log_probs.push_back(leaf.log_prob_below(problem.level, x)); });
  EXPECT_NEAR(log_sum_exp(log_probs), 0.0, 1e-11);
  for (int i = 0; i < 5; ++i) {
    Assignment x = problem.x;
    const double log_prob = leaf.sample_below(problem.level, x, random);
    EXPECT_GT(log_prob, kNegInf);
    EXPECT_NEAR(leaf.log_prob_below(problem.level, x), log_prob, tolerance_at(log_prob));
    const std::vector<int> drawn = variables_of(problem.space, problem.below);
    for (int v = 0; v < problem.graph.num_variables(); ++v) {
      const bool is_drawn = std::find(drawn.begin(), drawn.end(), v) != drawn.end();
      if (is_drawn) {
        EXPECT_TRUE(x[v] >= 0 && x[v] < problem.graph.num_states(v));
      } else {
        EXPECT_EQ(x[v], problem.x[v]);
      }
    }
  }
}

void for_each_case(double function_probability,
                   const std::function<void(const FactorGraph&, const SearchSpace&, int trial)>& check) {
  for (int trial = 0; trial < kNumTrials; ++trial) {
    const FactorGraph graph = model_of_trial(trial, function_probability);
    for (const SpaceKind kind : kSpaces) {
      SCOPED_TRACE(::testing::Message() << "trial " << trial << ", space " << static_cast<int>(kind));
      check(graph, make_search_space(graph, search_order(graph, kind, {}), kind), trial);
    }
  }
}

TEST(ProductLeafValue, ValueIsTheElboOfItsDistributionAndBelowLogZ) {
  int num_finite = 0;
  int num_infinite = 0;
  for_each_case(0.0, [&](const FactorGraph& graph, const SearchSpace& space, int trial) {
    Random random(trial, "distributions");
    for (const LocalDistributions& local :
         {uniform_distributions(graph), random_distributions(graph, random), mean_field(graph, 3, trial)}) {
      const auto leaf = product_value(graph, space, local);
      for_each_sub_problem(graph, space, [&](const SubProblem& problem) {
        const double value = leaf->log_value(problem.level, problem.x);
        const double elbo = elbo_of(problem, *leaf);
        expect_distribution(problem, *leaf, random);
        if (elbo == kNegInf) {
          EXPECT_EQ(value, kNegInf);
          ++num_infinite;
          return;
        }
        EXPECT_NEAR(value, elbo, tolerance_at(elbo));
        EXPECT_LE(value, log_z_of(problem));
        ++num_finite;
      });
    }
  });
  EXPECT_GT(num_finite, 500);
  EXPECT_GT(num_infinite, 500);
}

TEST(ProductLeafValue, DistributionsGiveZerosNoWeightWhereTheyExcludeThem) {
  FactorGraph graph = testing::variables({2, 2});
  graph.add_table({0, 1}, {1.0, kNegInf, kNegInf, kNegInf});
  const SearchSpace space = make_search_space(graph, std::vector<int>{0, 1}, SpaceKind::kTree);
  const auto leaf = product_value(graph, space, {{1.0, 0.0}, {1.0, 0.0}});
  EXPECT_NEAR(leaf->log_value(0, Assignment{-1, -1}), 1.0, 1e-12);
  EXPECT_EQ(leaf->log_value(1, Assignment{1, -1}), kNegInf);
}

TEST(ProductLeafValue, RejectsFunctions) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function(
      {0}, [](std::span<const int>) { return 0.0; }, 0.0));
  const SearchSpace space = make_search_space(graph, std::vector<int>{0}, SpaceKind::kTree);
  EXPECT_THROW(product_value(graph, space, uniform_distributions(graph)), Error);
  EXPECT_THROW(mean_field(graph, 1, 0), Error);
}

// A function's maximum counts at whatever states, a table's given the states above.
double sum_of_maxima(const SubProblem& problem) {
  double sum = 0.0;
  for (const int n : problem.below) {
    sum += std::log(problem.space.levels[n].num_states);
    for (const int m : problem.space.levels[n].factors) {
      const Factor& factor = problem.graph.factor(m);
      double largest = kNegInf;
      for_each_configuration(
          problem, [&](const Assignment& x, double) { largest = std::max(largest, problem.graph.log_value(m, x)); });
      sum += factor.is_table() ? largest : factor.log_max().value_or(kNegInf);
    }
  }
  return sum;
}

TEST(MaximaLeafValue, BoundsEveryConfigurationByItsDistribution) {
  for (const double function_probability : {0.0, 0.4}) {
    for_each_case(function_probability, [](const FactorGraph& graph, const SearchSpace& space, int trial) {
      Random random(trial, "draws");
      const auto leaf = maxima_value(graph, space);
      ASSERT_NE(leaf, nullptr);
      for_each_sub_problem(graph, space, [&](const SubProblem& problem) {
        const double value = leaf->log_value(problem.level, problem.x);
        const double sum = sum_of_maxima(problem);
        expect_distribution(problem, *leaf, random);
        if (sum == kNegInf) {
          EXPECT_EQ(value, kNegInf);
        } else {
          EXPECT_NEAR(value, sum, tolerance_at(sum));
          EXPECT_GE(value, sum);
        }
        for_each_configuration(problem, [&](const Assignment& x, double log_gamma) {
          if (log_gamma == kNegInf) return;
          const double log_prob = leaf->log_prob_below(problem.level, x);
          EXPECT_LE(log_gamma, value + log_prob + tolerance_at(value));
        });
        EXPECT_GE(value, log_z_of(problem));
      });
    });
  }
}

TEST(MaximaLeafValue, NeedsDeclaredMaxima) {
  FactorGraph graph = testing::variables({2});
  graph.add_factor(Factor::function({0}, [](std::span<const int> x) { return 1.0 * x[0]; }));
  const SearchSpace space = make_search_space(graph, std::vector<int>{0}, SpaceKind::kTree);
  EXPECT_EQ(maxima_value(graph, space), nullptr);
}

// Values that depend on everything above the level, with a state excluded.
class PrefixValue final : public LeafValue {
 public:
  PrefixValue(const FactorGraph& graph, const SearchSpace& space) : LeafValue(space), graph_(graph), space_(space) {}
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override {
    const auto num_variables = static_cast<std::size_t>(graph_.num_variables());
    const int num_states = space_.levels[level].num_states;
    for (int r = 0; r < count; ++r) {
      int sum = level;
      for (const int state : prefixes.subspan(r * num_variables, num_variables)) sum = 3 * sum + state + 1;
      for (int a = 0; a < num_states; ++a) {
        q[r * num_states + a] = a > 0 && (sum + a) % 5 == 0 ? kNegInf : std::sin(sum + 2.0 * a);
      }
    }
  }

 private:
  const FactorGraph& graph_;
  const SearchSpace& space_;
};

TEST(LeafValue, ValueAndDistributionAreThoseOfTheFunction) {
  for_each_case(0.0, [](const FactorGraph& graph, const SearchSpace& space, int trial) {
    Random random(trial, "draws");
    const auto value = std::make_shared<PrefixValue>(graph, space);
    for_each_sub_problem(graph, space, [&](const SubProblem& problem) {
      std::vector<double> q(space.levels[problem.level].num_states);
      value->q_values(problem.level, problem.x, 1, q);
      EXPECT_DOUBLE_EQ(value->log_value(problem.level, problem.x), log_sum_exp(q));
      expect_distribution(problem, *value, random);
    });
  });
}

TEST(LeafValue, UniformValuesDrawUniformly) {
  const FactorGraph graph = model_of_trial(5);
  const SearchSpace space = make_search_space(graph, search_order(graph, SpaceKind::kAndOr, {}), SpaceKind::kAndOr);
  const auto leaf = std::make_shared<UniformValue>(space);
  for_each_sub_problem(graph, space, [&](const SubProblem& problem) {
    double log_states = 0.0;
    for (const int n : problem.below) log_states += std::log(space.levels[n].num_states);
    EXPECT_NEAR(leaf->log_value(problem.level, problem.x), log_states, 1e-12);
    // The same bits in every way of asking.
    std::vector<double> q(space.levels[problem.level].num_states);
    leaf->q_values(problem.level, problem.x, 1, q);
    const double from_q_values = log_sum_exp(q);
    EXPECT_EQ(leaf->log_value(problem.level, problem.x), from_q_values);
    if (const int parent = space.levels[problem.level].parent; parent >= 0) {
      Assignment x = problem.x;
      std::vector<double> values(space.levels[parent].num_states);
      leaf->log_values(problem.level, space.levels[parent].variable, x, values);
      for (const double value : values) EXPECT_EQ(value, from_q_values);
    }
    for_each_configuration(problem, [&](const Assignment& x, double) {
      EXPECT_NEAR(leaf->log_prob_below(problem.level, x), -log_states, 1e-12);
    });
  });
}

TEST(MiniBucketLeafValue, IsABoundWithADistributionAndExactWhenItSaysSo) {
  int num_exact = 0;
  for_each_case(0.0, [&](const FactorGraph& graph, const SearchSpace& space, int trial) {
    Random random(trial, "draws");
    MiniBucketOptions options{.i_bound = trial % 3};
    const auto leaf = std::make_shared<WeightedMiniBucket>(graph, space, options);
    for_each_sub_problem(graph, space, [&](const SubProblem& problem) {
      const double value = leaf->log_value(problem.level, problem.x);
      const double log_z = log_z_of(problem);
      EXPECT_GE(value, log_z);
      if (leaf->is_exact(problem.level) && log_z != kNegInf) {
        EXPECT_NEAR(value, log_z, 1e-9 * (1.0 + std::abs(log_z)));
        ++num_exact;
      }
      if (log_z == kNegInf) return;
      expect_distribution(problem, *leaf, random);
      for_each_configuration(problem, [&](const Assignment& x, double log_gamma) {
        if (log_gamma == kNegInf) return;
        EXPECT_LE(log_gamma, value + leaf->log_prob_below(problem.level, x) + 1e-9 * (1.0 + std::abs(value)));
      });
    });
  });
  EXPECT_GT(num_exact, 100);
}

TEST(LeafValue, ValuesOfAllStatesOfTheParentAreThoseOfEachToTheBit) {
  for_each_case(0.0, [&](const FactorGraph& graph, const SearchSpace& space, int trial) {
    Random random(trial, "distributions");
    MiniBucketOptions options{.i_bound = trial % 3};
    const std::shared_ptr<const LeafValue> leafs[] = {
        product_value(graph, space, random_distributions(graph, random)), maxima_value(graph, space),
        std::make_shared<WeightedMiniBucket>(graph, space, options), std::make_shared<UniformValue>(space)};
    for_each_sub_problem(graph, space, [&](const SubProblem& problem) {
      const int parent = space.levels[problem.level].parent;
      if (parent < 0) return;
      const int variable = space.levels[parent].variable;
      for (const auto& leaf : leafs) {
        Assignment x = problem.x;
        x[variable] = -1;
        std::vector<double> values(graph.num_states(variable));
        leaf->log_values(problem.level, variable, x, values);
        EXPECT_EQ(values[problem.x[variable]], leaf->log_value(problem.level, problem.x));
      }
    });
  });
}

// Level by level they are the distribution of everything below.
TEST(LeafValue, ProbabilitiesMultiplyToTheDistributionBelow) {
  int num_compared = 0;
  for_each_case(0.0, [&](const FactorGraph& graph, const SearchSpace& space, int trial) {
    MiniBucketOptions options{.i_bound = trial % 3};
    const std::vector<std::shared_ptr<const LeafValue>> leafs = {
        std::make_shared<WeightedMiniBucket>(graph, space, options), maxima_value(graph, space),
        std::make_shared<PrefixValue>(graph, space)};
    const auto log_probability = [&](const LeafValue& leaf, std::span<const int> x) {
      Assignment prefix(x.size(), -1);
      double sum = 0.0;
      for (int n = 0; n < space.num_levels(); ++n) {
        std::vector<double> probs(static_cast<std::size_t>(space.levels[n].num_states));
        leaf.probabilities(n, prefix, probs);
        prefix[space.levels[n].variable] = x[space.levels[n].variable];
        sum += std::log(probs[x[space.levels[n].variable]]);
      }
      return sum;
    };
    if (space.roots.size() != 1 || space.kind == SpaceKind::kAndOr) return;
    Random random(trial, "draws");
    for (const auto& leaf : leafs) {
      Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
      const double log_prob = leaf->sample_below(space.roots[0], x, random);
      EXPECT_NEAR(log_probability(*leaf, x), log_prob, 1e-9 * (1.0 + std::abs(log_prob)));
      ++num_compared;
    }
  });
  EXPECT_GT(num_compared, 100);
}

}  // namespace
}  // namespace treesample

// A caller's own value function: exact values make a search exact at once, any other values in the end.
#include "treesample/value/function_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

FactorGraph some_model(std::uint64_t seed) {
  Random random(seed, "function value");
  return testing::random_model(random, {.min_arity = 0, .zero_probability = 0.1});
}

// Sums over all completions of the prefix.
void add_completions(const FactorGraph& graph, Assignment& x, std::span<const int> pending, std::vector<double>& sums) {
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (x[v] >= 0) continue;
    for (int s = 0; s < graph.num_states(v); ++s) {
      x[v] = s;
      add_completions(graph, x, pending, sums);
    }
    x[v] = -1;
    return;
  }
  double sum = 0.0;
  for (const int m : pending) sum += graph.log_value(m, x);
  sums.push_back(sum);
}

// Q*(a | x) by enumeration.
ValueFunction exact_values(const FactorGraph& graph) {
  return [&graph](int variable, std::span<const int> prefixes, int count, std::span<double> q) {
    const auto width = static_cast<std::size_t>(graph.num_variables());
    for (std::size_t r = 0, i = 0; r < static_cast<std::size_t>(count); ++r) {
      Assignment x(prefixes.begin() + static_cast<std::ptrdiff_t>(r * width),
                   prefixes.begin() + static_cast<std::ptrdiff_t>((r + 1) * width));
      std::vector<int> pending;
      for (int m = 0; m < graph.num_factors(); ++m) {
        const std::vector<int>& scope = graph.factor(m).scope();
        if (std::any_of(scope.begin(), scope.end(), [&](int v) { return x[v] < 0; })) pending.push_back(m);
      }
      for (int a = 0; a < graph.num_states(variable); ++a) {
        x[variable] = a;
        std::vector<double> sums;
        add_completions(graph, x, pending, sums);
        q[i++] = log_sum_exp(sums);
      }
    }
  };
}

class FunctionValueInfer : public ::testing::TestWithParam<SelectRule> {};

TEST_P(FunctionValueInfer, ExactValuesMakeAShortSearchExact) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const FactorGraph graph = some_model(seed);
    const double truth = enumerate(graph).log_z;
    if (truth == kNegInf) continue;
    InferOptions options{.select = GetParam(), .importance = 0};
    options.value_function = exact_values(graph);
    const Answer answer = infer(graph, {.marginals = false}, {.budget = 3}, options);
    ASSERT_TRUE(answer.log_z);
    if (GetParam() == SelectRule::kGap) {  // goes by bounds, which no estimate changes
      EXPECT_LE(*answer.lower, truth + 1e-9) << seed;
      EXPECT_GE(*answer.upper, truth - 1e-9) << seed;
    } else {
      EXPECT_NEAR(*answer.log_z, truth, 1e-9) << seed;
    }
  }
}

TEST_P(FunctionValueInfer, AnyValuesAreExactInTheEnd) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const FactorGraph graph = some_model(seed);
    const double truth = enumerate(graph).log_z;
    InferOptions options{.select = GetParam()};
    options.value_function = [&](int variable, std::span<const int> prefixes, int, std::span<double> q) {
      for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::sin(7.0 * variable + 3.0 * prefixes[0] + 1.3 * i);
    };
    const Answer answer = infer(graph, {}, {.budget = 50'000}, options);
    ASSERT_TRUE(answer.log_z);
    if (truth == kNegInf) {
      EXPECT_EQ(*answer.log_z, kNegInf);
    } else {
      EXPECT_NEAR(*answer.log_z, truth, 1e-8) << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, FunctionValueInfer,
                         ::testing::Values(SelectRule::kQUct, SelectRule::kMass, SelectRule::kGap));

// The nodes begin in the units of these values, and rounding in those units is part of what is certified.
TEST(FunctionValue, ValuesFarFromTheTruthDoNotMakeBoundsWrong) {
  for (const double size : {1e3, 1e6, 1e11}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const FactorGraph graph = some_model(seed);
      const double truth = enumerate(graph).log_z;
      Random random(seed, "far");
      InferOptions options{.select = SelectRule::kQUct, .space = SpaceKind::kTree};
      options.value_function = [&](int, std::span<const int>, int, std::span<double> q) {
        for (double& value : q) value = size * random.uniform();
      };
      const Answer answer = infer(graph, {}, {.budget = 50'000}, options);
      if (truth == kNegInf || !answer.lower) continue;
      EXPECT_LE(*answer.lower, truth + 1e-14 * (1.0 + std::abs(truth))) << size << " " << seed;
      EXPECT_GE(*answer.upper, truth - 1e-14 * (1.0 + std::abs(truth))) << size << " " << seed;
    }
  }
}

// Values of leaves that are not known yet are in the same sums as those that are.
TEST(FunctionValue, ValuesFarFromTheTruthSpoilNeitherTheBestNorTheUnexploredMass) {
  for (const double size : {-1e9, 1e9}) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const FactorGraph graph = some_model(seed);
      InferOptions options{.select = SelectRule::kQUct, .space = SpaceKind::kTree, .seed = seed};
      options.value_function = [&](int, std::span<const int>, int, std::span<double> q) {
        std::fill(q.begin(), q.end(), size);
      };
      const Answer answer = infer(graph, {.marginals = true}, {.budget = 40}, options);
      if (answer.best) {
        EXPECT_NEAR(answer.best->log_density, graph.log_density(answer.best->x), 1e-12) << size << " " << seed;
      }
      const double unexplored = answer.unexplored_mass.value_or(0.0);
      EXPECT_TRUE(unexplored >= 0.0 && unexplored <= 1.0) << unexplored << " " << size << " " << seed;
    }
  }
}

TEST(FunctionValue, RefusesNoNumbersBranchesAndNull) {
  const FactorGraph graph = some_model(1);
  const std::vector<int> order = search_order(graph, SpaceKind::kTree, {.kind = OrderKind::kGiven});
  const SearchSpace tree = make_search_space(graph, order, SpaceKind::kTree);
  EXPECT_THROW(FunctionValue({}, tree), Error);
  Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
  for (const double wrong : {std::nan(""), HUGE_VAL, -1.7e308}) {  // the sum of two of the last is not finite
    const FunctionValue bad(
        [&](int, std::span<const int>, int, std::span<double> q) { std::fill(q.begin(), q.end(), wrong); }, tree);
    EXPECT_THROW(static_cast<void>(bad.log_value(0, x)), Error) << wrong;
  }
  InferOptions options{.leaf = LeafChoice{LeafKind::kUniform}};
  options.value_function = [](int, std::span<const int>, int, std::span<double>) {};
  EXPECT_THROW(static_cast<void>(infer(graph, {}, {.budget = 10}, options)), OptionError);
}

// Nothing is known beforehand about the time that values take, so it is watched from the first one on.
TEST_P(FunctionValueInfer, SlowValuesKeepToTheTime) {
  FactorGraph graph;
  for (int v = 0; v < 20; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 20; ++v) graph.add_table({v, v + 1}, {0.0, 1.0, 1.0, 0.5});
  int num_calls = 0;
  InferOptions options{.select = GetParam(), .importance = 0};
  options.value_function = [&](int, std::span<const int>, int, std::span<double> q) {
    ++num_calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::fill(q.begin(), q.end(), 0.0);
  };
  infer(graph, {.marginals = false, .best = false}, {.seconds = 0.05}, options);
  EXPECT_LE(num_calls, 14);
}

}  // namespace
}  // namespace treesample

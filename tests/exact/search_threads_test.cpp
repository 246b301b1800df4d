// The search with bounds by several threads: its bounds always contain log Z, its samplers keep their promises, and an
// observer is called by one thread only.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "support/configurations.hpp"
#include "support/equal_marginals.hpp"
#include "support/random_models.hpp"
#include "support/search_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/search/solved_marginals.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

constexpr int kThreads[] = {1, 2, 3, 8};

struct Problem {
  FactorGraph graph;
  SearchSpace space;
  LeafValues leaves;
  double log_z = 0.0;
};

Problem random_problem(int trial, SpaceKind kind) {
  Problem problem;
  Random random(trial, "search threads");
  problem.graph = testing::random_model(random, {.num_variables = 8 + trial % 3,
                                                 .min_states = 2,
                                                 .max_states = 2 + trial % 2,
                                                 .num_factors = 14,
                                                 .zero_probability = trial % 3 == 0 ? 0.2 : 0.0});
  problem.log_z = enumerate(problem.graph).log_z;
  problem.space = make_search_space(problem.graph, random.permutation(problem.graph.num_variables()), kind);
  if (trial % 2 == 0) {
    problem.leaves.upper = maxima_value(problem.graph, problem.space);
    problem.leaves.lower = product_value(problem.graph, problem.space, uniform_distributions(problem.graph));
  } else {
    MiniBucketOptions options{.i_bound = 1};
    problem.leaves = mini_bucket_leaves(
        problem.graph, problem.space, std::make_shared<const WeightedMiniBucket>(problem.graph, problem.space, options),
        uniform_distributions(problem.graph));
  }
  return problem;
}

// Threads begin early and exchange results often.
// Every fourth one exchanges results by the clock.
SearchOptions early(int trial) {
  return {.expansions_per_traversal = 1 + trial % 3,
          .observer_interval = 1,
          .expansions_before_sharing = 2 + trial % 5,
          .traversals_per_round = trial % 4};
}

void expect_contains(const LogBounds& bounds, double log_z) {
  const double rounding = 1e-12 * (1.0 + (log_z == kNegInf ? 0.0 : std::abs(log_z)));
  EXPECT_LE(bounds.lower, log_z + rounding);
  EXPECT_GE(bounds.upper, log_z - rounding);
}

// On every configuration: probabilities add up to 1, the weights of P_U are at most its value, and P_L attains its
// value.
void expect_right_samplers(const Problem& problem, const SearchResult& result) {
  const SearchApproximation upper(result, SamplerKind::kUpper);
  const SearchApproximation lower(result, SamplerKind::kLower);
  const bool has_lower = lower.log_value() != kNegInf;
  double total_upper = 0.0;
  double total_lower = 0.0;
  double elbo = 0.0;
  testing::for_each_configuration(problem.graph, [&](const Assignment& x) {
    const double log_density = problem.graph.log_density(x);
    const double log_prob = upper.log_prob(x);
    total_upper += std::exp(log_prob);
    if (log_density != kNegInf) {
      EXPECT_LE(log_density - log_prob, upper.log_value() + 1e-9);
    }
    if (!has_lower) return;
    const double log_prob_lower = lower.log_prob(x);
    total_lower += std::exp(log_prob_lower);
    if (log_prob_lower != kNegInf) elbo += std::exp(log_prob_lower) * (log_density - log_prob_lower);
  });
  EXPECT_NEAR(total_upper, 1.0, 1e-9);
  if (!has_lower) return;
  EXPECT_NEAR(total_lower, 1.0, 1e-9);
  EXPECT_NEAR(elbo, lower.log_value(), 1e-8 * (1.0 + std::abs(elbo)));
  EXPECT_LE(problem.log_z - elbo, result.report.log_z.upper - lower.log_value() + 1e-8);  // the KL is certified
}

TEST(SearchThreads, SolveEveryModelInEverySpace) {
  int num_shared = 0;
  for (int trial = 0; trial < 15; ++trial) {
    for (const SpaceKind kind : testing::kSpaces) {
      const Problem problem = random_problem(trial, kind);
      for (const int threads : kThreads) {
        SCOPED_TRACE(::testing::Message()
                     << "trial " << trial << ", space " << static_cast<int>(kind) << ", threads " << threads);
        const SearchResult result =
            search(problem.graph, problem.space, problem.leaves, {.threads = threads}, early(trial));
        expect_contains(result.report.log_z, problem.log_z);
        ASSERT_EQ(result.report.stop, StopReason::kExact);
        if (result.report.num_threads > 1) ++num_shared;
        if (problem.log_z == kNegInf) continue;
        const SearchApproximation upper(result, SamplerKind::kUpper);
        EXPECT_NEAR(upper.log_value(), problem.log_z, 1e-9);
        const auto marginals = solved_marginals(result, upper);
        if (marginals) testing::expect_equal_marginals(*marginals, enumerate(problem.graph).marginals, 1e-9);
        expect_right_samplers(problem, result);
      }
    }
  }
  EXPECT_GT(num_shared, 50);
}

TEST(SearchThreads, HaveCertifiedBoundsAndSamplersWheneverTheyAreStopped) {
  int num_open = 0;
  const std::thread::id caller = std::this_thread::get_id();
  for (int trial = 0; trial < 40; ++trial) {
    const Problem problem = random_problem(trial, testing::kSpaces[trial % 3]);
    if (problem.log_z == kNegInf) continue;
    for (const int threads : kThreads) {
      SCOPED_TRACE(::testing::Message() << "trial " << trial << ", threads " << threads);
      LogBounds before;
      int num_told = 0;
      Observer observer;
      observer.progress = [&](const Progress& now) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        expect_contains(now.log_z, problem.log_z);
        EXPECT_GE(now.log_z.lower, before.lower);
        EXPECT_LE(now.log_z.upper, before.upper);
        before = now.log_z;
        ++num_told;
      };
      observer.should_stop = [&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return num_told > 10 + trial;
      };
      const SearchResult result =
          search(problem.graph, problem.space, problem.leaves, {.threads = threads}, early(trial), observer);
      expect_contains(result.report.log_z, problem.log_z);
      EXPECT_GE(result.report.log_z.lower, before.lower);
      EXPECT_LE(result.report.log_z.upper, before.upper);
      expect_right_samplers(problem, result);
      if (result.report.num_threads > 1 && result.report.stop == StopReason::kInterrupted) ++num_open;
    }
  }
  EXPECT_GT(num_open, 20);
}

// Nodes are given back in the stores of the threads and searched again.
TEST(SearchThreads, KeepToTheMemory) {
  int num_collapsed = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Problem problem = random_problem(trial, testing::kSpaces[trial % 3]);
    if (problem.log_z == kNegInf) continue;
    for (const int threads : kThreads) {
      SCOPED_TRACE(::testing::Message() << "trial " << trial << ", threads " << threads);
      const Limits limits{.bytes = 24000, .threads = threads};
      int num_told = 0;
      const Observer observer{.progress = [&](const Progress&) { ++num_told; },
                              .should_stop = [&] { return num_told > 500; }};
      const SearchResult result = search(problem.graph, problem.space, problem.leaves, limits, early(trial), observer);
      expect_contains(result.report.log_z, problem.log_z);
      EXPECT_LE(result.report.used_bytes, limits.bytes);
      expect_right_samplers(problem, result);
      if (result.report.num_threads > 1 && result.report.num_collapses > 0) ++num_collapsed;
    }
  }
  EXPECT_GT(num_collapsed, 10);
}

TEST(SearchThreads, GiveTheSameBitsForTheSameNumber) {
  for (int trial = 0; trial < 10; ++trial) {
    const Problem problem = random_problem(trial, testing::kSpaces[trial % 3]);
    for (const int threads : {2, 5}) {
      LogBounds found[2];
      for (LogBounds& bounds : found) {
        int num_told = 0;
        const Observer observer{.progress = [&](const Progress&) { ++num_told; },
                                .should_stop = [&] { return num_told > 20; }};
        SearchOptions options = early(trial);
        options.traversals_per_round = 1 + trial % 4;
        bounds =
            search(problem.graph, problem.space, problem.leaves, {.threads = threads}, options, observer).report.log_z;
      }
      EXPECT_EQ(found[0].lower, found[1].lower);
      EXPECT_EQ(found[0].upper, found[1].upper);
    }
  }
}

// With a budget the bits do not depend on the number of threads.
TEST(SearchThreads, AreNotUsedWithABudget) {
  const Problem problem = random_problem(1, SpaceKind::kAndOr);
  const Limits limits{.budget = 500, .threads = 8};
  EXPECT_EQ(search(problem.graph, problem.space, problem.leaves, limits, early(1)).report.num_threads, 1);
}

}  // namespace
}  // namespace treesample

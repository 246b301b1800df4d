// The claims of the paper about the tree search, and of the design about its spaces, on models small enough to
// enumerate.
#include "treesample/tree/tree_sample.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "support/expect_error.hpp"
#include "support/search_models.hpp"
#include "tree/tree_store.hpp"
#include "tree/values.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/search/q_uct_search.hpp"

namespace treesample {
namespace {

using testing::for_each_configuration;
using testing::HashValue;
using testing::kSpaces;
using testing::kUnlimited;
using testing::model_options;
using testing::random_model;
using testing::RandomModelOptions;
using testing::space_of;
using testing::total_probability;

// Corollary 1, and log Z in every space and order.
TEST(TreeSample, FullBudgetEqualsEnumeration) {
  Random random(1);
  for (int variant = 0; variant < 120; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    const double log_z = enumerate(graph).log_z;
    for (const SpaceKind kind : kSpaces) {
      for (const OrderKind order : {OrderKind::kGiven, OrderKind::kDegree, OrderKind::kMinFill, OrderKind::kMinWidth}) {
        const QUctResult result = q_uct_search(graph, space_of(graph, kind, order), {}, {.budget = kUnlimited});
        ASSERT_EQ(result.report.stop, StopReason::kExact);
        ASSERT_TRUE(result.approximation->is_exact());
        if (log_z == kNegInf) {
          ASSERT_EQ(result.approximation->log_value(), kNegInf);
          continue;
        }
        ASSERT_NEAR(result.approximation->log_value(), log_z, 1e-10) << "variant " << variant;
        for_each_configuration(graph, [&](const Assignment& x) {
          const double expected = graph.log_density(x) - log_z;
          const double found = result.approximation->log_prob(x);
          if (expected == kNegInf) {
            ASSERT_EQ(found, kNegInf);
          } else {
            ASSERT_NEAR(found, expected, 1e-9);
          }
        });
      }
    }
  }
}

// Lemma 1: every complete node has its exact value, at every budget.
TEST(TreeSample, CompleteSubtreeHasExactValues) {
  Random random(2);
  int num_compared = 0;
  for (int variant = 0; variant < 40; ++variant) {
    RandomModelOptions options = model_options(variant);
    options.num_variables = 5;
    const FactorGraph graph = random_model(random, options);
    const SearchSpace space = space_of(graph, SpaceKind::kTree, OrderKind::kMinFill);
    const TreeSearchResult full = tree_sample(graph, space, {}, {});
    for (const std::int64_t budget : {7, 20, 60}) {
      const TreeSearchResult part = tree_sample(graph, space, {}, {.budget = budget});
      const TreeStore& found = part.approximation.store();
      const TreeStore& exact = full.approximation.store();
      // Walks through both stores together along every configuration.
      for_each_configuration(graph, [&](const Assignment& x) {
        NodeIndex a = found.root(), b = exact.root();
        for (int n = 0; n < space.num_levels() && a != kNoNode && b != kNoNode; ++n) {
          if (found.node(n, a).is_complete()) {
            const double expected = log_value(exact, n, b);
            ASSERT_TRUE(log_value(found, n, a) == expected || std::abs(log_value(found, n, a) - expected) < 1e-10);
            ++num_compared;
          }
          const int state = x[space.levels[n].variable];
          a = found.node(n, a).link(state);
          b = exact.node(n, b).link(state);
        }
      });
    }
  }
  EXPECT_GT(num_compared, 1000);
}

TEST(TreeSample, ProbabilitiesSumToOneAtEveryBudget) {
  Random random(3);
  for (int variant = 0; variant < 60; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    for (const SpaceKind kind : kSpaces) {
      for (std::int64_t budget = 0; budget < 200; budget = budget * 2 + 1) {
        const QUctResult result =
            q_uct_search(graph, space_of(graph, kind, OrderKind::kMinFill), {}, {.budget = budget});
        const double expected = result.approximation->log_value() == kNegInf ? 0.0 : 1.0;
        ASSERT_NEAR(total_probability(graph, *result.approximation), expected, 1e-10) << variant << " " << budget;
      }
    }
  }
}

TEST(TreeSample, BudgetIsNeverExceededInEitherUnit) {
  Random random(6);
  for (int variant = 0; variant < 40; ++variant) {
    RandomModelOptions options = model_options(variant);
    options.num_variables = 6;
    options.num_factors = 12;
    const FactorGraph graph = random_model(random, options);
    for (const SpaceKind kind : kSpaces) {
      for (const std::int64_t budget : {0, 1, 3, 17, 50}) {
        const SearchSpace space = space_of(graph, kind);
        const StoreReport by_reward = q_uct_search(graph, space, {}, {.budget = budget}).report;
        ASSERT_LE(by_reward.spent.reward_evaluations, budget);
        // The tree search pays for one edge at a time, the search for all edges of a node.
        if (by_reward.stop == StopReason::kBudget) {
          ASSERT_GT(by_reward.spent.reward_evaluations, budget - (kind == SpaceKind::kTree ? 1 : options.max_states));
        }
        const StoreReport by_factor =
            q_uct_search(graph, space, {}, {.budget = budget, .unit = BudgetUnit::kFactor}).report;
        ASSERT_LE(by_factor.spent.factor_evaluations, budget);
      }
    }
  }
}

TEST(TreeSample, FactorEvaluationsAreCountedWhereTheyHappen) {
  int calls = 0;
  FactorGraph graph = testing::variables(4, 2);
  for (int v = 0; v < 4; ++v) {
    graph.add_factor(Factor::function({v, (v + 1) % 4}, [&](std::span<const int> s) {
      ++calls;
      return 0.3 * s[0] - 0.2 * s[1];
    }));
  }
  const QUctResult result = q_uct_search(graph, space_of(graph, SpaceKind::kTree), {}, {.budget = 13});
  EXPECT_EQ(result.report.spent.factor_evaluations, calls);
}

TEST(TreeSample, ModelsWithoutAnyConfigurationAreAnswered) {
  for (const SpaceKind kind : kSpaces) {
    FactorGraph graph = testing::variables(4, 2);
    graph.add_table({0, 3}, {kNegInf, kNegInf, kNegInf, kNegInf});
    graph.add_table({1, 2}, {0.0, 1.0, 2.0, 3.0});
    const QUctResult result = q_uct_search(graph, space_of(graph, kind), {}, {.budget = kUnlimited});
    EXPECT_TRUE(result.approximation->is_exact());
    EXPECT_EQ(result.approximation->log_value(), kNegInf);
    EXPECT_EQ(result.approximation->log_prob(Assignment{0, 0, 0, 0}), kNegInf);
    EXPECT_FALSE(result.approximation->best());
    Random random(0);
    EXPECT_THROW(static_cast<void>(result.approximation->sample(random)), Error);
    EXPECT_THROW(static_cast<void>(result.approximation->marginals()), Error);
  }
  FactorGraph constant = testing::variables({2});
  constant.add_table({}, {kNegInf});
  const QUctResult result = q_uct_search(constant, space_of(constant, SpaceKind::kTree), {}, {.budget = 0});
  EXPECT_TRUE(result.approximation->is_exact());
  EXPECT_EQ(result.approximation->log_value(), kNegInf);
}

TEST(TreeSample, DegenerateModels) {
  for (const SpaceKind kind : kSpaces) {
    FactorGraph nothing;
    nothing.add_table({}, {1.5});
    const QUctResult empty = q_uct_search(nothing, space_of(nothing, kind), {}, {.budget = 0});
    EXPECT_TRUE(empty.approximation->is_exact());
    EXPECT_EQ(empty.approximation->log_value(), 1.5);
    EXPECT_EQ(empty.approximation->log_prob(Assignment{}), 0.0);

    FactorGraph one = testing::variables({3});
    one.add_table({0}, {0.0, 1.0, 2.0});
    EXPECT_NEAR(q_uct_search(one, space_of(one, kind), {}, {.budget = 3}).approximation->log_value(),
                enumerate(one).log_z, 1e-14);

    FactorGraph no_factors = testing::variables(3, 4);
    EXPECT_NEAR(q_uct_search(no_factors, space_of(no_factors, kind), {}, {.budget = 0}).approximation->log_value(),
                3 * std::log(4.0), 1e-14);

    FactorGraph single_states = testing::variables(5, 1);
    single_states.add_table({0, 4}, {-0.75});
    const QUctResult single = q_uct_search(single_states, space_of(single_states, kind), {}, {.budget = 5});
    EXPECT_TRUE(single.approximation->is_exact());
    EXPECT_EQ(single.approximation->log_value(), -0.75);
  }
}

TEST(TreeSample, SameSeedSameBits) {
  Random random(7);
  const FactorGraph graph = random_model(random, {.num_variables = 8, .max_states = 4, .num_factors = 14});
  for (const SpaceKind kind : kSpaces) {
    const SearchSpace space = space_of(graph, kind);
    const TreeSearchOptions options{.ties = TieRule::kRandom, .seed = 5};
    const QUctResult first = q_uct_search(graph, space, {}, {.budget = 700}, options);
    const QUctResult second = q_uct_search(graph, space, {}, {.budget = 700}, options);
    EXPECT_EQ(first.approximation->log_value(), second.approximation->log_value());
    Random a(9), b(9);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(first.approximation->sample(a), second.approximation->sample(b));
  }
}

TEST(TreeSample, AnyPriorIsNormalisedAndExactInTheEnd) {
  Random random(8);
  for (int variant = 0; variant < 30; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    const double log_z = enumerate(graph).log_z;
    if (log_z == kNegInf) continue;
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = space_of(graph, kind);
      const auto prior = std::make_shared<HashValue>(space, variant);
      for (const std::int64_t budget : {0, 5, 40}) {
        const QUctResult result = q_uct_search(graph, space, {.estimate = prior}, {.budget = budget});
        ASSERT_NEAR(total_probability(graph, *result.approximation), 1.0, 1e-10);
      }
      ASSERT_NEAR(q_uct_search(graph, space, {.estimate = prior}, {.budget = kUnlimited}).approximation->log_value(),
                  log_z, 1e-10);
    }
  }
}

TEST(TreeSample, MarginalsArePassOverTheStore) {
  Random random(9);
  for (int variant = 0; variant < 40; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    for (const SpaceKind kind : kSpaces) {
      for (const std::int64_t budget : {0, 9, 60}) {
        const QUctResult result = q_uct_search(graph, space_of(graph, kind), {}, {.budget = budget});
        if (result.approximation->log_value() == kNegInf) continue;
        Marginals expected;
        for (int v = 0; v < graph.num_variables(); ++v) expected.emplace_back(graph.num_states(v), 0.0);
        for_each_configuration(graph, [&](const Assignment& x) {
          const double p = std::exp(result.approximation->log_prob(x));
          for (int v = 0; v < graph.num_variables(); ++v) expected[v][x[v]] += p;
        });
        const Marginals found = result.approximation->marginals();
        for (int v = 0; v < graph.num_variables(); ++v) {
          for (int s = 0; s < graph.num_states(v); ++s) ASSERT_NEAR(found[v][s], expected[v][s], 1e-10);
        }
      }
    }
  }
}

// On evaluated configurations the importance weight is the search's Z; on others it can be anything.
TEST(TreeSample, UnexploredMassIsWhereImportanceWeightsVary) {
  Random random(12);
  const FactorGraph graph = random_model(random, {.num_variables = 6, .min_states = 2, .num_factors = 9});
  for (const SpaceKind kind : kSpaces) {
    for (const std::int64_t budget : {0, 10, 40, 100, 100'000}) {
      const QUctResult result = q_uct_search(graph, space_of(graph, kind), {}, {.budget = budget});
      double varying = 0.0;
      for_each_configuration(graph, [&](const Assignment& x) {
        const double log_prob = result.approximation->log_prob(x);
        const double log_weight = graph.log_density(x) - log_prob;
        if (std::abs(log_weight - result.approximation->log_value()) > 1e-9) varying += std::exp(log_prob);
      });
      EXPECT_NEAR(result.approximation->unexplored_mass(), varying, 1e-9);
    }
  }
}

// A leaf value that takes possible states for impossible delays them, but does not exclude them.
TEST(TreeSample, WrongPriorOfMinusInfinityIsOvercome) {
  for (int first = 0; first < 3; ++first) {
    FactorGraph graph = testing::variables(4, 3);
    for (int v = 0; v + 1 < 4; ++v) graph.add_table({v, v + 1}, {0, 1, 2, 1, 0, 1, 2, 1, 0});
    for (const SpaceKind kind : kSpaces) {
      const SearchSpace space = space_of(graph, kind);
      struct Prior final : LeafValue {
        Prior(const SearchSpace& space, int n) : LeafValue(space), first(n) {}
        void q_values(int level, std::span<const int>, int, std::span<double> q) const override {
          for (std::size_t a = 0; a < q.size(); ++a) q[a] = level >= first && a > 0 ? kNegInf : 0.0;
        }
        int first;
      };
      const QUctResult result =
          q_uct_search(graph, space, {.estimate = std::make_shared<const Prior>(space, first)}, {.budget = kUnlimited});
      ASSERT_TRUE(result.approximation->is_exact());
      ASSERT_NEAR(result.approximation->log_value(), enumerate(graph).log_z, 1e-10);
    }
  }
}

TEST(TreeSample, BestConfigurationIsTheLowestOfEquals) {
  FactorGraph graph = testing::variables(5, 3);
  for (int v = 0; v + 1 < 5; ++v) graph.add_table({v, v + 1}, std::vector<double>(9, 0.1 + 0.2 * v));
  for (const SpaceKind kind : kSpaces) {
    const auto best = q_uct_search(graph, space_of(graph, kind), {}, {.budget = kUnlimited}).approximation->best();
    EXPECT_EQ(best->x, Assignment(5, 0));
  }
}

TEST(TreeSample, BestConfigurationIsTheModeOfAFullSearch) {
  Random random(10);
  for (int variant = 0; variant < 60; ++variant) {
    const FactorGraph graph = random_model(random, model_options(variant));
    double mode = kNegInf;
    for_each_configuration(graph, [&](const Assignment& x) { mode = std::max(mode, graph.log_density(x)); });
    for (const SpaceKind kind : kSpaces) {
      const auto best = q_uct_search(graph, space_of(graph, kind), {}, {.budget = kUnlimited}).approximation->best();
      ASSERT_EQ(best.has_value(), mode != kNegInf);
      if (!best) continue;
      ASSERT_NEAR(best->log_density, mode, 1e-10);
      ASSERT_NEAR(graph.log_density(best->x), mode, 1e-10);
    }
  }
}

TEST(TreeSample, ObserverEndsTheSearchWithTheAnswerSoFar) {
  FactorGraph graph = testing::variables(30, 2);
  for (int v = 0; v + 1 < 30; ++v) graph.add_table({v, v + 1}, {0.1, 0.7, -0.3, 0.2});
  int calls = 0;
  const QUctResult result = q_uct_search(graph, space_of(graph, SpaceKind::kTree), {}, {}, {},
                                         {[&](const Progress&) { ++calls; }, [&] { return calls >= 3; }});
  EXPECT_EQ(result.report.stop, StopReason::kInterrupted);
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(std::isfinite(result.approximation->log_value()));
}

TEST(TreeSample, MemoryAndTimeLimitsStopCleanly) {
  FactorGraph graph = testing::variables(40, 2);
  for (int v = 0; v + 1 < 40; ++v) graph.add_table({v, v + 1}, {0.1, 0.7, -0.3, 0.2});
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  const QUctResult by_memory = q_uct_search(graph, space, {}, {.budget = kUnlimited, .bytes = 1 << 20});
  EXPECT_EQ(by_memory.report.stop, StopReason::kMemory);
  EXPECT_LT(by_memory.report.used_bytes, 1.1 * (1 << 20));
  const QUctResult by_time = q_uct_search(graph, space, {}, {.budget = kUnlimited, .seconds = 1e-9});
  EXPECT_EQ(by_time.report.stop, StopReason::kTime);
}

TEST(TreeSample, RefusesBadOptionsAndValues) {
  FactorGraph graph = testing::variables({2});
  const SearchSpace space = space_of(graph, SpaceKind::kTree);
  EXPECT_THROW(q_uct_search(graph, space, {}, {.budget = -1}), Error);
  EXPECT_THROW(q_uct_search(graph, space, {}, {}, {.c = -0.5}), Error);
  EXPECT_THROW(q_uct_search(graph, space, {}, {}, {.c = std::nan("")}), Error);
  EXPECT_THROW(q_uct_search(graph, space, {}, {.seconds = -1.0}), Error);
  EXPECT_THROW(tree_sample(graph, space_of(graph, SpaceKind::kGraph), {}, {}), Error);
  EXPECT_THROW(tree_sample(graph, space_of(graph, SpaceKind::kAndOr), {}, {}), Error);
  FactorGraph bad = testing::variables({2});
  bad.add_factor(Factor::function({0}, [](std::span<const int> s) { return s[0] == 1 ? std::nan("") : 0.0; }));
  testing::expect_error(ErrorCode::kNumeric, [&] { q_uct_search(bad, space_of(bad, SpaceKind::kTree), {}, {}); });
}

}  // namespace
}  // namespace treesample

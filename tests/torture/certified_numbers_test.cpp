// Certified numbers against enumeration with 113 bits: after every step, in all spaces, rules and leaf values.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "exact/elimination_pass.hpp"
#include "torture/torture.hpp"
#include "treesample/exact/cutset.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/reduce/simplify.hpp"
#include "treesample/reduce/summed_model.hpp"
#include "treesample/search/q_uct_search.hpp"
#include "treesample/search/search_approximation.hpp"
#include "treesample/tree/evaluated_mass.hpp"
#include "treesample/value/mini_bucket.hpp"

namespace treesample {
namespace {

using testing::below;
using testing::expect_contains;
using testing::num_trials;
using testing::Quad;
using testing::torture_model;
using testing::TortureModel;

SearchSpace random_space(const FactorGraph& graph, Random& random) {
  const auto kind = static_cast<SpaceKind>(below(random, 3));
  return make_search_space(graph, random.permutation(graph.num_variables()), kind);
}

LeafValues random_leaves(const FactorGraph& graph, const SearchSpace& space, Random& random) {
  const bool has_tables = graph.has_only_tables();
  LeafValues leaves;
  const int kind = below(random, has_tables ? 5 : 2);
  if (kind >= 3) {
    MiniBucketOptions options{.i_bound = below(random, 3), .passes = 1 + below(random, 4)};
    const auto buckets = std::make_shared<const WeightedMiniBucket>(graph, space, options);
    leaves = mini_bucket_leaves(graph, space, buckets,
                                kind == 3 ? uniform_distributions(graph) : mean_field(graph, 3, 1, {}));
  }
  if (kind == 1 || kind == 2) leaves.upper = maxima_value(graph, space);
  if (kind == 2) leaves.lower = product_value(graph, space, uniform_distributions(graph));
  if (below(random, 4) == 0) leaves.estimate = std::make_shared<UniformValue>(space);
  return leaves;
}

SearchOptions random_options(Random& random) {
  return {.select = static_cast<SelectRule>(below(random, 3)),
          .expansions_per_traversal = 1 + below(random, 3),
          .dive_interval = below(random, 3),
          .observer_interval = 1};
}

Limits random_limits(Random& random) {
  Limits limits;
  if (below(random, 3) == 0) limits.budget = below(random, 60);
  if (below(random, 4) == 0) {
    limits.bytes = 2000;  // too little: nodes are given back and searched again
    limits.budget = std::min<std::int64_t>(limits.budget, 2000);
  }
  return limits;
}

TEST(CertifiedNumbers, BoundsOfASearchHoldAfterEveryStep) {
  int num_exact = 0;
  for (int trial = 0; trial < num_trials(2000); ++trial) {
    Random random(trial, "certified bounds");
    const TortureModel model = torture_model(random);
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const SearchSpace space = random_space(model.graph, random);
    const LeafValues leaves = random_leaves(model.graph, space, random);
    const SearchOptions options = random_options(random);
    const Limits limits = random_limits(random);
    LogBounds before;
    const auto check = [&](const Progress& now) {
      expect_contains(now.log_z, model);
      EXPECT_GE(now.log_z.lower, before.lower);
      EXPECT_LE(now.log_z.upper, before.upper);
      EXPECT_GE(now.estimate.value(), now.log_z.lower);
      EXPECT_LE(now.estimate.value(), now.log_z.upper);
      before = now.log_z;
    };
    SearchReport report;
    try {
      report =
          search(model.graph, space, leaves, limits, options, {check, [] { return ::testing::Test::HasFailure(); }})
              .report;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNumeric) << error.what();  // outside of its range, which it reports
      EXPECT_TRUE(model.is_beyond_range || leaves.upper == nullptr);
      continue;
    }
    expect_contains(report.log_z, model);
    EXPECT_GE(report.estimate, report.log_z.lower);
    EXPECT_LE(report.estimate, report.log_z.upper);
    EXPECT_TRUE(report.stop != StopReason::kExact || report.log_z.is_exact());
    EXPECT_TRUE(report.stop != StopReason::kRounding || !report.log_z.is_exact());
    num_exact += report.stop == StopReason::kExact ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(num_exact, num_trials(2000) / 3);
}

// The promises of the samplers, checked on all configurations.
TEST(CertifiedNumbers, SamplersKeepTheirPromises) {
  for (int trial = 0; trial < num_trials(300); ++trial) {
    Random random(trial, "certified samplers");
    const TortureModel model = torture_model(random, {.max_variables = 4, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const SearchSpace space = random_space(model.graph, random);
    LeafValues leaves{.lower = product_value(model.graph, space, uniform_distributions(model.graph)),
                      .upper = maxima_value(model.graph, space)};
    const SearchOptions options = random_options(random);
    const SearchResult result = search(model.graph, space, leaves, random_limits(random), options);
    if (model.is_beyond_range) continue;  // some U are infinite
    for (const SamplerKind kind : {SamplerKind::kLower, SamplerKind::kUpper, SamplerKind::kEstimate}) {
      const SearchApproximation sampler(result, kind);
      if (sampler.log_value() == kNegInf) {
        EXPECT_THROW(static_cast<void>(sampler.sample(random)), Error);
        continue;
      }
      double total = 0.0;
      double divergence = 0.0;  // KL(sampler || target) - log Z
      std::size_t i = 0;
      testing::for_each_configuration(model.graph, [&](const Assignment& x) {
        const double log_prob = sampler.log_prob(x);
        const auto log_density = static_cast<double>(model.log_densities[i++]);
        EXPECT_FALSE(std::isnan(log_prob));
        total += std::exp(log_prob);
        if (log_prob != kNegInf) divergence += std::exp(log_prob) * (log_prob - log_density);
        if (kind == SamplerKind::kUpper && log_density != kNegInf) {
          EXPECT_LE(log_density - log_prob, sampler.log_value() + 1e-12 * (1.0 + std::abs(log_density)));
        }
      });
      EXPECT_NEAR(total, 1.0, 1e-6);
      const double tolerance = 1e-9 * (1.0 + std::abs(sampler.log_value()));
      if (kind == SamplerKind::kLower) {
        EXPECT_GE(-divergence, sampler.log_value() - tolerance);
      }
    }
    if (HasFailure()) return;
  }
}

TEST(CertifiedNumbers, EliminationKnowsItsRounding) {
  int num_exact = 0;
  for (int trial = 0; trial < num_trials(2000); ++trial) {
    Random random(trial, "certified elimination");
    const TortureModel model = torture_model(random, {.max_variables = 6, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const std::vector<int> order = random.permutation(model.graph.num_variables());
    const Elimination elimination(model.graph, plan_in_order(model.graph, order));
    const LogBounds bounds = elimination.bounds();
    expect_contains(bounds, model);
    EXPECT_EQ(bounds.clamp(elimination.log_z()), elimination.log_z());
    num_exact += bounds.is_exact() ? 1 : 0;
    if (model.log_z != -HUGE_VALQ) {
      double largest = 0.0;
      for (const std::vector<double>& probs : elimination.marginals()) {
        for (const double p : probs) {
          EXPECT_FALSE(std::isnan(p));
          largest = std::max(largest, p);
        }
      }
      EXPECT_LE(largest, 1.0 + 1e-9);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(num_exact, num_trials(2000) / 2);
}

// The linear domain alone: it is right, or it gives up.
TEST(CertifiedNumbers, TheLinearDomainIsRightOrGivesUp) {
  int num_given_up = 0, num_right = 0;
  ThreadTeam team(1);
  const Observer nobody;
  for (int trial = 0; trial < num_trials(2000); ++trial) {
    Random random(trial, "certified linear domain");
    const TortureModel model = torture_model(random, {.max_variables = 6, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    EntryWatch watch(nobody, 1.0);
    const EliminationPlan plan{.order = random.permutation(model.graph.num_variables())};
    const auto pass = linear_pass(model.graph, plan, {true, &team, nullptr}, watch);
    ++(pass ? num_right : num_given_up);
    if (!pass) continue;
    expect_contains(LogBounds::around(pass->log_z(), pass->error()), model);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_right, num_trials(2000) / 3);
  EXPECT_GT(num_given_up, 0);
}

TEST(CertifiedNumbers, SlicesKnowTheirRounding) {
  for (int trial = 0; trial < num_trials(1000); ++trial) {
    Random random(trial, "certified slices");
    const TortureModel model = torture_model(random, {.max_variables = 6, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    EliminationOptions options{.may_slice = true};
    const double bytes = plan_elimination(model.graph, {.goal = EliminationGoal::kLogZ}).log_z_bytes;
    Limits limits{.bytes = static_cast<std::size_t>(0.5 * bytes), .threads = 1};
    try {
      const Observer observer{
          [&](const Progress& now) { EXPECT_LE(static_cast<Quad>(now.log_z.lower), model.most()); }};
      expect_contains(Elimination(model.graph, limits, options, observer).bounds(), model);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kResource);  // a table of one entry cannot be cut
    }
    if (HasFailure()) return;
  }
}

// Any variables as a cutset, and any of its joint states.
TEST(CertifiedNumbers, SumsOverACutsetKnowTheirRounding) {
  int num_parts = 0, num_impossible = 0;
  for (int trial = 0; trial < num_trials(1000); ++trial) {
    Random random(trial, "certified cutset");
    const TortureModel model = torture_model(random, {.max_variables = 6, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const int num_variables = model.graph.num_variables();
    Cutset cutset{.variables = random.permutation(num_variables)};
    cutset.variables.resize(static_cast<std::size_t>(below(random, num_variables + 1)));
    cutset.rest.order = random.permutation(num_variables);
    CutsetSum sum(model.graph, cutset, {.threads = 1 + below(random, 2)});
    std::vector<Assignment> all;
    testing::for_each_configuration(model.graph, [&](const Assignment& x) { all.push_back(x); });
    std::vector<Assignment> some;
    for (const Assignment& x : all) {
      if (below(random, 4) == 0) some.push_back(x);
    }
    sum.add(some);
    std::vector<Quad> held = {-HUGE_VALQ};
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (sum.holds(all[i])) held.push_back(model.log_densities[i]);
    }
    const Quad part = testing::quad_log_sum_exp(held);
    EXPECT_LE(static_cast<Quad>(sum.log_mass().lower), part);
    EXPECT_GE(static_cast<Quad>(sum.log_mass().upper), part);
    EXPECT_LE(static_cast<Quad>(sum.log_mass().lower), model.least());
    num_parts += part > -HUGE_VALQ && part < model.log_z ? 1 : 0;
    num_impossible += part == -HUGE_VALQ && !some.empty() ? 1 : 0;
    sum.add(all);
    expect_contains(sum.log_mass(), model);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_parts, num_trials(1000) / 10);
  EXPECT_GT(num_impossible, num_trials(1000) / 50);
}

TEST(CertifiedNumbers, SmallerModelsKeepWhatTheyStandFor) {
  int num_smaller = 0;
  for (int trial = 0; trial < num_trials(1000); ++trial) {
    Random random(trial, "certified reductions");
    const TortureModel model = torture_model(random, {.max_variables = 6, .has_functions = false});
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const SimplifiedModel simplified = simplify(model.graph);
    if (simplified.report.is_impossible) {
      EXPECT_TRUE(model.log_z == -HUGE_VALQ);
      continue;
    }
    const SummedModel summed(simplified.model.graph);
    num_smaller += summed.num_summed_out() > 0 ? 1 : 0;
    const LogBounds bounds = Elimination(summed.graph()).bounds();
    const double slack = simplified.report.log_error + summed.log_slack();
    expect_contains({bounds.lower - slack, bounds.upper + slack}, model);
    if (HasFailure()) return;
  }
  EXPECT_GT(num_smaller, num_trials(1000) / 10);
}

TEST(CertifiedNumbers, ASolvedTreeSearchKnowsItsRounding) {
  int num_exact = 0;
  for (int trial = 0; trial < num_trials(2000); ++trial) {
    Random random(trial, "certified tree search");
    const TortureModel model = torture_model(random);
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", " << model.text);
    const SearchSpace space = random_space(model.graph, random);
    std::optional<QUctResult> solved;
    try {
      solved = q_uct_search(model.graph, space, {}, {.budget = 100'000});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNumeric);  // outside of its range, which it reports
      continue;
    }
    const QUctResult& result = *solved;
    EXPECT_TRUE(result.report.stop == StopReason::kExact || result.report.stop == StopReason::kRounding);
    expect_contains(result.report.log_z, model);
    EXPECT_EQ(result.report.log_z.clamp(result.report.estimate), result.report.estimate);
    if (const auto* const tree = dynamic_cast<const TreeApproximation*>(result.approximation.get())) {
      expect_contains({.lower = log_evaluated_mass(*tree, model.graph)}, model);
    }
    num_exact += result.report.stop == StopReason::kExact ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(num_exact, num_trials(2000) / 2);
}

// Every sub-tree first promises e^600 and then takes it back: the nodes above change their units twice for each of
// thousands of sub-trees, and what is complete must not be rounded each time.
TEST(CertifiedNumbers, ATreeSearchRoundsNothingAgainAndAgain) {
  for (const auto& [num_variables, num_states] : {std::pair(12, 2), std::pair(8, 3)}) {
    for (int trial = 0; trial < 40; ++trial) {
      Random random(trial, "moves");
      FactorGraph graph;
      for (int v = 0; v < num_variables; ++v) graph.add_variable(num_states);
      for (const double level : {600.0, -600.0}) {
        const int v = level > 0.0 ? num_variables - 3 : num_variables - 2;
        std::vector<double> values(static_cast<std::size_t>(num_states) * num_states);
        for (double& value : values) value = level + 30.0 * random.normal();
        graph.add_table({v, v + 1}, values);
      }
      std::vector<int> order(static_cast<std::size_t>(num_variables));
      std::iota(order.begin(), order.end(), 0);
      const SearchSpace space = make_search_space(graph, order, SpaceKind::kTree);
      const LogBounds log_z = q_uct_search(graph, space, {}, {}).report.log_z;
      const Quad truth = testing::quad_log_sum_exp(testing::quad_log_densities(
          graph, [&](int m, std::span<const int> states) { return testing::log_value_of(graph, m, states); }));
      EXPECT_LE(static_cast<Quad>(log_z.lower), truth) << num_states << " states, trial " << trial;
      EXPECT_GE(static_cast<Quad>(log_z.upper), truth) << num_states << " states, trial " << trial;
    }
  }
}

}  // namespace
}  // namespace treesample

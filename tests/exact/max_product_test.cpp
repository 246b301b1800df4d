// The most probable configuration against enumeration with 113 bits.
#include "treesample/exact/max_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"
#include "treesample/reduce/simplify.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

__extension__ using Wide = __float128;

// log gamma_hat(x) in quadruple precision; -inf for an impossible x.
Wide wide_density(const FactorGraph& graph, const Assignment& x) {
  Wide sum = 0;
  for (int m = 0; m < graph.num_factors(); ++m) {
    const double value = graph.log_value(m, x);
    if (value == kNegInf) return kNegInf;
    sum += value;
  }
  return sum;
}

Wide largest_density(const FactorGraph& graph) {
  const auto count = static_cast<std::size_t>(std::llround(std::exp(graph.log_num_configurations())));
  Wide largest = kNegInf;
  for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, wide_density(graph, configuration_at(graph, i)));
  return largest;
}

// Checks that the certificate holds. Returns the result for further checks.
std::optional<MostProbable> check_certificate(const FactorGraph& graph, const Limits& limits = {}) {
  const Wide largest = largest_density(graph);
  const std::optional<MostProbable> found = most_probable(graph, limits, {.may_slice = true});
  EXPECT_EQ(found.has_value(), largest > kNegInf);
  if (!found) return found;
  EXPECT_NO_THROW(graph.check_assignment(found->configuration.x, "test"));
  EXPECT_GE(Wide(found->log_upper), largest);
  EXPECT_GE(Wide(found->gap), largest - wide_density(graph, found->configuration.x));
  EXPECT_EQ(found->configuration.log_density, graph.log_density(found->configuration.x));
  return found;
}

RandomModelOptions options_of_trial(int trial) {
  RandomModelOptions options;
  options.num_variables = trial % 8;
  options.num_factors = trial % 11;
  options.min_arity = trial % 2;
  options.max_states = 1 + trial % 4;
  options.zero_probability = trial % 5 == 0 ? 0.4 : trial % 5 == 1 ? 0.1 : 0.0;
  return options;
}

TEST(MaxProduct, EqualsEnumeration) {
  Random random(1);
  int num_found = 0, num_impossible = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const FactorGraph graph = random_model(random, options_of_trial(trial));
    const auto found = check_certificate(graph);
    ++(found ? num_found : num_impossible);
    if (!found) continue;
    EXPECT_TRUE(found->is_optimal()) << found->gap;
    EXPECT_LT(found->gap, 1e-12);
  }
  EXPECT_GT(num_found, 3000);
  EXPECT_GT(num_impossible, 50);
}

// Whole numbers: sums are exact, and very many configurations are equally good.
TEST(MaxProduct, TiesAreOptimalToo) {
  Random random(2);
  int num_ties = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    RandomModelOptions options = options_of_trial(trial);
    const FactorGraph shape = random_model(random, options);
    FactorGraph graph;
    for (int v = 0; v < shape.num_variables(); ++v) graph.add_variable(shape.num_states(v));
    for (const Factor& factor : shape.factors()) {
      std::vector<double> values = factor.log_values();
      for (double& value : values) value = value == kNegInf ? value : std::round(value);
      graph.add_table(factor.scope(), values);
    }
    const auto found = check_certificate(graph);
    if (!found) continue;
    EXPECT_TRUE(found->is_optimal());
    const Wide largest = largest_density(graph);
    EXPECT_EQ(Wide(found->configuration.log_density), largest);
    int num_best = 0;
    const auto count = static_cast<std::size_t>(std::llround(std::exp(graph.log_num_configurations())));
    for (std::size_t i = 0; i < count; ++i) num_best += wide_density(graph, configuration_at(graph, i)) == largest;
    num_ties += num_best > 1;
  }
  EXPECT_GT(num_ties, 300);
}

// Magnitudes from 1e-290 to 1e290 in one model, the limits of log-values: the certificate stays true, and says so where
// it is worth little.
TEST(MaxProduct, WideMagnitudesAreCertifiedHonestly) {
  Random random(3);
  int num_optimal = 0, num_not = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const FactorGraph shape = random_model(random, options_of_trial(trial));
    const double widest = trial % 3 == 0 ? 290.0 : trial % 3 == 1 ? 17.0 : 4.0;
    FactorGraph graph;
    for (int v = 0; v < shape.num_variables(); ++v) graph.add_variable(shape.num_states(v));
    for (const Factor& factor : shape.factors()) {
      std::vector<double> values = factor.log_values();
      for (double& value : values) {
        value *= std::pow(10.0, random.uniform() * widest - (trial % 2 == 0 ? 0.0 : widest));
        if (value > kMaxLogValue) value = -value;
      }
      graph.add_table(factor.scope(), values);
    }
    const auto found = check_certificate(graph);
    if (found) ++(found->is_optimal() ? num_optimal : num_not);
  }
  EXPECT_GT(num_optimal, 300);
  EXPECT_GT(num_not, 300);
}

// Neither 0.3 in a file nor its logarithm is a double: the certificate holds for the number that was meant.
TEST(MaxProduct, LogValuesAreKnownToOneUnit) {
  Random random(6);
  int num_others = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    const FactorGraph shape = random_model(random, options_of_trial(trial));
    FactorGraph graph;
    for (int v = 0; v < shape.num_variables(); ++v) graph.add_variable(shape.num_states(v));
    for (const Factor& factor : shape.factors()) {  // few different values, hence ties
      std::vector<double> values = factor.log_values();
      for (double& value : values) value = value == kNegInf ? value : std::log(1.0 + 0.1 * std::round(std::abs(value)));
      graph.add_table(factor.scope(), values);
    }
    const auto found = most_probable(graph);
    if (!found) continue;
    EXPECT_TRUE(found->is_optimal()) << found->gap;
    FactorGraph meant;
    for (int v = 0; v < graph.num_variables(); ++v) meant.add_variable(graph.num_states(v));
    for (const Factor& factor : graph.factors()) {
      std::vector<double> values = factor.log_values();
      for (double& value : values) {
        const double unit = 0x1.0p-52 * (1.0 + std::abs(value));
        if (value != kNegInf) value += random.uniform() < 0.5 ? -unit : unit;
      }
      meant.add_table(factor.scope(), values);
    }
    const Wide lost = largest_density(meant) - wide_density(meant, found->configuration.x);
    EXPECT_LE(lost, Wide(found->gap));
    EXPECT_LE(largest_density(meant), Wide(found->log_upper));
    num_others += lost > 0;
  }
  EXPECT_GT(num_others, 50);
}

// Beside large terms, the last bits of these decide which configuration is best.
TEST(MaxProduct, WhatRoundingHidesIsNotCalledOptimal) {
  FactorGraph graph = testing::variables({2});
  graph.add_table({0}, {-1e17, -1e17});
  graph.add_table({0}, {0.0, 1.0});
  graph.add_table({0}, {-3e17, -3e17});
  const auto found = check_certificate(graph);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_optimal());
  EXPECT_GE(found->gap, 1.0);
}

TEST(MaxProduct, EvidenceAndSimplificationKeepTheOptimum) {
  Random random(4);
  int num_changed = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    RandomModelOptions options = options_of_trial(trial);
    options.num_variables = 2 + trial % 6;
    options.zero_probability = 0.3;
    const FactorGraph graph = random_model(random, options);
    const int v = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_variables())));
    const int state = static_cast<int>(random.below(static_cast<std::uint64_t>(graph.num_states(v))));
    const SimplifiedModel simple = simplify(graph, {{v, state}});
    num_changed += simple.report.is_changed();
    Wide largest = kNegInf;
    const auto count = static_cast<std::size_t>(std::llround(std::exp(graph.log_num_configurations())));
    for (std::size_t i = 0; i < count; ++i) {
      const Assignment x = configuration_at(graph, i);
      if (x[v] == state) largest = std::max(largest, wide_density(graph, x));
    }
    const auto found = most_probable(simple.model.graph);
    ASSERT_EQ(found.has_value(), largest > kNegInf);
    if (!found) continue;
    const Assignment x = simple.model.lift(found->configuration.x);
    EXPECT_EQ(x[v], state);
    EXPECT_TRUE(found->is_optimal());
    EXPECT_LT(double(largest - wide_density(graph, x)), 1e-12);
  }
  EXPECT_GT(num_changed, 500);
}

// A long chain that always gains by alternating: the bound on the rounding error must not grow with the square of its
// length.
TEST(MaxProduct, LongChainsAreStillOptimal) {
  FactorGraph graph;
  constexpr int kLength = 100'000;
  for (int v = 0; v < kLength; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < kLength; ++v) graph.add_table({v, v + 1}, {-0.3, 1.1, 1.1, -0.7});
  const auto found = most_probable(graph);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_optimal()) << found->gap;
  EXPECT_NEAR(found->configuration.log_density, 1.1 * (kLength - 1), 1e-6);
  for (int v = 0; v + 1 < kLength; ++v) ASSERT_NE(found->configuration.x[v], found->configuration.x[v + 1]);
}

// Memory for a part of the messages, down to a twentieth.
TEST(MaxProduct, SlicesEqualEnumeration) {
  Random random(68);
  int num_sliced = 0, num_impossible = 0, num_wide = 0;
  for (int trial = 0; trial < 120; ++trial) {
    SCOPED_TRACE(trial);
    const double scale = trial % 5 == 0 ? 1e9 : 1.0 + trial % 3;
    const FactorGraph graph = random_model(random, {.num_variables = 7 + trial % 3,
                                                    .min_states = 2,
                                                    .max_states = 3,
                                                    .num_factors = 20,
                                                    .min_arity = 1,
                                                    .max_arity = 3,
                                                    .zero_probability = 0.12 * (trial % 4),
                                                    .scale = scale});
    const EliminationPlan whole_plan = plan_elimination(graph);
    Limits limits{.bytes = static_cast<std::size_t>(whole_plan.sample_bytes * (trial % 3 == 0   ? 0.9
                                                                               : trial % 3 == 1 ? 0.3
                                                                                                : 0.05))};
    EliminationPlan sliced;
    try {
      sliced = plan_slices(graph, whole_plan, {.most_bytes = static_cast<double>(limits.bytes)});
    } catch (const Error&) {
      continue;
    }
    if (!sliced.is_possible()) continue;
    num_sliced += sliced.num_slices > 1.0;
    const std::optional<MostProbable> found = check_certificate(graph, limits);
    num_impossible += !found;
    num_wide += scale > 1e3;
    const std::optional<MostProbable> whole = most_probable(graph);
    ASSERT_EQ(found.has_value(), whole.has_value());
    if (found && scale < 1e3) {
      EXPECT_TRUE(found->is_optimal());
      EXPECT_NEAR(found->configuration.log_density, whole->configuration.log_density, 1e-12 * scale * 100.0);
    }
  }
  EXPECT_GT(num_sliced, 80);
  EXPECT_GT(num_impossible, 3);
  EXPECT_GT(num_wide, 10);
}

TEST(MaxProduct, SlicesTellTheirShareAndEndWhenAsked) {
  Random random(69);
  const FactorGraph graph = random_model(
      random,
      {.num_variables = 12, .min_states = 2, .max_states = 2, .num_factors = 40, .min_arity = 2, .max_arity = 3});
  Limits limits{.bytes = static_cast<std::size_t>(0.2 * plan_elimination(graph).sample_bytes)};
  double last = 0.0;
  int num_told = 0;
  Observer observer{.progress = [&](const Progress& now) {
    EXPECT_GE(now.share_done.value(), last);
    EXPECT_LT(now.share_done.value(), 1.0);
    last = now.share_done.value();
    ++num_told;
  }};
  ASSERT_TRUE(most_probable(graph, limits, {.may_slice = true}, observer));
  EXPECT_GT(last, 0.9);
  EXPECT_THROW(most_probable(graph, limits), Error);  // without slices it does not fit
  observer = {.should_stop = [n = 0, end = num_told / 2]() mutable { return ++n > end; }};
  EXPECT_THROW(most_probable(graph, limits, {.may_slice = true}, observer), Error);
}

TEST(MaxProduct, SameBitsAndRefusals) {
  Random random(5);
  const FactorGraph graph = random_model(random, {.num_variables = 8, .num_factors = 12});
  EXPECT_EQ(most_probable(graph)->configuration.x, most_probable(graph)->configuration.x);
  EXPECT_EQ(most_probable(graph)->gap, most_probable(graph)->gap);
  testing::expect_error(ErrorCode::kResource, [&] { (void)most_probable(graph, {.bytes = 8}); });
  testing::expect_error(ErrorCode::kInterrupted, [&] {
    (void)most_probable(graph, {}, EliminationOptions{}, {.should_stop = [] { return true; }});
  });
  FactorGraph function = graph;
  function.add_factor(Factor::function({0}, [](auto) { return 0.0; }));
  testing::expect_error(ErrorCode::kArgument, [&] { (void)most_probable(function); });
  FactorGraph low = graph;
  low.add_table({0}, std::vector<double>(static_cast<std::size_t>(graph.num_states(0)), -1e300));
  EXPECT_FALSE(most_probable(low)->is_optimal());
  const FactorGraph empty;
  EXPECT_EQ(most_probable(empty)->configuration.log_density, 0.0);
}

}  // namespace
}  // namespace treesample

// Elimination in slices and by several threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "exact/linear_table.hpp"
#include "stopwatch.hpp"
#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

using testing::random_model;
using testing::RandomModelOptions;

RandomModelOptions dense(int num_variables, double zeros) {
  return {.num_variables = num_variables,
          .min_states = 2,
          .max_states = 3,
          .num_factors = 3 * num_variables,
          .min_arity = 2,
          .max_arity = 3,
          .zero_probability = zeros};
}

// Limits to a share of the memory that the messages need.
Limits tight(const FactorGraph& graph, double share) {
  const EliminationPlan cost = plan_elimination(graph, {.goal = EliminationGoal::kLogZ});
  return {.bytes = static_cast<std::size_t>(share * cost.log_z_bytes), .threads = 1};
}

void expect_equal(const Marginals& actual, const Marginals& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t v = 0; v < expected.size(); ++v) {
    for (std::size_t a = 0; a < expected[v].size(); ++a) ASSERT_NEAR(actual[v][a], expected[v][a], 1e-10);
  }
}

TEST(SlicedElimination, EqualsEnumeration) {
  Random random(51);
  int num_zero = 0;
  double most_slices = 0.0;
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    const FactorGraph graph = random_model(random, dense(8 + trial % 2, 0.15 * (trial % 4)));
    const Enumeration expected = enumerate(graph);
    const Elimination actual(graph, tight(graph, trial % 2 == 0 ? 0.5 : 0.2), {.may_slice = true});
    most_slices = std::max(most_slices, actual.plan().num_slices);
    ASSERT_GT(actual.plan().num_slices, 1.0);
    if (expected.log_z == kNegInf) {
      ++num_zero;
      ASSERT_EQ(actual.log_z(), kNegInf);
      continue;
    }
    ASSERT_NEAR(actual.log_z(), expected.log_z, 1e-12 * (1.0 + std::abs(expected.log_z)));
    ASSERT_LE(actual.bounds().lower, actual.log_z());
    ASSERT_GE(actual.bounds().upper, actual.log_z());
    ASSERT_TRUE(actual.bounds().is_exact());
    ASSERT_NO_FATAL_FAILURE(expect_equal(actual.marginals(), expected.marginals));
    const Assignment x = actual.sample(random);
    ASSERT_NEAR(actual.log_prob(x), expected.log_probs[configuration_index(graph, x)], 1e-9);
    ASSERT_NE(actual.log_prob(x), kNegInf);
  }
  EXPECT_GT(num_zero, 0);
  EXPECT_GT(most_slices, 4.0);
}

// False-alarm rate: one chi-square test at 1e-6.
// Rounding makes the sum of other slices differ from log Z by more than the range of exponentials.
TEST(SlicedElimination, MarginalsOfHugeFactorsAreProbabilities) {
  for (int trial = 0; trial < 30; ++trial) {
    Random random(200 + trial);
    const FactorGraph shape = random_model(random, dense(8, 0.0));
    FactorGraph graph;
    for (int v = 0; v < shape.num_variables(); ++v) graph.add_variable(shape.num_states(v));
    for (const Factor& factor : shape.factors()) {
      std::vector<double> values = factor.log_values();
      for (double& value : values) value = -1e30 * random.uniform();
      graph.add_table(factor.scope(), std::move(values));
    }
    const Elimination elimination(graph, tight(graph, 0.3), {.may_slice = true});
    for (const std::vector<double>& probs : elimination.marginals()) {
      for (const double p : probs) EXPECT_TRUE(p >= 0.0 && p <= 1.0) << p << ", trial " << trial;
    }
  }
}

TEST(SlicedElimination, SamplesFollowTheDistribution) {
  Random random(52);
  const FactorGraph graph = random_model(random, dense(5, 0.1));
  const Enumeration exact = enumerate(graph);
  const Elimination elimination(graph, tight(graph, 0.5), {.may_slice = true});
  ASSERT_GT(elimination.plan().num_slices, 1.0);
  constexpr int kNumSamples = 20'000;
  std::vector<double> counts(exact.log_probs.size(), 0.0);
  for (int s = 0; s < kNumSamples; ++s) ++counts[configuration_index(graph, elimination.sample(random))];
  double chi_square = 0.0, rare_expected = 0.0, rare_count = 0.0, degrees = 0.0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double expected = kNumSamples * std::exp(exact.log_probs[i]);
    if (expected < 10.0) {
      rare_expected += expected;
      rare_count += counts[i];
      continue;
    }
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    degrees += 1.0;
  }
  if (rare_expected > 0.0) chi_square += (rare_count - rare_expected) * (rare_count - rare_expected) / rare_expected;
  const double a = 2.0 / (9.0 * degrees);
  EXPECT_LT(chi_square, degrees * std::pow(1.0 - a + 4.7534 * std::sqrt(a), 3.0));
}

TEST(SlicedElimination, LowerBoundsGrowWithEverySlice) {
  Random random(53);
  const FactorGraph graph = random_model(random, dense(8, 0.1));
  const double log_z = enumerate(graph).log_z;
  double last = kNegInf, last_share = 0.0;
  int num_higher = 0;
  const Observer observer{[&](const Progress& now) {
    EXPECT_GE(now.log_z.lower, last);
    EXPECT_LE(now.log_z.lower, log_z + 1e-12);
    EXPECT_GE(now.share_done.value(), last_share);
    EXPECT_LE(now.share_done.value(), 1.0 + 1e-12);
    num_higher += now.log_z.lower > last ? 1 : 0;
    last = now.log_z.lower;
    last_share = now.share_done.value();
  }};
  const Elimination elimination(graph, tight(graph, 0.2), {.may_slice = true}, observer);
  EXPECT_GE(num_higher, 3);
  EXPECT_GT(last, log_z - 10.0);
}

TEST(SlicedElimination, IsGivenUpBetweenSlicesWhenAsked) {
  Random random(54);
  const FactorGraph graph = random_model(random, dense(8, 0.0));
  int num_asked = 0;
  const Observer observer{.should_stop = [&] { return ++num_asked > 12; }};
  testing::expect_error(ErrorCode::kInterrupted,
                        [&] { Elimination(graph, tight(graph, 0.2), {.may_slice = true}, observer); });
}

// The first sample takes as long as log Z. One that is asked to end leaves nothing behind that changes later ones.
TEST(SlicedElimination, SamplesEndWhenAsked) {
  Random random(55);
  const FactorGraph graph = random_model(random, dense(8, 0.1));
  int num_questions = 0, most_questions = 1'000'000;
  const Observer observer{.should_stop = [&] { return ++num_questions > most_questions; }};
  const Elimination sliced(graph, tight(graph, 0.5), {.may_slice = true}, observer);
  ASSERT_GT(sliced.plan().num_slices, 1.0);
  for (const int after : {0, 1, 5}) {
    num_questions = 0;
    most_questions = after;
    testing::expect_error(ErrorCode::kInterrupted, {}, [&] { static_cast<void>(sliced.sample(random)); });
  }
  most_questions = 1'000'000'000;
  const Elimination untouched(graph, tight(graph, 0.5), {.may_slice = true});
  Random first(1), second(1);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sliced.sample(first), untouched.sample(second));
}

// Samples need more memory than log Z in slices. Where there is none for them, the rest of the answer is not lost, and
// samplers outlive the run and its time.
TEST(SlicedElimination, LogZIsNotLostWhereSamplesDoNotFit) {
  Random random(56);
  const FactorGraph graph = make_family("ising", {.seed = 1, .values = {{"n", 4.0}}}).graph;
  const double log_z = enumerate(graph).log_z;
  int num_with = 0, num_without = 0;
  for (double share = 0.05; share < 1.0; share *= 1.1) {
    bool is_over = false;
    Limits limits = tight(graph, share);
    limits.seconds = 1000.0;
    const Observer observer{.should_stop = [&is_over] { return is_over; }};
    const InferOptions options{.method = Method::kExact, .simplify = false};
    std::optional<Answer> answer;
    try {
      answer = infer(graph, {.samples = 2}, limits, options, observer);
    } catch (const OptionError& error) {
      EXPECT_EQ(error.option(), "memory");
      continue;
    }
    EXPECT_TRUE(answer->is_exact);
    EXPECT_NEAR(*answer->log_z, log_z, 1e-9);
    EXPECT_TRUE(answer->best);
    (answer->samples.empty() ? num_without : num_with) += 1;
    is_over = true;  // nobody asks any more
    if (!answer->samples.empty()) {
      EXPECT_EQ(answer->approximation->sample(random).size(), 16U);
    }
  }
  EXPECT_GT(num_with, 0);
  EXPECT_GT(num_without, 0);
}

// The same where log Z by elimination is the first step of a search, and for derivatives.
TEST(SlicedElimination, LogZIsNotLostWhereMarginalsOrTheSearchDoNotFit) {
  const FactorGraph graph = make_family("ising", {.seed = 1, .values = {{"n", 4.0}}}).graph;
  const double log_z = enumerate(graph).log_z;
  std::set<std::string> remarks, remarks_with_room;  // with less than that, one slice for marginals does not fit
  constexpr double kRoom = 0.5;
  int num_refused = 0;
  for (double share = 0.2; share < 5.0; share *= 1.2) {
    Limits limits = tight(graph, share);
    limits.seconds = 10.0;
    const Question question{.sensitivity = "x3=1", .value_for = "x5"};
    const Observer observer{.remark = [&](const std::string& text) {
      (share < kRoom ? remarks : remarks_with_room).insert(text.substr(0, text.find(':')));
    }};
    try {
      const Answer answer = infer(graph, question, limits, {.simplify = false}, observer);
      EXPECT_TRUE(answer.is_exact) << share;
      EXPECT_NEAR(*answer.log_z, log_z, 1e-9) << share;
    } catch (const OptionError& error) {  // not even log Z fits
      EXPECT_EQ(error.option(), "memory");
      ++num_refused;
    }
  }
  EXPECT_LE(num_refused, 4);
  EXPECT_FALSE(remarks_with_room.contains("no exact marginals"));
  EXPECT_TRUE(remarks.contains("--sensitivity is not answered"));
}

// Marginals are given up for the time, and so is the first of the samples that would replace them.
TEST(SlicedElimination, LogZIsNotLostWhereThereIsNoTimeForMarginals) {
  Random random(63);
  const FactorGraph graph = random_model(
      random,
      {.num_variables = 26, .min_states = 2, .max_states = 2, .num_factors = 150, .min_arity = 2, .max_arity = 3});
  const InferOptions options{.method = Method::kExact, .simplify = false};
  int num_exact = 0;
  for (const double share : {0.3, 0.6, 0.9}) {
    Limits limits = tight(graph, share);
    const Stopwatch clock;
    const double log_z = Elimination(graph, limits, {.may_slice = true}).log_z();
    const double seconds = clock.seconds();
    for (const double times : {1.5, 2.0, 3.0, 5.0, 8.0}) {
      limits.seconds = times * seconds;
      try {
        const Answer answer = infer(graph, {}, limits, options);
        if (answer.best) {
          EXPECT_EQ(answer.best->x.size(), 26U);
        }
        if (!answer.is_exact) continue;
        EXPECT_NEAR(*answer.log_z, log_z, 1e-9) << share << " " << times;
        ++num_exact;
      } catch (const OptionError& error) {  // not even a slice was done
        EXPECT_EQ(error.option(), "time");
      }
    }
  }
  EXPECT_GT(num_exact, 0);
}

TEST(SlicedElimination, IsRefusedUnlessAllowed) {
  Random random(55);
  const FactorGraph graph = random_model(random, dense(7, 0.0));
  EXPECT_THROW(Elimination(graph, tight(graph, 0.5)), Error);
  EXPECT_NO_THROW(Elimination(graph, tight(graph, 0.5), {.may_slice = true}));
  const Elimination elimination(graph, tight(graph, 0.5), {.may_slice = true});
  std::vector<double> probabilities(3);
  const Assignment x(7, 0);
  EXPECT_THROW(elimination.conditional(0, x, probabilities), Error);
}

TEST(SlicedElimination, MemoryOfASliceIsWithinTheLimit) {
  Random random(56);
  for (int trial = 0; trial < 20; ++trial) {
    const FactorGraph graph = random_model(random, dense(9, 0.0));
    for (const EliminationGoal goal : {EliminationGoal::kLogZ, EliminationGoal::kMarginals}) {
      EliminationOptions options{.goal = goal};
      const EliminationPlan whole = plan_elimination(graph, options);
      EXPECT_EQ(whole.num_slices, 1.0);
      options.most_bytes = 0.3 * (goal == EliminationGoal::kLogZ ? whole.log_z_bytes : whole.marginal_bytes);
      const EliminationPlan cost = plan_elimination(graph, options);
      EXPECT_GT(cost.num_slices, 1.0);
      EXPECT_LE(goal == EliminationGoal::kLogZ ? cost.log_z_bytes : cost.marginal_bytes, options.most_bytes);
      EXPECT_GE(cost.num_entries, 0.99 * whole.num_entries / whole.num_slices / 4.0);
    }
  }
}

TEST(Threads, EliminationHasTheSameBits) {
  Random random(57);
  const FactorGraph graph = random_model(
      random,
      {.num_variables = 24, .min_states = 2, .max_states = 2, .num_factors = 160, .min_arity = 2, .max_arity = 3});
  const Elimination one(graph, {.threads = 1});
  ASSERT_GT(one.plan().log2_largest_bucket, 16.5);  // shared: many grains of 2^15 entries
  const Marginals expected = one.marginals();
  for (const int num_threads : {2, 3, 7}) {
    const Elimination several(graph, {.threads = num_threads});
    EXPECT_EQ(several.plan().order, one.plan().order);
    EXPECT_EQ(several.log_z(), one.log_z());
    EXPECT_EQ(several.bounds().lower, one.bounds().lower);
    EXPECT_EQ(several.marginals(), expected);
  }
}

TEST(Threads, OrdersAreTheSame) {
  Random random(58);
  const FactorGraph graph =
      random_model(random, {.num_variables = 60, .min_states = 2, .max_states = 4, .num_factors = 110, .max_arity = 3});
  for (const int restarts : {0, 200}) {
    const EliminationPlan one = plan_elimination(graph, {.restarts = restarts, .order_work = 1e7});
    for (const int num_threads : {2, 5}) {
      const EliminationPlan several =
          plan_elimination(graph, {.restarts = restarts, .order_work = 1e7, .threads = num_threads});
      EXPECT_EQ(several.order, one.order);
      EXPECT_EQ(several.num_entries, one.num_entries);
    }
  }
}

TEST(EliminationPlan, MoreOrdersAreNeverWorse) {
  Random random(59);
  const FactorGraph graph =
      random_model(random, {.num_variables = 60, .min_states = 2, .max_states = 4, .num_factors = 110, .max_arity = 3});
  double last = HUGE_VAL;
  for (const int restarts : {1, 10, 100, 400}) {
    const EliminationPlan cost = plan_elimination(graph, {.restarts = restarts});
    EXPECT_LE(cost.num_entries, last);
    std::vector<int> sorted = cost.order;
    std::sort(sorted.begin(), sorted.end());
    for (int v = 0; v < graph.num_variables(); ++v) EXPECT_EQ(sorted[v], v);
    last = cost.num_entries;
  }
  EXPECT_LT(last, plan_elimination(graph, {.restarts = 1}).num_entries);
}

TEST(TablePool, UsesMemoryAgainWithinItsLimit) {
  constexpr std::size_t kEntries = std::size_t{1} << 20;
  const auto pool = std::make_shared<TablePool>(3.0 * 8.0 * kEntries);
  TableMemory first(kEntries, pool);
  const double* const place = first.data();
  std::fill_n(first.data(), kEntries, 1.0);
  first = TableMemory();
  TableMemory second(kEntries - 100, pool);
  EXPECT_EQ(second.data(), place);
  TableMemory third(kEntries, pool), fourth(100, pool);
  EXPECT_NE(third.data(), place);
  fourth.data()[99] = 1.0;
  TableMemory moved = std::move(second);
  EXPECT_EQ(moved.data(), place);
  EXPECT_EQ(second.size(), 0U);
}

}  // namespace
}  // namespace treesample

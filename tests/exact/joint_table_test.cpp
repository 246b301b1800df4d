// Joint distributions of several variables, against enumeration.
#include "treesample/exact/joint_table.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.hpp"
#include "support/random_models.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

using testing::random_model;

FactorGraph small_model(Random& random, double zeros) {
  return random_model(random, {.num_variables = 7,
                               .min_states = 1,
                               .max_states = 4,
                               .num_factors = 10,
                               .max_arity = 3,
                               .zero_probability = zeros});
}

std::vector<double> by_enumeration(const FactorGraph& graph, const std::vector<int>& variables) {
  const Enumeration all = enumerate(graph);
  std::size_t size = 1;
  for (const int v : variables) size *= static_cast<std::size_t>(graph.num_states(v));
  std::vector<double> joint(size, 0.0);
  for (std::size_t i = 0; i < all.log_probs.size(); ++i) {
    const Assignment x = configuration_at(graph, i);
    std::size_t entry = 0;
    for (const int v : variables) {
      entry = entry * static_cast<std::size_t>(graph.num_states(v)) + static_cast<std::size_t>(x[v]);
    }
    joint[entry] += std::exp(all.log_probs[i]);
  }
  return joint;
}

void expect_near(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-10) << i;
}

std::vector<int> some_variables(Random& random, const FactorGraph& graph) {
  std::vector<int> variables = random.permutation(graph.num_variables());
  variables.resize(2 + random.below(2));
  return variables;
}

TEST(JointTable, EqualsEnumerationWholeAndInSlices) {
  int num_sliced = 0;
  for (int trial = 0; trial < 80; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "joint table");
    const FactorGraph graph = small_model(random, trial % 3 == 0 ? 0.15 : 0.0);
    if (enumerate(graph).log_z == kNegInf) continue;
    const std::vector<int> variables = some_variables(random, graph);
    EliminationOptions options{.goal = EliminationGoal::kSamples};
    EliminationPlan plan = plan_joint(graph, variables, options);
    for (const double share : {1.0, 0.3}) {
      if (share < 1.0) options.most_bytes = share * plan.sample_bytes;
      plan = plan_joint(graph, variables, options);
      if (!plan.is_possible()) continue;
      EXPECT_LE(plan.sample_bytes, options.most_bytes);
      num_sliced += plan.num_slices > 1.0;
      expect_near(joint_table(graph, variables, plan).probabilities, by_enumeration(graph, variables));
    }
  }
  EXPECT_GT(num_sliced, 20);
}

TEST(JointTable, TheVariablesAreRemovedLastAtNoCostWhereTheyAreAClique) {
  Random random(3, "clique");
  FactorGraph graph;
  for (int v = 0; v < 40; ++v) graph.add_variable(2);
  for (int v = 0; v + 1 < 40; ++v) graph.add_table({v, v + 1}, {random.normal(), 0.0, 0.0, random.normal()});
  const EliminationPlan plan = plan_joint(graph, std::vector<int>{20, 21}, {});
  EXPECT_EQ(plan.width, 1);
  EXPECT_EQ(std::min(plan.order[38], plan.order[39]), 20);
  EXPECT_EQ(std::max(plan.order[38], plan.order[39]), 21);
}

TEST(JointTable, OfAnImpossibleModelIsZero) {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(2);
  graph.add_table({0, 1}, {kNegInf, kNegInf, kNegInf, kNegInf});
  const std::vector<int> variables = {0, 1};
  const JointTable joint = joint_table(graph, variables, plan_joint(graph, variables, {}));
  EXPECT_EQ(joint.probabilities, std::vector<double>(4, 0.0));
}

// Evidence, barren variables, states that cannot be, three variables: whichever method has log Z.
TEST(JointQueries, EqualEnumerationByEveryMethodThatIsExact) {
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    Random random(trial, "joint queries");
    const FactorGraph graph = small_model(random, trial % 2 == 0 ? 0.1 : 0.0);
    Model model(graph);
    if (trial % 3 == 0) model.evidence = {{0, 0}};
    FactorGraph observed = graph;
    if (trial % 3 == 0) {
      std::vector<double> seen(static_cast<std::size_t>(graph.num_states(0)), kNegInf);
      seen[0] = 0.0;
      observed.add_table({0}, seen);
    }
    if (enumerate(observed).log_z == kNegInf) continue;
    const std::vector<int> variables = some_variables(random, graph);
    Question question;
    question.query.emplace_back();
    for (const int v : variables) question.query.front().push_back("x" + std::to_string(v));
    const std::vector<InferOptions> requests = {
        {}, {.simplify = false}, {.method = Method::kCount}, {.select = SelectRule::kGap}, {.compile = true}};
    for (const InferOptions& options : requests) {
      const Answer answer = infer(model, question, {}, options);
      ASSERT_EQ(answer.queries.size(), 1U);
      expect_near(answer.queries.front().probabilities, by_enumeration(observed, variables));
      EXPECT_EQ(answer.queries.front().error, 0.0) << answer.method;
    }
  }
}

// 64 x 64 joint states of a table: no table of 4096 x 4096, and more than 4096 of them where the memory allows.
TEST(JointQueries, TakeTheMemoryOfTheirAnswer) {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(80);
  std::vector<double> table(80 * 80, 0.0);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = std::sin(static_cast<double>(i));
  graph.add_table({0, 1}, table);
  const Answer answer = infer(graph, {.query = {{"x1", "x0"}}}, {.bytes = 10'000'000});
  const std::vector<double>& joint = answer.queries.front().probabilities;
  ASSERT_EQ(joint.size(), 6400U);
  for (std::size_t i = 0; i < 80; ++i) {
    for (std::size_t j = 0; j < 80; ++j) {
      EXPECT_NEAR(joint[j * 80 + i], std::exp(table[i * 80 + j] - *answer.log_z), 1e-12);
    }
  }
  testing::expect_error(ErrorCode::kArgument, [&] { infer(graph, {.query = {{"x1", "x0"}}}, {.bytes = 100'000}); });
}

}  // namespace
}  // namespace treesample

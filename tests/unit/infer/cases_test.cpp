// Many cases together are the same as each by itself.
#include "treesample/infer/cases.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/math/random.hpp"

namespace treesample {
namespace {

// A random network in which later variables depend on up to three of those before.
FactorGraph random_network(Random& random, int num_variables) {
  FactorGraph graph;
  for (int v = 0; v < num_variables; ++v) {
    graph.add_variable(2 + static_cast<int>(random.below(2)));
    std::vector<int> scope;
    for (int i = 0; i < 3 && v > 0; ++i) {
      const int parent = v - 1 - static_cast<int>(random.below(static_cast<std::uint64_t>(std::min(v, 5))));
      if (std::find(scope.begin(), scope.end(), parent) == scope.end()) scope.push_back(parent);
    }
    std::size_t num_rows = 1;
    for (const int parent : scope) num_rows *= static_cast<std::size_t>(graph.num_states(parent));
    scope.push_back(v);
    std::vector<double> values;
    for (std::size_t row = 0; row < num_rows; ++row) {
      std::vector<double> weights(static_cast<std::size_t>(graph.num_states(v)));
      double sum = 0.0;
      for (double& weight : weights) sum += weight = random.uniform() < 0.15 ? 0.0 : random.uniform();
      if (sum == 0.0) sum = weights.front() = 1.0;
      for (const double weight : weights) values.push_back(std::log(weight / sum));
    }
    graph.add_table(std::move(scope), std::move(values));
  }
  return graph;
}

std::vector<Case> random_cases(Random& random, const FactorGraph& graph, int count, double share, bool has_soft) {
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) {
    Case& now = cases.emplace_back(Case{std::to_string(i), {}});
    for (int v = 0; v < graph.num_variables(); v += 2) {
      const auto num_states = static_cast<std::uint64_t>(graph.num_states(v));
      if (has_soft && random.uniform() < 0.1) {
        std::vector<double> weights(num_states);
        for (double& weight : weights) weight = random.uniform();
        now.observed.soft.push_back({v, weights});
      } else if (random.uniform() < share) {
        now.observed.states.push_back({v, static_cast<int>(random.below(num_states))});
      }
    }
  }
  return cases;
}

TEST(Cases, TogetherAreTheSameAsEachByItself) {
  Random random(1, "cases");
  for (int round = 0; round < 6; ++round) {
    const FactorGraph graph = random_network(random, 16);
    // Of one kind, of many kinds, of rare kinds with weights.
    const std::vector<Case> cases = random_cases(random, graph, 150, round % 3 == 0 ? 1.0 : 0.4, round % 3 == 2);
    Model model(graph);
    if (round >= 3) model.observe({{{15, 0}}, {}});
    const Question question{.query = {{"x3"}, {"x7", "x4"}, {"x9", "x1", "x5"}}, .best = false};
    std::size_t num_together = 0, num_impossible = 0;
    std::vector<Answer> answers;
    infer_cases(model, cases, question, {.threads = 1}, {}, {}, [&](const Case& now, const Answer& answer) {
      ASSERT_EQ(now.label, cases[answers.size()].label);
      answers.push_back(answer);
      num_together += answer.method.find("shared") != std::string::npos ? 1 : 0;
      num_impossible += answer.log_z == kNegInf ? 1 : 0;
    });
    ASSERT_EQ(answers.size(), cases.size());
    EXPECT_EQ(num_together + num_impossible, cases.size());
    std::size_t at = 0;
    infer_cases(model, cases, question, {.threads = 3}, {}, {}, [&](const Case&, const Answer& answer) {
      EXPECT_EQ(answer.log_z, answers[at].log_z);
      for (std::size_t q = 0; q < answer.queries.size(); ++q) {
        EXPECT_EQ(answer.queries[q].probabilities, answers[at].queries[q].probabilities);
      }
      ++at;
    });
    for (std::size_t i = 0; i < cases.size(); i += 11) {
      const Answer& answer = answers[i];
      Model alone = model;
      alone.observe(cases[i].observed);
      const Answer truth = infer(alone, question);
      EXPECT_EQ(answer.is_exact, truth.is_exact);
      EXPECT_EQ(answer.is_evidence_probability, truth.is_evidence_probability);
      EXPECT_EQ(answer.conflict.states.size(), truth.conflict.states.size());
      ASSERT_EQ(answer.queries.size(), truth.queries.size());
      if (*truth.log_z == kNegInf) {
        EXPECT_EQ(answer.log_z, kNegInf);
        continue;
      }
      EXPECT_NEAR(*answer.log_z, *truth.log_z, 1e-10);
      EXPECT_LE(*answer.lower, *truth.upper);
      EXPECT_GE(*answer.upper, *truth.lower);
      for (std::size_t q = 0; q < truth.queries.size(); ++q) {
        ASSERT_EQ(answer.queries[q].probabilities.size(), truth.queries[q].probabilities.size());
        for (std::size_t e = 0; e < truth.queries[q].probabilities.size(); ++e) {
          EXPECT_NEAR(answer.queries[q].probabilities[e], truth.queries[q].probabilities[e], 1e-9) << round;
        }
      }
    }
  }
}

TEST(Cases, WithoutQueriesHaveAllMarginals) {
  Random random(2, "cases");
  const FactorGraph graph = random_network(random, 12);
  const Model model(graph);
  const std::vector<Case> cases = random_cases(random, graph, 20, 0.3, false);
  infer_cases(model, cases, {.best = false}, {}, {}, {}, [&](const Case& now, const Answer& answer) {
    if (answer.log_z == kNegInf) return;
    Model alone = model;
    alone.observe(now.observed);
    const Marginals truth = infer(alone).marginals;
    ASSERT_EQ(answer.marginals.size(), truth.size());
    for (std::size_t v = 0; v < truth.size(); ++v) {
      for (std::size_t s = 0; s < truth[v].size(); ++s) EXPECT_NEAR(answer.marginals[v][s], truth[v][s], 1e-9);
    }
  });
}

TEST(Cases, AreReadAsTheyComeAndEndWhenAskedTo) {
  Random random(3, "cases");
  const Model model(random_network(random, 10));
  int num_read = 0, num_answered = 0;
  const CaseSource source = [&](Case& next) {
    next = Case{std::to_string(num_read), {{{0, num_read % 2}}, {}}};
    return ++num_read <= 100'000;
  };
  bool is_enough = false;
  infer_cases(model, source, {.query = {{"x5"}}, .best = false}, {}, {}, {.should_stop = [&] { return is_enough; }},
              [&](const Case&, const Answer&) { is_enough = ++num_answered >= 10'000; });
  EXPECT_LT(num_read, 100'000);
  EXPECT_GE(num_answered, 10'000);
  testing::expect_error(ErrorCode::kArgument, "case odd: ", [&] {
    const std::vector<Case> odd{{"odd", {{{0, 0}, {0, 1}}, {}}}};
    infer_cases(model, odd, {.query = {{"x5"}}, .best = false}, {}, {}, {}, [](const Case&, const Answer&) {});
  });
}

}  // namespace
}  // namespace treesample

// What excludes a question, and that no question is dropped in silence.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "infer/option_table.hpp"
#include "support/random_models.hpp"
#include "treesample/error.hpp"
#include "treesample/exact/enumeration.hpp"
#include "treesample/infer/cases.hpp"
#include "treesample/infer/infer.hpp"
#include "treesample/io/model_file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

Model asia() { return Model(read_model(TREESAMPLE_SOURCE_DIR "/examples/models/asia.bif")); }

// A value that asks for something.
std::string example(const OptionRow& row) {
  const std::string name = row.name;
  if (name == "query" || name == "map" || name == "value-for") return "lung";
  if (name == "sensitivity") return "lung=yes";
  if (row.meta == "yes|no") return "yes";
  return row.meta == "FILE" ? "slices" : "3";
}

std::string refused_option(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const OptionError& error) {
    EXPECT_EQ(error.code(), ErrorCode::kArgument);
    return error.option();
  }
  return "";
}

const std::vector<Case> kCases = {{"a", {{{6, 0}}, {}}}, {"b", {{{6, 1}}, {}}}};

TEST(Questions, EveryExclusionIsRefusedByName) {
  int num_exclusions = 0;
  for (const OptionRow& row : option_rows()) {
    if (row.not_with == 0) continue;
    InferRequest request;
    row.set(request, row, example(row));
    if ((row.not_with & kNotWithCases) != 0) {
      ++num_exclusions;
      EXPECT_EQ(refused_option([&] {
                  infer_cases(asia(), kCases, request.question, request.limits, request.options, {},
                              [](const Case&, const Answer&) { ADD_FAILURE(); });
                }),
                row.name);
    }
    const auto ask = [&] { static_cast<void>(infer(asia(), request.question, request.limits, request.options)); };
    if ((row.not_with & kNotWithCircuits) != 0) {
      ++num_exclusions;
      InferRequest with = request;
      with.options.compile = true;
      EXPECT_EQ(refused_option([&] { static_cast<void>(infer(asia(), with.question, {}, with.options)); }), row.name);
      const Answer compiled = infer(asia(), {}, {}, {.compile = true});
      EXPECT_EQ(refused_option([&] { static_cast<void>(infer(Model(compiled.circuit), request.question)); }), row.name);
      EXPECT_EQ(refused_option(ask), "") << row.name;
    }
    if ((row.not_with & kNotWithBest) != 0) {
      ++num_exclusions;
      request.question.aim = Aim::kBest;
      EXPECT_EQ(refused_option(ask), row.name);
    }
  }
  EXPECT_GE(num_exclusions, 13);
}

// What is set to its default asks for nothing.
TEST(Questions, DefaultsAreNoQuestions) {
  InferOptions options;
  options.compile = false;
  options.trace = false;
  int num_answers = 0;
  infer_cases(asia(), kCases, {.k_best = 1}, {}, options, {}, [&](const Case&, const Answer&) { ++num_answers; });
  EXPECT_EQ(num_answers, 2);
}

TEST(Questions, RemarksAreMadeOnceForAllCases) {
  std::vector<std::string> remarks;
  const Observer observer{.remark = [&](const std::string& text) { remarks.push_back(text); }};
  infer_cases(asia(), kCases, {.best = false}, {}, {.method = Method::kExact, .importance = 100}, observer,
              [](const Case&, const Answer&) {});
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_TRUE(remarks.front().starts_with("--importance"));
}

double entropy_by_enumeration(const FactorGraph& graph, const Evidence& evidence) {
  const Assignment observed = observed_states(graph, evidence);
  std::vector<double> log_densities;
  const std::size_t count = enumerate(graph).log_probs.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Assignment x = configuration_at(graph, i);
    bool agrees = true;
    for (std::size_t v = 0; v < x.size(); ++v) agrees = agrees && (observed[v] < 0 || observed[v] == x[v]);
    if (agrees) log_densities.push_back(graph.log_density(x));
  }
  const double log_z = log_sum_exp(log_densities);
  double sum = 0.0;
  for (const double value : log_densities) {
    if (value != kNegInf) sum -= std::exp(value - log_z) * (value - log_z);
  }
  return sum;
}

TEST(Entropy, IsThatOfEnumeration) {
  Random random(5, "entropy");
  int num_impossible = 0;
  for (int i = 0; i < 80; ++i) {
    Model model(testing::random_model(random, {.num_variables = 1 + i % 7,
                                               .num_factors = 1 + i % 9,
                                               .min_arity = 0,
                                               .zero_probability = i % 3 == 0 ? 0.3 : 0.0}));
    if (i % 2 == 1) model.evidence = {{0, model.graph.num_states(0) - 1}};
    const Answer answer = infer(model, {.entropy = true});
    if (answer.log_z == kNegInf) {
      EXPECT_FALSE(answer.entropy.has_value());
      ++num_impossible;
      continue;
    }
    ASSERT_TRUE(answer.entropy.has_value()) << i;
    EXPECT_NEAR(*answer.entropy, entropy_by_enumeration(model.graph, model.evidence), 1e-10) << i;
  }
  EXPECT_LT(num_impossible, 30);
}

// Large logarithms do not cancel: each table is scaled by itself.
TEST(Entropy, DoesNotDependOnTheScaleOfTables) {
  FactorGraph graph, far;
  for (int v = 0; v < 3; ++v) {
    graph.add_variable(2);
    far.add_variable(2);
  }
  const std::vector<double> table = {0.0, -1.0, -0.5, -2.0};
  for (int v = 0; v < 2; ++v) {
    graph.add_table({v, v + 1}, table);
    std::vector<double> shifted = table;
    for (double& value : shifted) value += 0x1p30;
    far.add_table({v, v + 1}, shifted);
  }
  const Question question{.entropy = true};
  EXPECT_NEAR(*infer(far, question).entropy, *infer(graph, question).entropy, 1e-6);
  EXPECT_NEAR(*infer(graph, question).entropy, entropy_by_enumeration(graph, {}), 1e-12);
}

TEST(Entropy, IsRefusedForFunctions) {
  FactorGraph graph;
  graph.add_variable(2);
  graph.add_factor(Factor::function({0}, [](std::span<const int> x) { return -1.0 * x[0]; }));
  EXPECT_EQ(refused_option([&] { static_cast<void>(infer(Model(graph), {.entropy = true})); }), "entropy");
}

}  // namespace
}  // namespace treesample

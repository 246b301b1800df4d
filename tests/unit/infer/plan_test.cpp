#include "treesample/infer/plan.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "treesample/error.hpp"
#include "treesample/families/family.hpp"
#include "treesample/infer/cases.hpp"
#include "treesample/infer/infer.hpp"

namespace treesample {
namespace {

FactorGraph chain() { return make_family("chain", {.seed = 1}).graph; }
// Too wide for elimination within any time limit of these tests.
FactorGraph wide_grid() { return make_family("ising", {.seed = 1, .values = {{"n", 40.0}, {"columns", 40.0}}}).graph; }

FactorGraph with_function() {
  FactorGraph graph = chain();
  graph.add_factor(Factor::function({0, 1}, [](std::span<const int> x) { return 0.1 * x[0] - x[1]; }));
  return graph;
}

bool has_remark(const Plan& plan, const std::string& text) {
  for (const std::string& remark : plan.remarks) {
    if (remark.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(Plan, SmallTablesAreEliminated) {
  const Plan chosen = plan(chain());
  EXPECT_EQ(chosen.method, Method::kExact);
  ASSERT_TRUE(chosen.elimination);
  EXPECT_EQ(chosen.elimination->width, 1);
  EXPECT_FALSE(chosen.reasons.empty());
  EXPECT_NE(chosen.text().find("exact"), std::string::npos);
}

TEST(Plan, WideTablesAreSearchedWithBoundsWithinATimeLimitThatIsSaid) {
  const Plan chosen = plan(wide_grid());
  EXPECT_EQ(chosen.method, Method::kSearch);
  EXPECT_EQ(chosen.select, SelectRule::kGap);
  EXPECT_EQ(chosen.request.options.leaf, LeafChoice{LeafKind::kMiniBucket});
  EXPECT_TRUE(std::isfinite(chosen.request.limits.seconds));
  EXPECT_TRUE(has_remark(chosen, "neither --time nor --budget is given: 10 seconds"));
  for (const PlannedPhase& phase : chosen.phases) EXPECT_LE(phase.until_seconds, chosen.request.limits.seconds);
}

TEST(Plan, FunctionsAreSearchedByMassUnlessThePapersSearchIsSetUp) {
  EXPECT_EQ(plan(with_function()).select, SelectRule::kMass);
  EXPECT_EQ(plan(with_function()).request.options.leaf, LeafChoice{LeafKind::kCalibrated});
  EXPECT_EQ(plan(with_function(), {}, {}, {.method = Method::kSearch}).select, SelectRule::kQUct);
  EXPECT_EQ(plan(with_function(), {}, {}, {.epsilon = 0.2}).select, SelectRule::kQUct);
}

TEST(Plan, OptionsOfTheSearchAreNeverDroppedWithoutAWord) {
  const Plan paper = plan(chain(), {}, {.budget = 1000}, {.c = 0.5});
  EXPECT_EQ(paper.select, SelectRule::kQUct);
  EXPECT_EQ(paper.request.options.c, 0.5);
  EXPECT_THROW(plan(chain(), {}, {}, {.c = 0.5, .sampler = SampleSource::kUpper}), OptionError);
  EXPECT_TRUE(has_remark(plan(chain(), {}, {}, {.method = Method::kGibbs, .c = 0.5}), "--c is ignored"));
  EXPECT_TRUE(has_remark(plan(chain(), {}, {}, {.method = Method::kExact, .sweeps = 5}), "--sweeps is ignored"));
  EXPECT_FALSE(has_remark(plan(chain(), {}, {}, {.method = Method::kGibbs, .sweeps = 5}), "ignored"));
}

// As in a table of cases, one of which observes everything.
TEST(Plan, CallsMayBeLimitedWhereTheEvidenceDecidesAllFunctions) {
  FactorGraph graph;
  for (int v = 0; v < 2; ++v) graph.add_variable(2);
  graph.add_factor(Factor::function({0}, [](std::span<const int> x) { return 1.0 * x[0]; }));
  graph.add_table({1}, {0.0, 0.0});
  const Answer calls = infer(Model(graph, {{0, 1}}), {}, {.calls = 5});
  const Answer budget = infer(Model(graph, {{0, 1}}), {}, {.budget = 5}, {.budget_unit = BudgetUnit::kCall});
  for (const Answer& answer : {calls, budget}) {
    EXPECT_TRUE(answer.is_exact);
    EXPECT_NEAR(*answer.log_z, 1.0 + std::log(2.0), 1e-12);
  }
}

TEST(Plan, FunctionsThatTheEvidenceDecidesAreCallsToo) {
  FactorGraph graph;
  int num_calls = 0;
  for (int v = 0; v < 3; ++v) graph.add_variable(2);
  for (const std::vector<int>& scope : {std::vector<int>{0}, {1, 2}}) {
    graph.add_factor(Factor::function(scope, [&num_calls](std::span<const int> x) {
      ++num_calls;
      return 1.0 * x[0];
    }));
  }
  const Model model(graph, {{0, 1}});
  plan(model);
  EXPECT_EQ(num_calls, 0);  // a plan calls nothing
  const Observer watched{.progress = [](const Progress&) {}};
  const Answer all = infer(model, {}, {.calls = 5}, {}, watched);
  EXPECT_TRUE(all.is_exact);
  EXPECT_EQ(num_calls, 5);
  EXPECT_EQ(all.spent.calls, 5);
  num_calls = 0;
  const Answer some = infer(model, {}, {.budget = 3}, {.budget_unit = BudgetUnit::kCall});
  EXPECT_LE(num_calls, 3);
  EXPECT_EQ(some.spent.calls, num_calls);
  EXPECT_EQ(some.plan.request.limits.budget, 3);  // as it was given
  num_calls = 0;
  EXPECT_THROW(infer(model, {}, {.calls = 0}), OptionError);
  EXPECT_EQ(num_calls, 0);
}

TEST(Plan, TooLittleTimeForEliminationIsNamedAsItWasGiven) {
  FactorGraph graph;
  for (int v = 0; v < 26; ++v) graph.add_variable(2);
  for (int a = 0; a < 26; ++a) {
    for (int b = 0; b < a; ++b) graph.add_table({b, a}, {0.1 * a, 0.2, 0.3, 0.1 * b});
  }
  try {
    infer(graph, {.k_best = 2}, {.seconds = 0.0625}, {.method = Method::kExact});
    ADD_FAILURE() << "it is done in that time";
  } catch (const OptionError& error) {
    EXPECT_NE(std::string(error.what()).find("0.0625 seconds are not enough"), std::string::npos) << error.what();
  }
}

TEST(Plan, WhatMakesNoSenseIsRefusedByName) {
  const auto refused = [](const FactorGraph& graph, const Limits& limits, const InferOptions& options) {
    try {
      plan(graph, {}, limits, options);
    } catch (const OptionError& error) {
      return error.option();
    }
    return std::string();
  };
  EXPECT_EQ(refused(chain(), {.calls = 5}, {}), "calls");
  EXPECT_EQ(refused(chain(), {}, {.budget_unit = BudgetUnit::kCost}), "budget-unit");
  EXPECT_EQ(refused(with_function(), {.budget = 5, .calls = 5}, {}), "calls");
  EXPECT_EQ(refused(chain(), {}, {.leaf = LeafChoice{LeafKind::kFunction}}), "leaf");
  EXPECT_EQ(refused(chain(), {}, {.confidence = 1.0}), "confidence");
  EXPECT_EQ(refused(chain(), {}, {.method = Method::kGibbs, .burn_in = 3}), "burn-in");
  EXPECT_EQ(refused(chain(), {}, {.method = Method::kSmc, .leaf = LeafChoice{LeafKind::kCalibrated}}), "leaf");
}

TEST(Plan, CallsAreABudget) {
  const Plan chosen = plan(with_function(), {}, {.calls = 7});
  EXPECT_EQ(chosen.request.limits.budget, 7);
  EXPECT_EQ(chosen.request.limits.unit, BudgetUnit::kCall);
}

// Values that cost nothing never use a budget of cost up.
TEST(Plan, WhatIsLearnedWithoutALimitCountsCalls) {
  const Plan chosen =
      plan(with_function(), {}, {}, {.method = Method::kLearned, .budget_unit = BudgetUnit::kCost, .noise = "yes"});
  EXPECT_EQ(chosen.request.limits.unit, BudgetUnit::kCall);
  EXPECT_EQ(chosen.request.limits.budget, 1000);
  EXPECT_TRUE(has_remark(chosen, "a budget of 1000 calls of programs"));
}

TEST(Plan, APathGetsTheCheapestOfSeveralOrdersUnlessOneIsNamed) {
  const FactorGraph grid = make_family("ising", {.seed = 1, .values = {{"n", 3.0}, {"columns", 12.0}}}).graph;
  const InferOptions options{.method = Method::kSearch, .select = SelectRule::kQUct, .space = SpaceKind::kGraph};
  const auto cost = [&](OrderKind kind) {
    return make_search_space(grid, search_order(grid, SpaceKind::kGraph, {.kind = kind}), SpaceKind::kGraph)
        .log_exact_cost();
  };
  const OrderKind chosen = *plan(grid, {}, {}, options).request.options.order;
  EXPECT_LE(cost(chosen), cost(OrderKind::kGiven) + 1e-9);
  EXPECT_LE(cost(chosen), cost(OrderKind::kMinFill) + 1e-9);
  InferOptions named = options;
  named.order = OrderKind::kDegree;
  EXPECT_EQ(plan(grid, {}, {}, named).request.options.order, OrderKind::kDegree);
}

// An order for all cases is looked for where tables are eliminated. For a circuit, one function of all variables, that
// took minutes for some thousand of them.
TEST(Plan, CasesShareAnOrderOnlyWhereThereIsOne) {
  const std::vector<Case> cases{{"a", {{{0, 0}}, {}}}, {"b", {{{0, 1}}, {}}}};
  const auto order_lengths = [&](const Model& model) {
    std::vector<std::size_t> lengths;
    infer_cases(model, cases, {}, {}, {}, {}, [&](const Case&, const Answer& answer) {
      lengths.push_back(answer.plan.request.options.elimination_order.size());
    });
    return lengths;
  };
  const FactorGraph graph = chain();
  const std::size_t left = static_cast<std::size_t>(graph.num_variables()) - 1;
  EXPECT_EQ(order_lengths(graph), (std::vector<std::size_t>{left, left}));
  const std::shared_ptr<const Circuit> circuit = infer(graph, {}, {}, {.compile = true}).circuit;
  ASSERT_TRUE(circuit);
  EXPECT_EQ(order_lengths(Model(circuit)), (std::vector<std::size_t>{0, 0}));
}

}  // namespace
}  // namespace treesample

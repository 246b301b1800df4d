// Hands exact counts over to `infer`, for models that are formulas.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "count/count_problem.hpp"
#include "infer/formula_methods.hpp"
#include "treesample/formula/count_formula.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kLeastLog = -600.0;  // of weights, relative to the larger one of the variable

bool may_be_formula(const FactorGraph& graph) {
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (graph.num_states(v) != 2) return false;
  }
  return graph.num_variables() > 0 && graph.has_only_tables();
}

// The formula, whose weights are decimal numbers close to those of the problem; `log_error` bounds what that changes.
std::optional<Formula> formula_of_problem(const CountProblem& problem, double& log_error) {
  Formula formula{.num_variables = problem.num_atoms()};
  for (const Clause& clause : problem.clauses) {
    std::vector<int> literals;
    for (const Literal literal : clause)
      literals.push_back(is_negative(literal) ? -(atom_of(literal) + 1) : atom_of(literal) + 1);
    formula.add_clause(literals);
  }
  const bool has_weights = std::any_of(problem.variables.begin(), problem.variables.end(),
                                       [](const CountVariable& variable) { return variable.has_weights; });
  if (!has_weights) return formula;
  formula.weights.resize(2 * problem.variables.size());
  for (std::size_t v = 0; v < problem.variables.size(); ++v) {
    const CountVariable& variable = problem.variables[v];
    if (!variable.has_weights) continue;
    for (int s = 0; s < 2; ++s) {
      const double log_weight = variable.weights[s].log();
      if (!variable.weights[s].is_zero() && log_weight < kLeastLog) return {};
      formula.weights[2 * v + (s == 1 ? 0 : 1)] = fmt::format("{:.17g}", std::exp(log_weight));
    }
    const double error = std::max(variable.weights[0].error(), variable.weights[1].error());
    const double magnitude = std::abs(variable.weights[0].log()) + std::abs(variable.weights[1].log());
    log_error += kEpsilon * (error + 8.0 + 4.0 * (std::isfinite(magnitude) ? magnitude : 0.0));
  }
  return formula;
}

std::optional<CountResult> count_as_formula(const FactorGraph& graph, const Limits& limits, std::uint64_t seed,
                                            const Observer& observer) {
  if (!may_be_formula(graph)) return {};
  const CountProblem problem = make_problem(graph, observer.should_stop);
  if (!problem.soft_tables.empty() || !(problem.log_range <= CountNumber::kLargestLog)) return {};
  double log_error = problem.log_constant.error();
  const std::optional<Formula> formula = formula_of_problem(problem, log_error);
  if (!formula) return {};
  const FormulaCount count = count_formula(*formula, limits, {.seed = seed}, observer);
  CountResult result{.is_solved = count.is_solved, .report = count.report};
  const double constant = problem.log_constant.value();
  const auto outward = [&](double log_count) {
    return log_count == kNegInf ? 0.0 : log_error + kEpsilon * (std::abs(log_count) + std::abs(constant));
  };
  result.report.log_z = {constant + count.log_count.lower - outward(count.log_count.lower),
                         constant + count.log_count.upper + outward(count.log_count.upper)};
  return result;
}

}  // namespace
}  // namespace treesample

// The symbol that the targets of CMake and pkg-config name.
extern "C" const bool treesample_formulas_is_linked;
const bool treesample_formulas_is_linked = [] {
  treesample::link_formula_methods({.count = treesample::count_as_formula});
  return true;
}();

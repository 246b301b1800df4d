#include "journal_estimate.hpp"

#include <fmt/format.h>

#include <chrono>

#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/text.hpp"

namespace treesample::cli {
namespace {

constexpr std::size_t kMostValues = 20'000;  // learning from more takes minutes
constexpr double kMostSeconds = 30.0;

FactorGraph graph_of(const JsonModel& model) {
  FactorGraph graph;
  for (const Variable& variable : model.variables) graph.add_variable(variable);
  for (const FactorDescription& factor : model.factors) {
    if (factor.is_table()) {
      graph.add_factor(factor.table(model.variables));
      continue;
    }
    graph.add_factor(Factor::function(factor.scope, [name = factor.name](std::span<const int>) -> double {
      throw Error(ErrorCode::kArgument, fmt::format("journal: '{}' was called, and a page asks nothing", name));
    }));
  }
  return graph;
}

// The factor of the model for each factor of the journal.
std::vector<int> factors_of(const JsonModel& model, const JournalCalls& calls) {
  std::vector<int> found;
  for (const JournalCalls::Factor& own : calls.factors) {
    int match = -1;
    for (std::size_t m = 0; m < model.factors.size(); ++m) {
      const FactorDescription& factor = model.factors[m];
      if (factor.is_table() || factor.name != own.name || factor.scope.size() != own.variables.size()) continue;
      bool has_variables = true;
      for (std::size_t i = 0; i < factor.scope.size(); ++i) {
        has_variables = has_variables && model.variables[factor.scope[i]].name == own.variables[i];
      }
      if (has_variables) match = static_cast<int>(m);
    }
    check_argument(match >= 0, "--model",
                   fmt::format("{} has no factor '{}' over {} variables of these names, as the journal has",
                               printable(model.source_name), printable(own.name), own.variables.size()));
    found.push_back(match);
  }
  return found;
}

// None for a failure that has no value.
std::optional<double> value_of(const JsonModel& model, int factor, const JournalCall& call) {
  if (call.failure.empty()) return call.log_value;
  const FailureRule& rule = model.programs[model.factors[factor].program].on_failure;
  if (rule.kind == FailureRule::Kind::kStop) return {};
  return rule.kind == FailureRule::Kind::kValue ? rule.log_value : kNegInf;
}

}  // namespace

ValueEstimate journal_estimate(const JsonModel& model, const JournalCalls& calls) {
  const FactorGraph graph = graph_of(model);
  const std::vector<int> factors = factors_of(model, calls);
  std::vector<PaidValue> values;
  for (const JournalCall& call : calls.calls) {
    const int factor = factors[call.factor];
    if (const auto value = value_of(model, factor, call)) values.push_back({factor, call.states, *value});
  }
  if (values.size() > kMostValues) {
    ValueEstimate none;
    none.no_estimate = fmt::format("there are more than {} values to learn from", kMostValues);
    return none;
  }
  const auto start = std::chrono::steady_clock::now();
  return estimate_from_values(graph, values, {}, [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > kMostSeconds;
  });
}

}  // namespace treesample::cli

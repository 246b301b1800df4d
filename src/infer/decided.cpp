#include "infer/decided.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "treesample/oracle/oracle_set.hpp"
#include "treesample/reduce/evidence.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

bool is_decided(const Factor& factor, const Assignment& observed) {
  const std::vector<int>& scope = factor.scope();
  return !factor.is_table() && std::all_of(scope.begin(), scope.end(), [&](int v) { return observed[v] >= 0; });
}

// The smaller one of the limits of all calls, --calls and a budget of them, and its option.
std::pair<std::int64_t, const char*> most_calls(const InferRequest& request) {
  const bool is_budget = request.options.budget_unit == BudgetUnit::kCall;
  if (is_budget && request.limits.budget < request.limits.calls) return {request.limits.budget, "budget"};
  return {request.limits.calls, "calls"};
}

[[noreturn]] void refuse(const char* option, std::int64_t limit, std::int64_t needed) {
  throw OptionError(option, fmt::format("is {}, and the evidence decides {} of the functions, each of which is called",
                                        limit, needed));
}

}  // namespace

std::int64_t num_decided(const Model& model) {
  if (model.graph.has_only_tables()) return 0;
  const Assignment observed = observed_states(model.graph, model.evidence);
  return std::count_if(model.graph.factors().begin(), model.graph.factors().end(),
                       [&](const Factor& factor) { return is_decided(factor, observed); });
}

ReducedModel condition_with_calls(const Model& model, const InferRequest& request, const Run& run) {
  const std::int64_t needed = num_decided(model);
  const auto [most, option] = most_calls(request);
  if (needed > most) refuse(option, most, needed);
  try {
    // What a journal knows is not new, so that only asking tells how many are.
    const Assignment observed = observed_states(model.graph, model.evidence);
    for (int m = 0; model.programs && needed > 0 && m < model.graph.num_factors(); ++m) {
      if (!is_decided(model.graph.factor(m), observed)) continue;
      if (model.programs->num_left() <= 0) refuse("new-calls", request.limits.new_calls, needed);
      static_cast<void>(model.graph.log_value(m, observed));
    }
    return condition(model.graph, model.evidence);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted || run.is_interrupted()) throw;
    throw OptionError(
        "time", fmt::format("is over before an answer of {} that the evidence decides", counted(needed, "function")),
        ErrorCode::kResource);
  }
}

Model without_decided(const Model& model) {
  if (num_decided(model) == 0) return model;
  const Assignment observed = observed_states(model.graph, model.evidence);
  Model left = model;
  left.graph = FactorGraph();
  for (int v = 0; v < model.graph.num_variables(); ++v) left.graph.add_variable(model.graph.variable(v));
  for (const Factor& factor : model.graph.factors()) {
    left.graph.add_factor(is_decided(factor, observed) ? Factor::table({}, {0.0}) : factor);
  }
  left.graph.set_evaluation_queue(model.programs);
  return left;
}

void forget_calls(InferRequest& request) {
  const bool counts_calls =
      request.options.budget_unit == BudgetUnit::kCall || request.options.budget_unit == BudgetUnit::kCost;
  if (counts_calls) request.options.budget_unit.reset();
  if (counts_calls) request.limits.budget = Limits::kUnlimited;
  request.limits.calls = Limits::kUnlimited;
}

}  // namespace treesample

#include "infer/decided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "stopwatch.hpp"
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

// The value, and the seconds that it costs, as declared or else as measured.
std::pair<double, double> called(const Model& model, int factor, const Assignment& observed) {
  const FactorGraph& graph = model.graph;
  if (!model.programs) {
    const Stopwatch clock;
    const double value = graph.log_value(factor, observed);
    return {value, graph.factor(factor).cost().value_or(clock.seconds())};
  }
  std::vector<int> states;
  for (const int v : graph.factor(factor).scope()) states.push_back(observed[v]);
  try {
    const OracleAnswer answer = model.programs->wait(model.programs->submit({{factor, std::move(states)}}));
    return {answer.log_values[0], answer.costs[0]};
  } catch (const Error& error) {
    // A wrong declaration is no mistake of this call.
    throw Error(error.code() == ErrorCode::kArgument ? ErrorCode::kNumeric : error.code(), error.what());
  }
}

// The model with constants, of which `value_of` tells the values, in the place of these functions.
template <class ValueOf>
Model with_constants(const Model& model, const ValueOf& value_of) {
  const Assignment observed = observed_states(model.graph, model.evidence);
  Model left = model;
  left.graph = FactorGraph();
  for (int v = 0; v < model.graph.num_variables(); ++v) left.graph.add_variable(model.graph.variable(v));
  for (int m = 0; m < model.graph.num_factors(); ++m) {
    const Factor& factor = model.graph.factor(m);
    left.graph.add_factor(is_decided(factor, observed) ? Factor::table({}, {value_of(m, observed)}) : factor);
  }
  const auto original = std::make_shared<const FactorGraph>(model.graph);  // keeps the queue
  left.graph.set_evaluation_queue({original, original->evaluation_queue()});
  return left;
}

// Calls them while the limits pay for them.
class DecidedCalls {
 public:
  DecidedCalls(const Model& model, const InferRequest& request)
      : model_(model), request_(request), needed_(decided_calls(model)) {
    const auto [most, option] = most_calls(request);
    if (needed_.calls > most) refuse(option, most, needed_.calls);
  }

  double operator()(int factor, const Assignment& observed) {
    // What a journal knows is not new, so that only asking tells how many are.
    if (model_.programs && model_.programs->num_left() <= 0) {
      refuse("new-calls", request_.limits.new_calls, needed_.calls);
    }
    const double declared = model_.graph.factor(factor).cost().value_or(0.0);
    if (request_.options.budget_unit == BudgetUnit::kCost) {
      Budget budget(request_.limits.budget, BudgetUnit::kCost);
      budget.spend(spent_);
      const bool is_payable = budget.allows({.cost_seconds = std::max(declared, std::numeric_limits<double>::min())});
      if (!is_payable) {
        throw OptionError("budget", fmt::format("is {} seconds, and more is needed for {} that the evidence decides",
                                                request_.limits.budget, counted(needed_.calls, "function")));
      }
    }
    const auto [value, seconds] = called(model_, factor, observed);
    spent_ += {.cost_seconds = seconds, .calls = 1};
    return value;
  }

  [[nodiscard]] const Spending& spent() const { return spent_; }

 private:
  const Model& model_;
  const InferRequest& request_;
  const Spending needed_;
  Spending spent_;
};

}  // namespace

Spending decided_calls(const Model& model) {
  Spending needed;
  if (model.graph.has_only_tables()) return needed;
  const Assignment observed = observed_states(model.graph, model.evidence);
  for (const Factor& factor : model.graph.factors()) {
    if (is_decided(factor, observed)) needed += {.cost_seconds = factor.cost().value_or(0.0), .calls = 1};
  }
  return needed;
}

std::pair<ReducedModel, Spending> condition_with_calls(const Model& model, const InferRequest& request,
                                                       const Run& run) {
  DecidedCalls calls(model, request);
  try {
    if (decided_calls(model).calls == 0) return {condition(model.graph, model.evidence), {}};
    const Model left = with_constants(model, [&](int m, const Assignment& observed) { return calls(m, observed); });
    return {condition(left.graph, left.evidence), calls.spent()};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInterrupted || run.is_interrupted()) throw;
    throw OptionError("time",
                      fmt::format("is over before an answer of {} that the evidence decides",
                                  counted(decided_calls(model).calls, "function")),
                      ErrorCode::kResource);
  }
}

Model without_decided(const Model& model) {
  if (decided_calls(model).calls == 0) return model;
  return with_constants(model, [](int, const Assignment&) { return 0.0; });
}

void forget_calls(InferRequest& request) {
  const bool counts_calls =
      request.options.budget_unit == BudgetUnit::kCall || request.options.budget_unit == BudgetUnit::kCost;
  if (counts_calls) request.options.budget_unit.reset();
  if (counts_calls) request.limits.budget = Limits::kUnlimited;
  request.limits.calls = Limits::kUnlimited;
}

}  // namespace treesample

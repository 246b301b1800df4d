#include "infer/decided.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "space/caller.hpp"
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

// Asks for them while the limits pay.
class DecidedCalls {
 public:
  DecidedCalls(const Model& model, const InferRequest& request)
      : graph_(model.graph), request_(request), num_needed_(decided_calls(model).calls), budget_(budget_of(request)) {
    const auto [most, option] = most_calls(request);
    if (num_needed_ > most) refuse(option, most, num_needed_);
  }

  double operator()(int factor, const Assignment& observed) {
    if (!budget_.allows(Caller::price_of(graph_.factor(factor)))) refuse_price();
    std::vector<int> states;
    for (const int v : graph_.factor(factor).scope()) states.push_back(observed[v]);
    try {
      const AskedValue paid = ask_now(graph_, factor, states, budget_);
      budget_.spend(paid.spent);
      return paid.log_value;
    } catch (const Error& error) {
      // A wrong declaration is no mistake of this call.
      if (is_queued(graph_, factor) && error.code() == ErrorCode::kArgument) {
        throw Error(ErrorCode::kNumeric, error.what());
      }
      throw;
    }
  }

  [[nodiscard]] const Spending& spent() const { return budget_.spent(); }

 private:
  // Calls are limited before the first of them.
  [[nodiscard]] Budget budget_of(const InferRequest& request) const {
    const bool counts_cost = request.options.budget_unit == BudgetUnit::kCost;
    return {counts_cost ? request.limits.budget : Limits::kUnlimited,
            counts_cost ? BudgetUnit::kCost : BudgetUnit::kCall, graph_.evaluation_queue()};
  }
  // What a journal knows is not new, so that only asking tells how many are.
  [[noreturn]] void refuse_price() const {
    const EvaluationQueue* const queue = graph_.evaluation_queue();
    if (queue != nullptr && queue->num_left() <= 0) refuse("new-calls", request_.limits.new_calls, num_needed_);
    throw OptionError("budget", fmt::format("is {} seconds, and more is needed for {} that the evidence decides",
                                            request_.limits.budget, counted(num_needed_, "function")));
  }

  const FactorGraph& graph_;
  const InferRequest& request_;
  const std::int64_t num_needed_;
  Budget budget_;
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

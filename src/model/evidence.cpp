#include "treesample/model/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/model/evaluation_queue.hpp"

namespace treesample {
namespace {

// The entries of a table that agree with the observed states, in the order of the free variables.
// `x` is the observed states with 0 for the free variables, before and after.
std::vector<double> slice(const FactorGraph& graph, const Factor& factor, const Assignment& observed, Assignment& x) {
  std::vector<int> free_variables;
  std::size_t num_entries = 1;
  for (const int v : factor.scope()) {
    if (observed[v] >= 0) continue;
    free_variables.push_back(v);
    num_entries *= static_cast<std::size_t>(graph.num_states(v));
  }
  std::vector<double> entries;
  entries.reserve(num_entries);
  for (std::size_t i = 0; i < num_entries; ++i) {
    entries.push_back(factor.log_values()[table_index(graph, factor, x)]);
    for (auto v = free_variables.rbegin(); v != free_variables.rend(); ++v) {  // next state, last fastest
      int& state = x[*v];
      if (++state < graph.num_states(*v)) break;
      state = 0;
    }
  }
  return entries;
}

// The states of a factor's scope: the observed ones, and -1 for the free ones.
std::vector<int> observed_scope(const Factor& factor, const Assignment& observed) {
  std::vector<int> states;
  for (const int v : factor.scope()) states.push_back(observed[v]);
  return states;
}

std::vector<int> fill_in(std::vector<int> observed_states, std::span<const int> free_states) {
  std::size_t next = 0;
  for (int& state : observed_states) {
    if (state < 0) state = free_states[next++];
  }
  return observed_states;
}

// A function of the free variables that fills in the observed ones.
Factor::Function function_of_rest(const Factor& factor, const Assignment& observed) {
  return [function = factor.function(), states = observed_scope(factor, observed)](std::span<const int> free_states) {
    return function(fill_in(states, free_states));
  };
}

// The queue of the whole model, asked about the rest. Conditioning keeps the indices of factors.
class ConditionedQueue final : public EvaluationQueue {
 public:
  ConditionedQueue(const FactorGraph& graph, const Assignment& observed) : graph_(graph) {
    for (const Factor& factor : graph_.factors()) states_.push_back(observed_scope(factor, observed));
  }
  [[nodiscard]] bool answers(int factor) const override { return whole().answers(factor); }
  [[nodiscard]] int num_workers() const override { return whole().num_workers(); }
  [[nodiscard]] int num_pending() const override { return whole().num_pending(); }
  Ticket submit(std::vector<OracleQuestion> questions) override {
    for (OracleQuestion& question : questions) {
      check_range("ConditionedQueue::submit", "factor", question.factor, 0, graph_.num_factors() - 1);
      const std::vector<int>& observed = states_[question.factor];
      check_argument(std::cmp_equal(question.states.size(), std::count(observed.begin(), observed.end(), -1)),
                     "ConditionedQueue::submit", "a question has the wrong number of states");
      question.states = fill_in(observed, question.states);
    }
    return whole().submit(std::move(questions));
  }
  std::vector<OracleAnswer> wait_any() override { return whole().wait_any(); }
  OracleAnswer wait(Ticket ticket) override { return whole().wait(ticket); }

 private:
  [[nodiscard]] EvaluationQueue& whole() const { return *graph_.evaluation_queue(); }

  FactorGraph graph_;                     // keeps the queue
  std::vector<std::vector<int>> states_;  // by factor: observed states of its scope, -1 for free ones
};

}  // namespace

Assignment ConditionedModel::lift(std::span<const int> reduced) const {
  Assignment x = observed_states;
  for (std::size_t i = 0; i < variable_of.size(); ++i) x[variable_of[i]] = reduced[i];
  return x;
}

ConditionedModel condition(const FactorGraph& graph, const Evidence& evidence) {
  ConditionedModel model;
  model.observed_states.assign(static_cast<std::size_t>(graph.num_variables()), -1);
  for (const auto& [variable, state] : evidence) {
    check_range("condition", "observed variable", variable, 0, graph.num_variables() - 1);
    check_range("condition", fmt::format("observed state of variable {}", variable), state, 0,
                graph.num_states(variable) - 1);
    int& known = model.observed_states[variable];
    if (known >= 0 && known != state) {
      throw_argument("condition",
                     fmt::format("variable {} is observed in state {} and in state {}", variable, known, state));
    }
    known = state;
  }
  Assignment x = model.observed_states;
  for (int& state : x) state = std::max(state, 0);
  std::vector<int> reduced_of(static_cast<std::size_t>(graph.num_variables()), -1);
  for (int v = 0; v < graph.num_variables(); ++v) {
    if (model.observed_states[v] >= 0) continue;
    reduced_of[v] = model.graph.add_variable(graph.variable(v));
    model.variable_of.push_back(v);
  }
  for (const Factor& factor : graph.factors()) {
    std::vector<int> scope;
    for (const int v : factor.scope()) {
      if (reduced_of[v] >= 0) scope.push_back(reduced_of[v]);
    }
    if (factor.is_table()) {
      model.graph.add_table(std::move(scope), slice(graph, factor, model.observed_states, x));
    } else {
      model.graph.add_factor(Factor::function(std::move(scope), function_of_rest(factor, model.observed_states),
                                              factor.log_max(), factor.cost()));
    }
  }
  if (graph.evaluation_queue() != nullptr) {
    model.graph.set_evaluation_queue(std::make_shared<ConditionedQueue>(graph, model.observed_states));
  }
  return model;
}

}  // namespace treesample

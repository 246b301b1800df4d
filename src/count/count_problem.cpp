#include "count/count_problem.hpp"

#include <algorithm>
#include <utility>

#include "count/zero_boxes.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

class ProblemMaker {
 public:
  ProblemMaker(const FactorGraph& graph, const ShouldStop& should_stop) : graph_(graph), stop_(should_stop) {}

  CountProblem make() {
    for (int v = 0; v < graph_.num_variables(); ++v) {
      CountVariable variable{.first_atom = problem_.num_atoms(), .num_states = graph_.num_states(v)};
      for (int a = 0; a < variable.num_atoms(); ++a) problem_.variable_of_atom.push_back(v);
      problem_.variables.push_back(std::move(variable));
      log_weights_.emplace_back(static_cast<std::size_t>(graph_.num_states(v)));
    }
    for (const Factor& factor : graph_.factors()) {
      if (factor.is_clause()) {
        stop_.go_on("count", 8 * static_cast<std::int64_t>(factor.scope().size()));
        add_clause(factor);
        continue;
      }
      stop_.go_on("count", 8 * static_cast<std::int64_t>(factor.log_values().size()));
      add_factor(factor);
    }
    for (int v = 0; v < graph_.num_variables(); ++v) set_weights(v);
    std::sort(clauses_.begin(), clauses_.end());
    clauses_.erase(std::unique(clauses_.begin(), clauses_.end()), clauses_.end());
    problem_.clauses = std::move(clauses_);
    return std::move(problem_);
  }

 private:
  void add_clause(const Factor& factor) {
    Clause clause;
    for (std::size_t i = 0; i < factor.scope().size(); ++i) {
      const auto& [state, is_state] = factor.literals()[i];
      const Literal literal = problem_.variables[factor.scope()[i]].literal(state);
      clause.push_back(is_state ? literal : opposite(literal));
    }
    std::sort(clause.begin(), clause.end());
    clauses_.push_back(std::move(clause));
  }

  void add_factor(const Factor& factor) {
    SoftValues values{.scope = factor.scope(), .num_states = {}, .log_values = factor.log_values()};
    for (const int v : values.scope) values.num_states.push_back(graph_.num_states(v));
    for (const ZeroBox& box : cover_zeros(values.num_states, values.log_values)) {
      Clause clause;
      for (const BoxSide& side : box) {
        // One literal: "not {state}", or "{state}".
        const Literal literal = problem_.variables[values.scope[side.position]].literal(side.state);
        clause.push_back(side.is_one ? opposite(literal) : literal);
      }
      std::sort(clause.begin(), clause.end());
      clauses_.push_back(std::move(clause));
    }
    const double log_max = *std::max_element(values.log_values.begin(), values.log_values.end());
    if (log_max == kNegInf) return;  // the empty clause says that the model is impossible
    drop_irrelevant(values);
    if (values.scope.empty()) {
      problem_.log_constant.add(values.log_values.front());
    } else if (values.scope.size() == 1) {
      std::vector<CompensatedSum>& sums = log_weights_[values.scope.front()];
      for (std::size_t s = 0; s < sums.size(); ++s) {
        if (values.log_values[s] != kNegInf) sums[s].add(values.log_values[s]);
      }
    } else {
      double log_least = log_max;
      for (const double value : values.log_values)
        log_least = value == kNegInf ? log_least : std::min(log_least, value);
      problem_.log_range += log_max - log_least;
      if (problem_.log_range > CountNumber::kLargestLog) return;  // the caller gives up
      problem_.log_constant.add(log_max);
      problem_.soft_tables.emplace_back(std::move(values), log_max);
    }
  }

  void set_weights(int v) {
    CountVariable& variable = problem_.variables[v];
    const std::vector<CompensatedSum>& sums = log_weights_[v];
    double log_max = kNegInf, log_least = HUGE_VAL;
    for (const CompensatedSum& sum : sums) {
      log_max = std::max(log_max, sum.value());
      log_least = std::min(log_least, sum.value());
    }
    problem_.log_range += log_max - log_least + std::log(variable.num_states);
    if (problem_.log_range > CountNumber::kLargestLog) return;  // the caller gives up
    for (const CompensatedSum& sum : sums) {
      const double relative = sum.value() - log_max;
      const double error = sum.error() + kEpsilon * std::abs(relative);
      variable.weights.push_back(CountNumber::of_log(relative, error));
      variable.has_weights = variable.has_weights || !variable.weights.back().is_one();
    }
    // The largest sum is subtracted as computed; its error is part of the errors of the weights.
    if (log_max != 0.0) problem_.log_constant.add(log_max);
  }

  const FactorGraph& graph_;
  StopCheck stop_;
  CountProblem problem_;
  std::vector<std::vector<CompensatedSum>> log_weights_;  // by variable and state
  std::vector<Clause> clauses_;
};

}  // namespace

CountProblem make_problem(const FactorGraph& graph, const ShouldStop& should_stop) {
  return ProblemMaker(graph, should_stop).make();
}

std::vector<std::vector<int>> CountProblem::scopes() const {
  std::vector<std::vector<int>> scopes;
  // Orders are guesses, and a long clause is true soon: it would only connect everything with everything.
  constexpr std::size_t kLong = 100;
  for (const Clause& clause : clauses) {
    if (clause.size() > kLong) continue;
    std::vector<int>& scope = scopes.emplace_back();
    for (const Literal literal : clause) scope.push_back(variable_of_atom[atom_of(literal)]);
  }
  for (const SoftTable& table : soft_tables) scopes.push_back(table.scope());
  for (std::vector<int>& scope : scopes) {
    std::sort(scope.begin(), scope.end());
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
  }
  std::sort(scopes.begin(), scopes.end());
  scopes.erase(std::unique(scopes.begin(), scopes.end()), scopes.end());
  return scopes;
}

Adjacency CountProblem::adjacency() const {
  Adjacency neighbours(variables.size());
  for (const std::vector<int>& scope : scopes()) {
    for (const int u : scope) {
      for (const int v : scope) {
        if (u != v) neighbours[u].push_back(v);
      }
    }
  }
  for (std::vector<int>& list : neighbours) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

}  // namespace treesample

#include "treesample/reduce/reduced_model.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>

#include "model/clause.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/evaluation_queue.hpp"

namespace treesample {
namespace {

using StateLists = std::vector<std::vector<int>>;

// The entries of a table at the remaining states, row-major over all of its variables.
std::vector<double> restricted_table(const FactorGraph& graph, const Factor& factor, const StateLists& left) {
  const std::vector<int>& scope = factor.scope();
  const std::vector<std::size_t> strides = table_strides(states_of_scope(graph, scope));
  std::size_t num_entries = 1, index = 0;  // index: the entry's position in the original table
  for (std::size_t i = 0; i < scope.size(); ++i) {
    num_entries *= left[scope[i]].size();
    index += strides[i] * static_cast<std::size_t>(left[scope[i]][0]);
  }
  std::vector<std::size_t> places(scope.size(), 0);
  std::vector<double> entries(num_entries);
  for (double& entry : entries) {
    entry = factor.log_values()[index];
    for (std::size_t i = scope.size(); i-- > 0;) {  // next entry, last variable fastest
      const std::vector<int>& states = left[scope[i]];
      const int old_state = states[places[i]];
      places[i] = places[i] + 1 < states.size() ? places[i] + 1 : 0;
      index += strides[i] * static_cast<std::size_t>(states[places[i]]);
      index -= strides[i] * static_cast<std::size_t>(old_state);
      if (places[i] > 0) break;
    }
  }
  return entries;
}

// The clause over its free variables: a literal that no remaining state fulfils leaves it, and one that all fulfil
// makes it a constant.
Factor restricted_clause(const Factor& factor, const std::vector<int>& reduced_of, const StateLists& left,
                         ClauseMaker& clauses) {
  std::vector<int> scope, num_states;
  std::vector<ClauseLiteral> literals;
  for (std::size_t i = 0; i < factor.scope().size(); ++i) {
    const int v = factor.scope()[i];
    ClauseLiteral literal = factor.literals()[i];
    const auto found = std::lower_bound(left[v].begin(), left[v].end(), literal.state);
    const bool has_state = found != left[v].end() && *found == literal.state;
    const bool can_hold = literal.is_state ? has_state : !has_state || left[v].size() > 1;
    const bool can_fail = literal.is_state ? !has_state || left[v].size() > 1 : has_state;
    if (!can_fail) return Factor::table({}, {0.0});
    if (!can_hold) continue;
    literal.state = static_cast<int>(found - left[v].begin());
    scope.push_back(reduced_of[v]);
    num_states.push_back(static_cast<int>(left[v].size()));
    literals.push_back(literal);
  }
  return clauses.make(std::move(scope), literals, num_states);
}

// Translates the states of a factor's free variables to the states of its original scope: fixed states are filled in,
// and all states get their original numbers.
class Translation {
 public:
  Translation(const Factor& factor, const StateLists& left, const std::vector<char>& is_fixed) {
    for (const int v : factor.scope()) {
      states_.push_back(left[v]);
      is_filled_in_.push_back(is_fixed[v]);
    }
  }
  [[nodiscard]] std::vector<int> operator()(std::span<const int> free_states) const {
    std::vector<int> original(states_.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      original[i] = states_[i][is_filled_in_[i] != 0 ? 0 : free_states[next++]];
    }
    return original;
  }
  // The other way round; nothing where a state is gone.
  [[nodiscard]] std::optional<std::vector<int>> reduced(std::span<const int> original) const {
    std::vector<int> free_states;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const auto found = std::lower_bound(states_[i].begin(), states_[i].end(), original[i]);
      if (found == states_[i].end() || *found != original[i]) return {};
      if (is_filled_in_[i] == 0) free_states.push_back(static_cast<int>(found - states_[i].begin()));
    }
    return free_states;
  }
  // Translates positions in the original scope to positions among the free variables; fixed variables are left out.
  [[nodiscard]] std::optional<std::vector<int>> witness(const std::optional<std::vector<int>>& original) const {
    if (!original) return {};
    std::vector<int> places;
    for (const int place : *original) {
      if (place < 0 || place >= static_cast<int>(states_.size())) continue;
      if (is_filled_in_[place] == 0) {
        places.push_back(static_cast<int>(std::count(is_filled_in_.begin(), is_filled_in_.begin() + place, 0)));
      }
    }
    return places;
  }

 private:
  StateLists states_;
  std::vector<char> is_filled_in_;
};

// States keep their order, so a monotone function stays monotone.
Factor translated(const Factor& factor, std::vector<int> scope, const StateLists& left,
                  const std::vector<char>& is_fixed) {
  std::vector<Direction> directions;
  for (std::size_t i = 0; i < factor.directions().size(); ++i) {
    if (is_fixed[factor.scope()[i]] == 0) directions.push_back(factor.directions()[i]);
  }
  const auto explain = [factor, translation = Translation(factor, left, is_fixed)](std::span<const int> free_states) {
    FactorValue value = factor.explain(translation(free_states));
    value.witness = translation.witness(value.witness);
    return value;
  };
  const Factor function = Factor::explained_function(std::move(scope), explain, factor.log_max(), factor.cost());
  return factor.directions().empty() ? function : function.monotone(std::move(directions));
}

// The result for a model from which nothing was removed.
ReducedModel whole_model(const FactorGraph& graph, StateLists left) {
  ReducedModel model{.graph = graph, .states_of = std::move(left)};
  model.fixed_states.assign(model.states_of.size(), -1);
  model.variable_of.resize(model.states_of.size());
  std::iota(model.variable_of.begin(), model.variable_of.end(), 0);
  for (int v = 0; v < graph.num_variables(); ++v) model.num_original_states.push_back(graph.num_states(v));
  return model;
}

// Answers questions about the reduced model by asking the queue of the original model. Factors have the same indices in
// both.
class TranslatedQueue final : public EvaluationQueue {
 public:
  TranslatedQueue(const FactorGraph& graph, const StateLists& left, const std::vector<char>& is_fixed) : graph_(graph) {
    for (const Factor& factor : graph.factors()) translations_.emplace_back(factor, left, is_fixed);
  }
  [[nodiscard]] bool answers(int factor) const override {
    return factor < graph_.num_factors() && original().answers(factor);
  }
  [[nodiscard]] int num_workers() const override { return original().num_workers(); }
  [[nodiscard]] int max_under_way() const override { return original().max_under_way(); }
  [[nodiscard]] int num_pending() const override { return original().num_pending(); }
  [[nodiscard]] std::int64_t num_left() const override { return original().num_left(); }
  [[nodiscard]] std::int64_t num_answered() const override { return original().num_answered(); }
  [[nodiscard]] bool can_repeat() const override { return original().can_repeat(); }
  [[nodiscard]] std::vector<KnownValue> known_values() const override {
    std::vector<KnownValue> values;
    for (KnownValue& value : original().known_values()) {
      if (value.factor >= graph_.num_factors()) continue;
      std::optional<std::vector<int>> states = translations_[value.factor].reduced(value.states);
      if (!states) continue;
      value.states = std::move(*states);
      values.push_back(std::move(value));
    }
    return values;
  }
  [[nodiscard]] std::vector<Lesson> lessons(const std::string& run) const override { return original().lessons(run); }
  void add_lesson(const std::string& run, const Lesson& lesson) override { original().add_lesson(run, lesson); }
  Ticket submit(std::vector<OracleQuestion> questions) override {
    std::vector<int> factors;
    for (OracleQuestion& question : questions) {
      check_range("EvaluationQueue::submit", "factor", question.factor, 0, graph_.num_factors() - 1);
      question.states = translations_[question.factor](question.states);
      factors.push_back(question.factor);
    }
    const Ticket ticket = original().submit(std::move(questions));
    factors_of_[ticket] = std::move(factors);
    return ticket;
  }
  std::vector<OracleAnswer> wait_any() override {
    std::vector<OracleAnswer> answers = original().wait_any();
    for (OracleAnswer& answer : answers) translate(answer);
    return answers;
  }
  OracleAnswer wait(Ticket ticket) override {
    OracleAnswer answer = original().wait(ticket);
    translate(answer);
    return answer;
  }

 private:
  void translate(OracleAnswer& answer) {
    const auto asked = factors_of_.extract(answer.ticket);
    if (asked.empty()) return;  // the answer to a question of another queue
    for (std::size_t i = 0; i < answer.witnesses.size() && i < asked.mapped().size(); ++i) {
      answer.witnesses[i] = translations_[asked.mapped()[i]].witness(answer.witnesses[i]);
    }
  }
  [[nodiscard]] EvaluationQueue& original() const { return *graph_.evaluation_queue(); }

  FactorGraph graph_;                      // keeps the queue alive
  std::vector<Translation> translations_;  // by factor
  std::unordered_map<Ticket, std::vector<int>> factors_of_;
};

Variable restricted_variable(const Variable& variable, const std::vector<int>& states) {
  Variable restricted{.num_states = static_cast<int>(states.size()), .name = variable.name};
  if (!variable.state_names.empty()) {
    for (const int s : states) restricted.state_names.push_back(variable.state_names[s]);
  }
  if (!variable.levels.empty()) {
    for (const int s : states) restricted.levels.push_back(variable.levels[s]);
  }
  return restricted;
}

}  // namespace

ReducedModel restrict_model(const FactorGraph& graph, std::vector<std::vector<int>> left,
                            const std::vector<char>& is_fixed) {
  const auto num_variables = static_cast<std::size_t>(graph.num_variables());
  std::vector<int> reduced_of(num_variables, -1);
  const auto is_whole = [&](int v) {
    return is_fixed[v] == 0 && static_cast<int>(left[v].size()) == graph.num_states(v);
  };
  bool is_all_whole = graph.evaluation_queue() == nullptr;
  for (int v = 0; v < graph.num_variables() && is_all_whole; ++v) is_all_whole = is_whole(v);
  if (is_all_whole) return whole_model(graph, std::move(left));
  ReducedModel model;
  model.fixed_states.assign(num_variables, -1);
  for (int v = 0; v < graph.num_variables(); ++v) {
    TS_ASSERT(!left[v].empty() && (is_fixed[v] == 0 || left[v].size() == 1));
    model.num_original_states.push_back(graph.num_states(v));
    if (is_fixed[v] != 0) {
      model.fixed_states[v] = left[v][0];
      continue;
    }
    reduced_of[v] = model.graph.add_variable(restricted_variable(graph.variable(v), left[v]));
    model.variable_of.push_back(v);
  }
  ClauseMaker clauses;
  for (const Factor& factor : graph.factors()) {
    std::vector<int> scope;
    for (const int v : factor.scope()) {
      if (reduced_of[v] >= 0) scope.push_back(reduced_of[v]);
    }
    if (std::all_of(factor.scope().begin(), factor.scope().end(), is_whole)) {
      model.graph.add_factor(factor.with_scope(std::move(scope)));
    } else if (factor.is_clause()) {
      model.graph.add_factor(restricted_clause(factor, reduced_of, left, clauses));
    } else if (factor.is_table()) {
      model.graph.add_factor(Factor::table_of_sums(std::move(scope), restricted_table(graph, factor, left)));
    } else {
      model.graph.add_factor(translated(factor, std::move(scope), left, is_fixed));
    }
  }
  if (graph.evaluation_queue() != nullptr) {
    model.graph.set_evaluation_queue(std::make_shared<TranslatedQueue>(graph, left, is_fixed));
  }
  for (const int v : model.variable_of) model.states_of.push_back(std::move(left[v]));
  return model;
}

Assignment ReducedModel::lift(std::span<const int> reduced) const {
  graph.check_assignment(reduced, "ReducedModel::lift");
  Assignment x = fixed_states;
  for (std::size_t i = 0; i < variable_of.size(); ++i) x[variable_of[i]] = states_of[i][reduced[i]];
  return x;
}

Marginals ReducedModel::lift(const Marginals& reduced) const {
  bool is_fitting = reduced.size() == states_of.size();
  for (std::size_t i = 0; is_fitting && i < reduced.size(); ++i) {
    is_fitting = reduced[i].size() == states_of[i].size();
  }
  check_argument(is_fitting, "ReducedModel::lift", "the marginals are not those of the reduced model");
  Marginals all(fixed_states.size());
  for (std::size_t v = 0; v < all.size(); ++v) {
    all[v].assign(static_cast<std::size_t>(num_original_states[v]), 0.0);
    if (fixed_states[v] >= 0) all[v][fixed_states[v]] = 1.0;
  }
  for (std::size_t i = 0; i < variable_of.size(); ++i) {
    for (std::size_t s = 0; s < states_of[i].size(); ++s) all[variable_of[i]][states_of[i][s]] = reduced[i][s];
  }
  return all;
}

std::optional<Assignment> ReducedModel::lower(std::span<const int> original) const {
  check_states("ReducedModel::lower", num_original_states, original);
  for (std::size_t v = 0; v < fixed_states.size(); ++v) {
    if (fixed_states[v] >= 0 && fixed_states[v] != original[v]) return {};
  }
  Assignment reduced;
  for (std::size_t i = 0; i < variable_of.size(); ++i) {
    const std::vector<int>& states = states_of[i];
    const auto found = std::lower_bound(states.begin(), states.end(), original[variable_of[i]]);
    if (found == states.end() || *found != original[variable_of[i]]) return {};
    reduced.push_back(static_cast<int>(found - states.begin()));
  }
  return reduced;
}

LiftedApproximation::LiftedApproximation(std::shared_ptr<const ReducedModel> model,
                                         std::shared_ptr<const Approximation> reduced)
    : model_(std::move(model)), reduced_(std::move(reduced)) {}

Assignment LiftedApproximation::sample(Random& random) const { return model_->lift(reduced_->sample(random)); }

double LiftedApproximation::log_prob(std::span<const int> x) const {
  const std::optional<Assignment> reduced = model_->lower(x);
  return reduced ? reduced_->log_prob(*reduced) : kNegInf;
}

ExploredTree LiftedApproximation::explored_tree(std::size_t max_nodes) const {
  ExploredTree tree = reduced_->explored_tree(max_nodes);
  tree.rename([this](int v, int s) { return std::pair(model_->variable_of[v], model_->states_of[v][s]); });
  return tree;
}

}  // namespace treesample

#include "surrogate/learned_model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "treesample/error.hpp"
#include "treesample/exact/elimination.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/surrogate/learned_search.hpp"

namespace treesample {
namespace {

constexpr double kMostLearnedStates = 4096;  // for a function that is learned as a table of its own

std::string key_of(std::span<const int> states) {
  return {reinterpret_cast<const char*>(states.data()), states.size_bytes()};
}

std::vector<double> scaled(std::vector<double> log_values, double scale) {
  for (double& value : log_values) value = value == kNegInf ? kNegInf : scale * value;
  return log_values;
}

}  // namespace

LearnedModel::LearnedModel(const FactorGraph& graph, const std::vector<int>& functions,
                           const LearnedModelLimits& limits)
    : target_(graph), limits_(limits) {
  FactorGraph larger = tables_alone(graph, 1.0);
  if (!can_hold(graph, limits)) {
    throw Error(ErrorCode::kResource,
                "learned_search: the tables of the model are too large for elimination, which the learned model is "
                "normalised by");
  }
  for (const int m : functions) {
    std::vector<int> num_states;
    double num_entries = 1.0;
    for (const int v : graph.factor(m).scope()) {
      num_states.push_back(graph.num_states(v));
      num_entries *= num_states.back();
    }
    functions_.push_back({m, LearnedFunction(num_states)});
    if (num_entries > kMostLearnedStates) continue;
    FactorGraph with_it = larger;
    with_it.add_table(graph.factor(m).scope(), std::vector<double>(static_cast<std::size_t>(num_entries), 0.0));
    if (!is_cheap(with_it)) continue;
    larger = std::move(with_it);
    functions_.back().is_table = true;
  }
}

Elimination eliminate(const FactorGraph& graph, const LearnedModelLimits& limits) {
  const Limits own{.bytes = limits.max_bytes < 1e18 ? static_cast<std::size_t>(limits.max_bytes) : SIZE_MAX,
                   .threads = limits.threads};
  return Elimination(graph, own, {.restarts = 4, .seed = limits.seed});
}

bool LearnedModel::is_cheap(const FactorGraph& graph) const { return can_hold(graph, limits_); }

bool LearnedModel::can_hold(const FactorGraph& graph, const LearnedModelLimits& limits) {
  const EliminationPlan plan = plan_elimination(
      tables_alone(graph, 1.0), {.restarts = 1, .seed = limits.seed, .most_entries = limits.max_entries});
  return plan.num_entries <= limits.max_entries && plan.marginal_bytes <= limits.max_bytes;
}

void LearnedModel::add(const AskedConfiguration& asked) {
  for (Function& function : functions_) {
    for (const auto& [factor, value] : asked.values) {
      if (factor != function.factor) continue;
      std::vector<int> states;
      for (const int v : target_.factor(factor).scope()) states.push_back(asked.x[v]);
      if (function.known.emplace(key_of(states), value).second) {
        function.learned.add(states, value, asked.log_density);
      }
    }
  }
}

void LearnedModel::learn(const ShouldStop& should_stop) {
  for (Function& function : functions_) function.learned.fit(should_stop);
  keep_strongest();
}

// Keeps the terms with the largest effects, as many as elimination can handle, main effects first. Fits their
// coefficients again without the other terms.
void LearnedModel::keep_strongest() {
  if (is_cheap(graph(1.0))) return;
  struct Place {
    bool is_main;
    double strength;
    std::size_t function, term;
  };
  std::vector<Place> places;
  FactorGraph chosen = tables_alone(target_, 1.0);
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const LearnedTerms& learned = functions_[f].learned.learned();
    if (functions_[f].is_table) {
      chosen.add_table(target_.factor(functions_[f].factor).scope(), whole_table(functions_[f], learned));
      continue;
    }
    for (std::size_t t = 0; t < learned.terms.size(); ++t) {
      places.push_back({learned.terms[t].scope.size() == 1, learned.terms[t].strength, f, t});
    }
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.is_main != b.is_main ? a.is_main : a.strength > b.strength;
  });
  std::vector<std::vector<std::size_t>> kept(functions_.size());
  for (const Place& place : places) {
    const LearnedTerm& term = functions_[place.function].learned.learned().terms[place.term];
    FactorGraph larger = chosen;
    larger.add_factor(Factor::table_of_sums(variables_of(functions_[place.function], term), term.log_values));
    if (!is_cheap(larger)) continue;
    chosen = std::move(larger);
    kept[place.function].push_back(place.term);
  }
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    if (functions_[f].is_table) continue;
    std::sort(kept[f].begin(), kept[f].end());
    functions_[f].learned.keep(kept[f]);
  }
}

std::vector<int> LearnedModel::variables_of(const Function& function, const LearnedTerm& term) const {
  std::vector<int> variables;
  for (const int position : term.scope) variables.push_back(target_.factor(function.factor).scope()[position]);
  return variables;
}

FactorGraph tables_alone(const FactorGraph& graph, double scale) {
  FactorGraph tables;
  for (int v = 0; v < graph.num_variables(); ++v) tables.add_variable(graph.num_states(v));
  for (const Factor& factor : graph.factors()) {
    if (!factor.is_table()) continue;
    tables.add_factor(Factor::table_of_sums(factor.scope(), scaled(factor.log_values(), scale)));
  }
  return tables;
}

std::vector<double> LearnedModel::whole_table(const Function& function, const LearnedTerms& terms) const {
  FactorGraph parts;
  std::vector<int> num_states;
  for (const int v : target_.factor(function.factor).scope()) {
    parts.add_variable(target_.num_states(v));
    num_states.push_back(target_.num_states(v));
  }
  for (const LearnedTerm& term : terms.terms) {
    parts.add_factor(Factor::table_of_sums(term.scope, term.log_values));
  }
  std::vector<double> table;
  std::vector<int> states(num_states.size(), 0);
  while (true) {
    const auto known = function.known.find(key_of(states));
    table.push_back(known != function.known.end() ? known->second : terms.constant + parts.log_density(states));
    auto place = std::ssize(states) - 1;
    while (place >= 0 && ++states[place] == num_states[place]) states[place--] = 0;
    if (place < 0) return table;
  }
}

void LearnedModel::add_terms(FactorGraph& graph, const Function& function, const LearnedTerms& terms,
                             double scale) const {
  if (function.is_table) {
    const std::vector<int>& scope = target_.factor(function.factor).scope();
    graph.add_factor(Factor::table_of_sums(scope, scaled(whole_table(function, terms), scale)));
    return;
  }
  graph.add_factor(Factor::table_of_sums({}, {scale * terms.constant}));
  for (const LearnedTerm& term : terms.terms) {
    graph.add_factor(Factor::table_of_sums(variables_of(function, term), scaled(term.log_values, scale)));
  }
}

FactorGraph LearnedModel::make_graph(double scale, const AllTerms& drawn) const {
  FactorGraph graph = tables_alone(target_, scale);
  if (scale == 0.0) return graph;
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    add_terms(graph, functions_[f], drawn.empty() ? functions_[f].learned.learned() : drawn[f], scale);
  }
  return graph;
}

FactorGraph LearnedModel::draw(double scale, Random& random) const {
  AllTerms drawn;
  for (const Function& function : functions_) drawn.push_back(function.learned.draw(random));
  return make_graph(scale, drawn);
}

std::vector<int> LearnedModel::num_terms() const {
  std::vector<int> counts;
  for (const Function& function : functions_) {
    for (const LearnedTerm& term : function.learned.learned().terms) {
      counts.resize(std::max(counts.size(), term.scope.size()));
      ++counts[term.scope.size() - 1];
    }
  }
  return counts;
}

std::optional<double> states_to_learn(const FactorGraph& graph, std::int64_t calls) {
  for (const Factor& factor : graph.factors()) {
    double num_states = factor.is_table() ? 0.0 : 1.0;
    for (const int v : factor.scope()) num_states *= graph.num_states(v);
    const LearnedModelLimits limits{.max_entries = LearnedSearchOptions().max_entries, .max_bytes = HUGE_VAL};
    if (num_states > static_cast<double>(calls) && LearnedModel::can_hold(graph, limits)) return num_states;
  }
  return std::nullopt;
}

}  // namespace treesample

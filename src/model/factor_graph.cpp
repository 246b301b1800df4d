#include "treesample/model/factor_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "math/compensated_sum.hpp"
#include "math/hash.hpp"
#include "model/clause.hpp"
#include "model/table_index.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/log_value.hpp"
#include "treesample/model/names.hpp"

namespace treesample {
namespace {

double checked(const FactorGraph& graph, const Factor& factor, int factor_index, std::span<const int> states,
               double value) {
  if (const std::string problem = log_value_problem(value, factor.log_max()); !problem.empty()) {
    const std::string place = factor.scope().empty() ? "" : " at " + describe_states(graph, factor.scope(), states);
    throw Error(ErrorCode::kNumeric,
                fmt::format("factor {}{}: the function returned {}", factor_index, place, problem));
  }
  return value;
}

double checked_value(const FactorGraph& graph, const Factor& factor, int factor_index, std::span<const int> states) {
  return checked(graph, factor, factor_index, states, factor.function()(states));
}

[[noreturn]] void throw_state(const char* function, int variable, int state, int num_states) {
  throw_argument(function,
                 fmt::format("the state of variable {} is {}, allowed are 0 to {}", variable, state, num_states - 1));
}

}  // namespace

std::string levels_problem(std::span<const double> levels, int num_states) {
  if (levels.empty()) return "";
  if (std::ssize(levels) != num_states) return fmt::format("{} levels for {} states", levels.size(), num_states);
  std::vector<double> sorted(levels.begin(), levels.end());
  const auto wrong = std::find_if_not(sorted.begin(), sorted.end(), [](double level) { return std::isfinite(level); });
  if (wrong != sorted.end()) return fmt::format("the level {}, allowed are finite numbers", *wrong);
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  return twice == sorted.end() ? "" : fmt::format("the level {} twice, allowed are different numbers", *twice);
}

int FactorGraph::add_variable(Variable variable) {
  check_range("FactorGraph::add_variable", "num_states", variable.num_states, 1, kMaxStates);
  const auto num_names = static_cast<int>(variable.state_names.size());
  if (num_names != 0 && num_names != variable.num_states) {
    throw_argument("FactorGraph::add_variable",
                   fmt::format("{} state names for {} states", num_names, variable.num_states));
  }
  if (const std::string problem = levels_problem(variable.levels, variable.num_states); !problem.empty()) {
    throw_argument("FactorGraph::add_variable", fmt::format("the variable has {}", problem));
  }
  variables_hash_ = mixed(variables_hash_, static_cast<std::uint64_t>(variable.num_states));
  variables_.push_back(std::move(variable));
  return num_variables() - 1;
}

int FactorGraph::add_factor(Factor factor) {
  constexpr const char* kFunction = "FactorGraph::add_factor";
  std::vector<int> sorted = factor.scope();
  std::sort(sorted.begin(), sorted.end());
  for (const int v : sorted) check_range(kFunction, "scope variable", v, 0, num_variables() - 1);
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) throw_argument(kFunction, fmt::format("variable {} is twice in the scope", *twice));
  if (factor.is_clause()) {
    for (std::size_t i = 0; i < factor.scope().size(); ++i) {
      const int v = factor.scope()[i];
      if (factor.clause_states(i) == num_states(v)) continue;
      throw_argument(kFunction, fmt::format("the clause takes variable {} to have {} states, it has {}", v,
                                            factor.clause_states(i), num_states(v)));
    }
  } else if (factor.is_table()) {
    std::int64_t entries = 1;
    for (const int v : factor.scope()) {
      entries *= num_states(v);
      if (entries > kMaxTableEntries) {
        throw_argument(kFunction, fmt::format("the table over {} variables needs more than {} entries",
                                              factor.scope().size(), kMaxTableEntries));
      }
    }
    if (static_cast<std::int64_t>(factor.log_values().size()) != entries) {
      throw_argument(kFunction,
                     fmt::format("the table has {} entries, its scope needs {}", factor.log_values().size(), entries));
    }
  } else if (factor.scope().empty()) {
    factor = Factor::table({}, {checked_value(*this, factor, num_factors(), {})});
  }
  scopes_hash_ = mixed(scopes_hash_, factor.scope().size());
  for (const int v : factor.scope()) scopes_hash_ = mixed(scopes_hash_, static_cast<std::uint64_t>(v));
  // Constant factors are part of the hash because a search space stores their values, and no others.
  if (factor.scope().empty()) scopes_hash_ = mixed(scopes_hash_, std::bit_cast<std::uint64_t>(factor.log_values()[0]));
  factors_.push_back(std::move(factor));
  return num_factors() - 1;
}

bool FactorGraph::has_only_tables() const {
  return std::all_of(factors_.begin(), factors_.end(), [](const Factor& factor) { return factor.is_table(); });
}

double FactorGraph::log_num_configurations() const {
  double sum = 0.0;
  for (const Variable& variable : variables_) sum += std::log(variable.num_states);
  return sum;
}

std::uint64_t FactorGraph::shape() const {
  const auto num_variables = static_cast<std::uint64_t>(variables_.size());
  return mixed(mixed(mixed(variables_hash_, num_variables), scopes_hash_), factors_.size());
}

double FactorGraph::log_value(int index, std::span<const int> x) const {
  constexpr const char* kFunction = "FactorGraph::log_value";
  check_range(kFunction, "factor", index, 0, num_factors() - 1);
  check_range(kFunction, "number of states given", static_cast<std::int64_t>(x.size()), num_variables(),
              num_variables());
  for (const int v : factor(index).scope()) {
    if (x[v] < 0 || x[v] >= num_states(v)) throw_state(kFunction, v, x[v], num_states(v));
  }
  return value_at(index, x);
}

double FactorGraph::value_at(int index, std::span<const int> x) const {
  const Factor& psi = factor(index);
  if (psi.is_clause()) return clause_value(psi, x);
  if (psi.is_table()) return psi.log_values()[table_index(*this, psi, x)];
  std::vector<int> states;
  states.reserve(psi.scope().size());
  for (const int v : psi.scope()) states.push_back(x[v]);
  return checked_function_value(*this, index, states);
}

double FactorGraph::log_density(std::span<const int> x) const {
  check_assignment(x, "FactorGraph::log_density");
  CompensatedSum sum;
  for (int m = 0; m < num_factors() && sum.value() != kNegInf; ++m) sum.add(value_at(m, x));
  return sum.value();
}

void FactorGraph::check_assignment(std::span<const int> x, const char* function) const {
  check_range(function, "number of states given", static_cast<std::int64_t>(x.size()), num_variables(),
              num_variables());
  for (int v = 0; v < num_variables(); ++v) {
    if (x[v] < 0 || x[v] >= num_states(v)) throw_state(function, v, x[v], num_states(v));
  }
}

void check_states(const char* function, std::span<const int> num_states, std::span<const int> x) {
  const auto size = static_cast<std::int64_t>(num_states.size());
  check_range(function, "number of states given", static_cast<std::int64_t>(x.size()), size, size);
  for (std::size_t v = 0; v < x.size(); ++v) {
    if (x[v] < 0 || x[v] >= num_states[v]) throw_state(function, static_cast<int>(v), x[v], num_states[v]);
  }
}

std::size_t table_index(const FactorGraph& graph, const Factor& factor, std::span<const int> x) {
  return table_index(graph, factor.scope(), x);
}

std::string describe_states(const FactorGraph& graph, std::span<const int> scope, std::span<const int> states) {
  std::string text;
  for (std::size_t i = 0; i < scope.size(); ++i) {
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", variable_name(graph, scope[i]),
                        state_name(graph, scope[i], states[i]));
  }
  return text;
}

double checked_function_value(const FactorGraph& graph, int factor_index, std::span<const int> states) {
  return checked_value(graph, graph.factor(factor_index), factor_index, states);
}

FactorValue checked_factor_value(const FactorGraph& graph, int factor_index, std::span<const int> states) {
  const Factor& factor = graph.factor(factor_index);
  FactorValue value = factor.explain(states);
  checked(graph, factor, factor_index, states, value.log_value);
  if (!value.witness) return value;
  for (const int place : *value.witness) {
    if (place >= 0 && place < static_cast<int>(states.size())) continue;
    throw Error(ErrorCode::kNumeric,
                fmt::format("factor {} at {}: the function named {} in its witness, allowed are places from 0 to {}",
                            factor_index, describe_states(graph, factor.scope(), states), place, states.size() - 1));
  }
  return value;
}

}  // namespace treesample

#include "io/variable_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string>

#include "treesample/model/log_value.hpp"
#include "treesample/model/only_if.hpp"
#include "treesample/text.hpp"

namespace treesample {
namespace {

using nlohmann::json;

bool parse_is_ordered(const JsonField& field) {
  if (!field.has("ordered")) return false;
  const JsonField ordered = field.at("ordered");
  if (!ordered.json().is_boolean()) {
    ordered.fail(fmt::format("allowed are true and false, found {}", shown(ordered.json())));
  }
  if (field.has("levels")) ordered.fail("\"levels\" order the states already: one of the two fields is enough");
  return ordered.json().get<bool>();
}

// Numbers count as names only if states are ordered; otherwise they are probably meant as states counted from 0.
Variable parse_states(const JsonField& states, bool is_ordered) {
  Variable variable;
  if (!states.json().is_array()) {
    if (!states.json().is_number()) states.fail("allowed is a list of names or a number of states");
    variable.num_states = states.integer(1, FactorGraph::kMaxStates);
    return variable;
  }
  variable.num_states = states.array_size();
  if (variable.num_states < 1 || variable.num_states > FactorGraph::kMaxStates) {
    states.fail(fmt::format("{} states, allowed are 1 to {}", variable.num_states, FactorGraph::kMaxStates));
  }
  std::set<std::string> seen;
  for (int i = 0; i < variable.num_states; ++i) {
    const JsonField state = states.at(i);
    variable.state_names.push_back(is_ordered && state.json().is_number() ? shown(state.json()) : state.text());
    if (!seen.insert(variable.state_names.back()).second) {
      state.fail(fmt::format("two states have the name '{}'", variable.state_names.back()));
    }
  }
  return variable;
}

// The levels of ordered states: numbers from their names if possible, otherwise 0, 1, ... in their order.
std::vector<double> ordered_levels(const Variable& variable) {
  std::vector<double> levels = state_numbers(variable);
  for (int i = 0; std::ssize(levels) < variable.num_states; ++i) levels.push_back(i);
  return levels;
}

std::vector<double> parse_levels(const JsonField& list) {
  std::vector<double> levels;
  for (int i = 0; i < list.array_size(); ++i) {
    levels.push_back(list.at(i).number(-kLargestMagnitude, kLargestMagnitude));
  }
  return levels;
}

}  // namespace

std::vector<double> state_numbers(const Variable& variable) {
  std::vector<double> numbers;
  for (int i = 0; i < variable.num_states && variable.state_names.empty(); ++i) numbers.push_back(i);
  for (const std::string& name : variable.state_names) {
    double number = 0.0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || !(std::abs(number) <= kLargestMagnitude)) return {};
    numbers.push_back(number);
  }
  return numbers;
}

Variable parse_variable(const JsonField& field) {
  field.require_object({"name", "states", "ordered", "levels", "only_if"});
  const bool is_ordered = parse_is_ordered(field);
  const std::string name = field.at("name").text();
  Variable variable = parse_states(field.at("states"), is_ordered);
  variable.name = name;
  if (is_ordered) variable.levels = ordered_levels(variable);
  if (field.has("levels")) {
    variable.levels = parse_levels(field.at("levels"));
    if (variable.levels.empty()) field.at("levels").fail("the list is empty, it has a number for each state");
  }
  if (const std::string problem = levels_problem(variable.levels, variable.num_states); !problem.empty()) {
    field.at(is_ordered ? "states" : "levels").fail(fmt::format("the variable has {}", problem));
  }
  return variable;
}

int parse_state(const JsonField& field, const Variable& variable) {
  if (variable.state_names.empty()) return field.integer(0, variable.num_states - 1);
  const std::string name = field.json().is_number() ? shown(field.json()) : field.text();
  const auto found = std::find(variable.state_names.begin(), variable.state_names.end(), name);
  if (found == variable.state_names.end()) {
    field.fail(fmt::format("the variable '{}' has no state '{}'", variable.name, printable(name)));
  }
  return static_cast<int>(found - variable.state_names.begin());
}

std::vector<FactorDescription> parse_conditions(const JsonField& field, int variable,
                                                const std::vector<Variable>& variables,
                                                const std::map<std::string, int>& places) {
  std::vector<FactorDescription> tables;
  if (!field.has("only_if")) return tables;
  const JsonField conditions = field.at("only_if");
  if (!conditions.json().is_object()) conditions.fail("allowed is an object with a list of states for each variable");
  for (const auto& [name, list] : conditions.json().items()) {
    const JsonField states = conditions.at(name);
    const auto found = places.find(name);
    if (found == places.end()) states.fail(fmt::format("unknown variable '{}'", name));
    if (found->second == variable) states.fail("a variable cannot depend on itself");
    const Variable& other = variables[found->second];
    std::vector<int> matters;
    for (int i = 0; i < states.array_size(); ++i) matters.push_back(parse_state(states.at(i), other));
    if (matters.empty()) states.fail("the list is empty, it has the states in which the variable matters");
    tables.push_back({.scope = {found->second, variable},
                      .log_values = only_if_table(other.num_states, matters, variables[variable].num_states)});
  }
  return tables;
}

json variable_to_json(const Variable& variable) {
  json object = {{"name", variable.name}};
  object["states"] = variable.state_names.empty() ? json(variable.num_states) : json(variable.state_names);
  if (!variable.levels.empty()) object["levels"] = variable.levels;
  return object;
}

}  // namespace treesample

// The fields of a variable in a JSON model: its states, the numbers that ordered states stand for, and where it
// matters.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/json_fields.hpp"
#include "treesample/io/json_model.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// The names of the states if all are numbers, or 0, 1, ... if they have no names. None otherwise.
std::vector<double> state_numbers(const Variable& variable);

// Throws Error (kParse) naming the place.
Variable parse_variable(const JsonField& field);
// A state by its name or, where states have none, by its number.
int parse_state(const JsonField& field, const Variable& variable);
// The conditions of "only_if" of the variable's field, each a table over the other variable and this one. `places` are
// the variables by name.
std::vector<FactorDescription> parse_conditions(const JsonField& field, int variable,
                                                const std::vector<Variable>& variables,
                                                const std::map<std::string, int>& places);
nlohmann::json variable_to_json(const Variable& variable);

}  // namespace treesample

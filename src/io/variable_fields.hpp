// The fields of a variable in a JSON model: its states, and the numbers that ordered states stand for.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "io/json_fields.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// The names of the states, if all are numbers, or 0, 1, ... if they have no names. Nothing otherwise.
std::vector<double> state_numbers(const Variable& variable);

// Throws Error (kParse) naming the place.
Variable parse_variable(const JsonField& field);
nlohmann::json variable_to_json(const Variable& variable);

}  // namespace treesample

// The field "clause" of a factor in a JSON model: a literal for each variable of its scope, at least one of which
// holds. A literal is a state, or {"not": state}.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "io/json_fields.hpp"
#include "treesample/model/factor_graph.hpp"

namespace treesample {

// Throws Error (kParse) naming the place.
std::vector<ClauseLiteral> parse_clause(const JsonField& field, const std::vector<Variable>& variables,
                                        const std::vector<int>& scope);
nlohmann::json clause_to_json(const std::vector<ClauseLiteral>& literals, const std::vector<Variable>& variables,
                              const std::vector<int>& scope);

}  // namespace treesample

#include "io/clause_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "io/variable_fields.hpp"

namespace treesample {

using nlohmann::json;

std::vector<ClauseLiteral> parse_clause(const JsonField& field, const std::vector<Variable>& variables,
                                        const std::vector<int>& scope) {
  const int count = field.array_size();
  if (count != static_cast<int>(scope.size())) {
    field.fail(
        fmt::format("{} literals, allowed is one for each of the {} variables of the scope", count, scope.size()));
  }
  std::vector<ClauseLiteral> literals;
  for (int i = 0; i < count; ++i) {
    const JsonField literal = field.at(i);
    const Variable& variable = variables[scope[i]];
    const bool is_state = !literal.json().is_object();
    if (!is_state) literal.require_object({"not"});
    literals.push_back({parse_state(is_state ? literal : literal.at("not"), variable), is_state});
  }
  return literals;
}

json clause_to_json(const std::vector<ClauseLiteral>& literals, const std::vector<Variable>& variables,
                    const std::vector<int>& scope) {
  json list = json::array();
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const std::vector<std::string>& names = variables[scope[i]].state_names;
    const int s = literals[i].state;
    const json state = names.empty() ? json(s) : json(names[s]);
    list.push_back(literals[i].is_state ? state : json{{"not", state}});
  }
  return list;
}

}  // namespace treesample

#include "answer_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "treesample/io/csv.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/io/file.hpp"
#include "treesample/math/log_domain.hpp"
#include "treesample/model/names.hpp"

namespace treesample::cli {
namespace {

std::string number(double value) { return fmt::format("{}", value + 0.0); }
std::string number(const std::optional<double>& value) { return value ? number(*value) : ""; }

std::optional<double> error_of(const Answer& answer, int v) {
  if (answer.marginal_errors.empty() || !std::isfinite(answer.marginal_errors[v])) return {};
  return answer.marginal_errors[v];
}

// The queries or, if there are none, the marginals of all variables.
std::vector<QueryAnswer> asked(const Answer& answer, const FactorGraph& graph) {
  if (!answer.queries.empty()) return answer.queries;
  std::vector<QueryAnswer> all;
  for (int v = 0; v < graph.num_variables(); ++v) {
    QueryAnswer& one = all.emplace_back(QueryAnswer{{v}, {}, {}});
    if (answer.marginals.empty()) continue;
    one.probabilities = answer.marginals[v];
    one.error = error_of(answer, v);
  }
  return all;
}

std::size_t num_configurations(const QueryAnswer& query, const FactorGraph& graph) {
  std::size_t count = 1;
  for (const int v : query.variables) count *= static_cast<std::size_t>(graph.num_states(v));
  return count;
}

// The names of the variables, separated by commas as --query takes them.
std::string variables_text(const QueryAnswer& query, const FactorGraph& graph) {
  std::vector<std::string> names;
  for (const int v : query.variables) names.push_back(variable_name(graph, v));
  return names.size() == 1 ? names.front() : joined_names(names);
}

std::string states_text(const QueryAnswer& query, const FactorGraph& graph, std::size_t row) {
  std::vector<std::string> names;
  for (const auto& [variable, state] : query_states(query, graph, row)) {
    names.push_back(state_name(graph, variable, state));
  }
  return names.size() == 1 ? names.front() : joined_names(names);
}

}  // namespace

void write_marginals(const Answer& answer, const FactorGraph& graph, const std::string& path) {
  std::string text = csv_line({"variable", "state", "probability", "error"});
  for (const QueryAnswer& query : asked(answer, graph)) {
    for (std::size_t i = 0; i < query.probabilities.size(); ++i) {
      text += csv_line({variables_text(query, graph), states_text(query, graph, i), number(query.probabilities[i]),
                        number(query.error)});
    }
  }
  write_file_atomically(path, text);
}

void write_samples(const Answer& answer, const FactorGraph& graph, const std::string& path) {
  std::vector<std::string> fields;
  for (int v = 0; v < graph.num_variables(); ++v) fields.push_back(variable_name(graph, v));
  std::string text = csv_line(fields);
  for (const Assignment& sample : answer.samples) {
    for (std::size_t v = 0; v < sample.size(); ++v) fields[v] = state_name(graph, static_cast<int>(v), sample[v]);
    text += csv_line(fields);
  }
  write_file_atomically(path, text);
}

void CaseTable::add(const std::string& label, const Answer& answer) {
  const std::vector<QueryAnswer> queries = asked(answer, graph_);
  if (num_rows_++ == 0) {
    std::vector<std::string> header = {"case", "log_z", "lower", "upper", "exact", "conflict", "error"};
    if (answer.map) header.insert(header.end(), {"map", "map_log_sum", "map_log_upper"});
    for (const QueryAnswer& query : queries) {
      for (std::size_t i = 0; i < num_configurations(query, graph_); ++i) {
        header.push_back(fmt::format("P({})", observations_text(graph_, {query_states(query, graph_, i), {}})));
      }
    }
    text_ += csv_line(header);
  }
  const bool has_nothing = answer.log_z == kNegInf && !answer.is_exact;
  std::vector<std::string> fields = {label,
                                     has_nothing ? "" : number(answer.log_z),
                                     number(answer.lower),
                                     number(answer.upper),
                                     answer.is_exact ? "yes" : "no",
                                     observations_text(graph_, answer.conflict),
                                     number(answer.marginals_error)};
  if (answer.map) {
    Observations states;
    for (std::size_t i = 0; i < answer.map->states.size(); ++i) {
      states.states.push_back({answer.map->variables[i], answer.map->states[i]});
    }
    fields.push_back(observations_text(graph_, states));
    fields.push_back(number(answer.map->log_value.lower));
    fields.push_back(number(answer.map->log_upper));
  }
  for (const QueryAnswer& query : queries) {
    for (std::size_t i = 0; i < num_configurations(query, graph_); ++i) {
      fields.push_back(query.probabilities.empty() ? "" : number(query.probabilities[i]));
    }
  }
  text_ += csv_line(fields);
}

}  // namespace treesample::cli

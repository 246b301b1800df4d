#include "answer_tables.hpp"

#include <fmt/format.h>

#include <vector>

#include "treesample/io/csv.hpp"
#include "treesample/io/file.hpp"
#include "treesample/model/names.hpp"
#include "treesample/page/answer_json.hpp"

namespace treesample::cli {
namespace {

std::string number_cell(double value) { return fmt::format("{}", value + 0.0); }
std::string number_cell(const std::optional<double>& value) { return value ? number_cell(*value) : ""; }

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
  for (const QueryAnswer& query : asked_probabilities(answer, graph)) {
    for (std::size_t i = 0; i < query.probabilities.size(); ++i) {
      text += csv_line({variables_text(query, graph), states_text(query, graph, i), number_cell(query.probabilities[i]),
                        number_cell(query.error)});
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

}  // namespace treesample::cli

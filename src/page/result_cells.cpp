// The columns of the table of many cases.
#include <fmt/format.h>

#include <cmath>

#include "page/result_table.hpp"
#include "treesample/io/evidence_file.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

std::string number(double value) { return fmt::format("{}", value + 0.0); }
std::string number(const std::optional<double>& value) { return value ? number(*value) : ""; }
const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

std::size_t num_configurations(const QueryAnswer& query, const FactorGraph& graph) {
  std::size_t count = 1;
  for (const int v : query.variables) count *= static_cast<std::size_t>(graph.num_states(v));
  return count;
}

}  // namespace

std::vector<QueryAnswer> asked_probabilities(const Answer& answer, const FactorGraph& graph) {
  if (!answer.queries.empty()) return answer.queries;
  std::vector<QueryAnswer> all;
  for (int v = 0; v < graph.num_variables(); ++v) {
    QueryAnswer& one = all.emplace_back(QueryAnswer{{v}, {}, {}});
    if (answer.marginals.empty()) continue;
    one.probabilities = answer.marginals[v];
    const bool has_error = !answer.marginal_errors.empty() && std::isfinite(answer.marginal_errors[v]);
    if (has_error) one.error = answer.marginal_errors[v];
  }
  return all;
}

void log_z_cells(Cells& cells, const Shown& shown) {
  const Answer& answer = shown.answer;
  const bool has_nothing = answer.log_z == kNegInf && !answer.is_exact;
  cells.add("log_z", has_nothing ? "" : number(answer.log_z));
  cells.add("lower", number(answer.lower));
  cells.add("upper", number(answer.upper));
  cells.add("exact", yes_or_no(answer.is_exact));
}

void conflict_cells(Cells& cells, const Shown& shown) {
  cells.add("conflict", observations_text(shown.graph(), shown.answer.conflict));
}

void best_cells(Cells& cells, const Shown& shown) {
  if (shown.question().aim != Aim::kBest) return;
  const std::optional<Configuration>& best = shown.answer.best;
  Observations states;
  for (std::size_t v = 0; best && v < best->x.size(); ++v) states.states.push_back({static_cast<int>(v), best->x[v]});
  cells.add("best", observations_text(shown.graph(), states));
  cells.add("best_log_density", best ? number(best->log_density) : "");
  cells.add("best_optimal", best ? yes_or_no(shown.answer.is_best_optimal == true) : "");
}

void map_cells(Cells& cells, const Shown& shown) {
  if (shown.question().map.empty()) return;
  const std::optional<MapAnswer>& map = shown.answer.map;
  Observations states;
  for (std::size_t i = 0; map && i < map->states.size(); ++i) {
    states.states.push_back({map->variables[i], map->states[i]});
  }
  cells.add("map", observations_text(shown.graph(), states));
  cells.add("map_log_sum", map ? number(map->log_value.lower) : "");
  cells.add("map_log_upper", map ? number(map->log_upper) : "");
}

void marginals_error_cells(Cells& cells, const Shown& shown) {
  if (shown.question().aim != Aim::kAll) return;
  cells.add("error", number(shown.answer.marginals_error));
}

void marginals_cells(Cells& cells, const Shown& shown) {
  if (shown.question().aim != Aim::kAll) return;
  const FactorGraph& graph = shown.graph();
  for (const QueryAnswer& query : asked_probabilities(shown.answer, graph)) {
    for (std::size_t i = 0; i < num_configurations(query, graph); ++i) {
      const auto column = [&] {
        return fmt::format("P({})", observations_text(graph, {query_states(query, graph, i), {}}));
      };
      cells.add(column, query.probabilities.empty() ? "" : number(query.probabilities[i]));
    }
  }
}

}  // namespace treesample

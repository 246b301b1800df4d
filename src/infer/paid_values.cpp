#include "infer/paid_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "monotone/monotone_hint.hpp"
#include "space/known_configurations.hpp"
#include "surrogate/asked_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

bool is_noisy(const std::vector<KnownValue>& known) {
  std::map<std::pair<int, std::vector<int>>, double> first;
  for (const KnownValue& value : known) {
    const auto [place, is_new] = first.emplace(std::pair(value.factor, value.states), value.log_value);
    if (!is_new && place->second != value.log_value) return true;
  }
  return false;
}

std::string name_of(const FactorGraph& graph, int factor) {
  int num_functions = 0;
  for (const Factor& each : graph.factors()) num_functions += each.is_table() ? 0 : 1;
  return num_functions == 1 ? "the function" : fmt::format("factor {}", factor);
}

}  // namespace

PaidValues paid_values(const FactorGraph& graph) {
  PaidValues paid;
  if (graph.evaluation_queue() == nullptr || graph.has_only_tables()) return paid;
  const std::vector<KnownValue> known = graph.evaluation_queue()->known_values();
  if (known.empty() || is_noisy(known)) return paid;
  AskedSum sum;
  for (const KnownConfiguration& configuration : known_configurations(graph, known)) {
    sum.add(configuration.log_density, configuration.log_error);
    if (paid.best && configuration.log_density <= paid.best->log_density) continue;
    paid.best = Configuration{configuration.x, configuration.log_density};
    paid.best_error = configuration.log_error;
  }
  if (paid.best) paid.log_lower = sum.bounds().lower;
  if (const std::optional<MonotoneHint> hint = monotone_hint(graph, known)) {
    paid.hint = hint_text(*hint, graph, name_of(graph, hint->factor));
  }
  return paid;
}

}  // namespace treesample

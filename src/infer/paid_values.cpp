#include "infer/paid_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "infer/noise_option.hpp"
#include "space/asked_sum.hpp"
#include "space/known_configurations.hpp"
#include "space/monotone_hint.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// The first value at each of the states, where evaluations that were made again have given the same; nothing where the
// values are noisy.
std::vector<KnownValue> steady_values(std::vector<KnownValue> known) {
  std::map<std::pair<int, std::vector<int>>, double> first;
  std::vector<KnownValue> steady;
  for (KnownValue& value : known) {
    const auto [place, is_new] = first.emplace(std::pair(value.factor, value.states), value.log_value);
    if (!is_new && place->second != value.log_value) return {};
    if (is_new) steady.push_back(std::move(value));
  }
  return steady;
}

std::string name_of(const FactorGraph& graph, int factor) {
  int num_functions = 0;
  for (const Factor& each : graph.factors()) num_functions += each.is_table() ? 0 : 1;
  return num_functions == 1 ? "the function" : fmt::format("factor {}", factor);
}

}  // namespace

std::string add_paid_values(Draft& draft, const FactorGraph& graph, const InferOptions& options) {
  constexpr std::int64_t kMostSteps = 200'000;
  const bool is_declared_noisy = noise_of(options.noise).noise.is_there;
  if (graph.evaluation_queue() == nullptr || graph.has_only_tables() || is_declared_noisy) return "";
  const std::vector<KnownValue> known = steady_values(graph.evaluation_queue()->known_values());
  if (known.empty()) return "";
  AskedSum sum;
  KnownConfiguration best{{}, kNegInf, 0.0};
  for (const KnownConfiguration& configuration : known_configurations(graph, known, kMostSteps)) {
    sum.add(configuration.log_density, configuration.log_error);
    if (configuration.log_density > best.log_density) best = configuration;
  }
  if (best.log_density != kNegInf) {
    draft.known.bound(LogBounds::at_least(sum.bounds().lower));
    draft.known.best.offer({best.x, best.log_density}, best.log_error);
  }
  const std::optional<MonotoneHint> hint = monotone_hint(graph, known);
  return hint ? hint_text(*hint, graph, name_of(graph, hint->factor)) : "";
}

}  // namespace treesample

#include "observed_words.hpp"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "source_text.hpp"
#include "treesample/parse_number.hpp"
#include "treesample/text.hpp"

namespace treesample {

void refuse_observation(const std::string& message) { throw Error(ErrorCode::kArgument, message); }

std::string cited(std::string_view text) { return fmt::format("'{}'", shortened(text, 60)); }

void keep_one_each(Observations& known, const Names& names, std::string_view source_name,
                   std::span<const std::size_t> lines) {
  std::unordered_map<int, int> states;
  Evidence kept;
  for (std::size_t i = 0; i < known.states.size(); ++i) {
    const auto [variable, state] = known.states[i];
    const auto [seen, is_new] = states.emplace(variable, state);
    if (is_new) kept.push_back(known.states[i]);
    if (seen->second == state) continue;
    const FactorGraph& graph = names.graph();
    const std::string message =
        fmt::format("variable {} is observed in state {} and in state {}", cited(variable_name(graph, variable)),
                    cited(state_name(graph, variable, seen->second)), cited(state_name(graph, variable, state)));
    if (lines.empty()) refuse_observation(message);
    at_line(source_name, lines[i], [&] { refuse_observation(message); });
  }
  known.states = std::move(kept);
}

void observe_soft(Observations& known, const Names& names, int variable, std::vector<double> weights) {
  const std::string problem = weights_problem(weights, names.graph().num_states(variable));
  if (!problem.empty()) {
    refuse_observation(fmt::format("variable {}: {}", cited(variable_name(names.graph(), variable)), problem));
  }
  known.soft.push_back({variable, std::move(weights)});
}

double weight_of(std::string_view text) {
  const std::optional<double> weight = parse_real(trimmed(text));
  if (!weight) refuse_observation(fmt::format("{} is no weight, allowed are {}", cited(text), kAllowedWeights));
  return *weight;
}

}  // namespace treesample

#include "diagram_draft.hpp"

#include <algorithm>
#include <cmath>

#include "treesample/parse_number.hpp"

namespace treesample {
namespace {

// By variable: whether what is decided has an influence on it.
std::vector<char> influenced_by(const FactorGraph& graph, const std::vector<Decision>& decisions, int variable) {
  std::vector<char> is_influenced(static_cast<std::size_t>(graph.num_variables()), 0);
  std::vector<int> open{variable};
  const auto reach = [&](int child) {
    if (std::exchange(is_influenced[child], 1) == 0) open.push_back(child);
  };
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    for (const Factor& factor : graph.factors()) {
      const std::vector<int>& scope = factor.scope();
      if (std::find(scope.begin(), scope.end() - 1, v) != scope.end() - 1) reach(scope.back());
    }
    for (const Decision& later : decisions) {
      if (std::find(later.known.begin(), later.known.end(), v) != later.known.end()) reach(later.variable);
    }
  }
  return is_influenced;
}

}  // namespace

std::string DiagramDraft::missing() const {
  for (const auto& [name, utility] : utilities_) {
    if (!utility.second) return name;
  }
  return "";
}

DecisionModel DiagramDraft::finish(FactorGraph graph) && {
  DecisionModel model{std::move(graph), {}, {}};
  for (auto& [name, utility] : utilities_) model.utilities.push_back(std::move(utility.first));
  std::vector<Decision> left = decisions_;
  while (!left.empty()) {
    // The first one that none of the others has an influence on; in a cycle, the first one.
    const auto is_first = [&](const Decision& one) {
      return std::none_of(left.begin(), left.end(), [&](const Decision& other) {
        return other.variable != one.variable && influenced_by(model.graph, decisions_, other.variable)[one.variable];
      });
    };
    auto next = std::find_if(left.begin(), left.end(), is_first);
    if (next == left.end()) next = left.begin();
    model.decisions.push_back(*next);
    left.erase(next);
  }
  return model;
}

std::optional<double> utility_of(std::string_view token) {
  const std::optional<double> value = parse_real(std::string(token));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace treesample

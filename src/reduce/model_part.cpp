#include "treesample/reduce/model_part.hpp"

#include <map>
#include <optional>
#include <utility>

#include "reduce/barren_variables.hpp"
#include "treesample/error.hpp"

namespace treesample {

// By factor and variable.
struct ModelParts::Known {
  std::map<std::pair<int, int>, std::optional<RowSums>> sums;
};

ModelParts::ModelParts(const FactorGraph& graph) : graph_(&graph), known_(std::make_unique<Known>()) {}
ModelParts::~ModelParts() = default;

ModelPart ModelParts::with(std::span<const int> variables) {
  std::vector<char> is_kept(static_cast<std::size_t>(graph_->num_variables()), 0);
  for (const int v : variables) {
    check_range("ModelParts", "variable", v, 0, graph_->num_variables() - 1);
    is_kept[v] = 1;
  }
  const BarrenVariables barren = barren_variables(*graph_, is_kept, [&](int m, int v) {
    const auto [at, is_first] = known_->sums.try_emplace({m, v});
    if (is_first) at->second = constant_sums(*graph_, m, v);
    return at->second;
  });
  ModelPart part;
  part.log_constant = barren.log_constant;
  part.log_slack = barren.log_slack;
  std::vector<char> is_gone(is_kept.size(), 0);
  for (const BarrenVariable& one : barren.removed) is_gone[one.variable] = 1;
  for (int v = 0; v < graph_->num_variables(); ++v) {
    if (is_gone[v] == 0) part.variables.push_back(v);
  }
  for (int m = 0; m < graph_->num_factors(); ++m) {
    if (barren.has_factor[m] != 0) part.factors.push_back(m);
  }
  return part;
}

}  // namespace treesample

#include "space/reward_tables.hpp"

#include <algorithm>

#include "math/reward_factor.hpp"

namespace treesample {
namespace {

// Empty if R depends on more variables than a table can have.
std::vector<int> scope_of(const FactorGraph& graph, const Level& level) {
  std::vector<int> scope{level.variable};
  for (const int factor : level.factors) {
    for (const int v : graph.factor(factor).scope()) {
      if (std::find(scope.begin(), scope.end(), v) == scope.end()) scope.push_back(v);
    }
    if (scope.size() > 1 + RewardTable::kMostOthers) return {};
  }
  return scope;
}

// The number of entries of a table over these variables; 0 if no table is made.
std::size_t num_entries(const FactorGraph& graph, const std::vector<int>& scope, std::size_t most_entries) {
  std::size_t product = scope.empty() ? 0 : 1;
  for (const int v : scope) {
    product *= static_cast<std::size_t>(graph.num_states(v));
    if (product > most_entries) return 0;
  }
  return product;
}

}  // namespace

RewardTables::RewardTables(const FactorGraph& graph, const SearchSpace& space, const Reward& reward,
                           std::size_t most_entries)
    : tables_(space.levels.size()), factors_(space.levels.size()) {
  Assignment x(static_cast<std::size_t>(graph.num_variables()), 0);
  for (int n = 0; n < space.num_levels(); ++n) {
    const Level& level = space.levels[n];
    if (!reward.functions(n).empty()) continue;
    const std::vector<int> scope = scope_of(graph, level);
    std::vector<double>& factors = factors_[n];
    factors.resize(num_entries(graph, scope, most_entries));
    most_entries -= factors.size();
    for (double& factor : factors) {
      int num_evaluated = 0;
      factor = factor_of_reward(reward.table_sum(n, x, num_evaluated));
      for (const int v : scope) {  // moves on to the next states, the first variable fastest
        if (++x[v] < graph.num_states(v)) break;
        x[v] = 0;
      }
    }
    if (std::any_of(factors.begin(), factors.end(), [](double factor) { return factor < 0.0; })) factors = {};
    if (factors.empty()) continue;
    tables_[n].factors = factors.data();
    int stride = 1;
    for (std::size_t i = 1; i < scope.size(); ++i) {
      stride *= graph.num_states(scope[i - 1]);
      tables_[n].others[i - 1] = scope[i];
      tables_[n].strides[i - 1] = stride;
    }
  }
}

std::vector<bool> RewardTables::are_missing() const {
  std::vector<bool> result;
  for (const RewardTable& table : tables_) result.push_back(table.factors == nullptr);
  return result;
}

}  // namespace treesample

#include "evaluate/factor_means.hpp"

#include <algorithm>

#include "model/table_index.hpp"

namespace treesample {
namespace {

// All entries of a factor, row-major over `order`, the positions of its scope from slowest to fastest.
std::vector<double> entries_in_order(const FactorGraph& graph, int factor_index, const std::vector<int>& order) {
  const Factor& factor = graph.factor(factor_index);
  const std::vector<int>& scope = factor.scope();
  const std::vector<std::size_t> strides = table_strides(states_of_scope(graph, scope));
  std::vector<double> entries(scope.empty() ? 1 : strides[0] * graph.num_states(scope[0]));
  std::vector<int> states(scope.size(), 0);
  std::size_t index = 0;  // position of `states` in the factor's own table
  for (double& entry : entries) {
    entry = factor.is_table() ? factor.log_values()[index] : checked_function_value(graph, factor_index, states);
    for (auto p = order.rbegin(); p != order.rend(); ++p) {
      index += strides[*p];
      if (++states[*p] < graph.num_states(scope[*p])) break;
      index -= strides[*p] * states[*p];
      states[*p] = 0;
    }
  }
  return entries;
}

std::vector<double> row_means(const std::vector<double>& table, int row_size) {
  std::vector<double> means(table.size() / row_size, 0.0);
  for (std::size_t row = 0; row < means.size(); ++row) {
    for (int s = 0; s < row_size; ++s) means[row] += table[row * row_size + s];
    means[row] /= row_size;
  }
  return means;
}

// Stops above the limit, so that wide scopes do not overflow.
std::int64_t num_entries_up_to(const FactorGraph& graph, const Factor& factor, std::int64_t limit) {
  std::int64_t count = 1;
  for (const int v : factor.scope()) {
    if (count > limit / graph.num_states(v)) return limit + 1;
    count *= graph.num_states(v);
  }
  return count;
}

}  // namespace

std::optional<std::vector<FactorMeans>> factor_means(const FactorGraph& graph, const SearchSpace& space,
                                                     std::int64_t max_function_entries, std::int64_t& num_evaluations) {
  std::int64_t num_function_entries = 0;
  for (const Factor& factor : graph.factors()) {
    if (factor.is_table()) continue;
    num_function_entries += num_entries_up_to(graph, factor, max_function_entries);
    if (num_function_entries > max_function_entries) return std::nullopt;
  }
  num_evaluations += num_function_entries;
  std::vector<int> level_of(graph.num_variables());
  for (int n = 0; n < space.num_levels(); ++n) level_of[space.levels[n].variable] = n;
  std::vector<FactorMeans> result(graph.num_factors());
  for (int m = 0; m < graph.num_factors(); ++m) {
    const std::vector<int>& scope = graph.factor(m).scope();
    std::vector<int> order(scope.size());  // positions of the scope by level
    for (std::size_t p = 0; p < scope.size(); ++p) order[p] = static_cast<int>(p);
    std::sort(order.begin(), order.end(), [&](int p, int q) { return level_of[scope[p]] < level_of[scope[q]]; });
    FactorMeans& means = result[m];
    for (const int p : order) means.levels.push_back(level_of[scope[p]]);
    means.given.resize(scope.size() + 1);
    means.given.back() = entries_in_order(graph, m, order);
    for (std::size_t j = scope.size(); j-- > 0;) {
      means.given[j] = row_means(means.given[j + 1], space.levels[means.levels[j]].num_states);
    }
  }
  return result;
}

}  // namespace treesample

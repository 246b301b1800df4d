#include "value/reduced_tables.hpp"

#include <algorithm>
#include <cmath>

#include "model/dense_table.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

// Entries of a factor with its variables in the order of `scope`, the last one fastest.
std::vector<double> entries_in_order(const FactorGraph& graph, const Factor& factor, std::span<const int> scope) {
  std::vector<double> entries(num_table_entries(graph, scope));
  Assignment x(graph.num_variables(), 0);
  for (double& entry : entries) {
    entry = factor.log_values()[table_index(graph, factor, x)];
    for (auto v = scope.rbegin(); v != scope.rend() && ++x[*v] == graph.num_states(*v); ++v) x[*v] = 0;
  }
  return entries;
}

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0.0);
  return largest;
}

}  // namespace

ReducedTables::ReducedTables(const FactorGraph& graph, const SearchSpace& space, const ReduceRow& reduce,
                             const std::vector<double>& own)
    : rounding_(space.levels.size(), 0.0) {
  std::vector<int> level_of(graph.num_variables());
  for (int n = 0; n < space.num_levels(); ++n) level_of[space.levels[n].variable] = n;
  std::vector<double> constants = own;
  std::vector<double> magnitudes(space.levels.size(), 1.0);
  std::vector<int> num_terms(space.levels.size(), 8);
  std::vector<std::vector<int>> tables_of(space.levels.size());  // by level: what its row adds up
  for (int deepest = 0; deepest < space.num_levels(); ++deepest) {
    for (const int m : space.levels[deepest].factors) {
      if (!graph.factor(m).is_table()) {
        constants[deepest] += *graph.factor(m).log_max();
        continue;
      }
      std::vector<int> scope = graph.factor(m).scope();
      std::sort(scope.begin(), scope.end(), [&](int v, int w) { return level_of[v] < level_of[w]; });
      std::vector<double> entries = entries_in_order(graph, graph.factor(m), scope);
      int n = deepest;
      while (true) {
        const int variable = scope.back();
        const auto num_states = static_cast<std::size_t>(graph.num_states(variable));
        for (std::size_t row = 0; row < entries.size() / num_states; ++row) {
          entries[row] = reduce(variable, {&entries[row * num_states], num_states});
        }
        entries.resize(entries.size() / num_states);
        scope.pop_back();
        const int from = n;
        n = scope.empty() ? -1 : level_of[scope.back()];
        const double magnitude = largest_magnitude(entries);
        for (int on_path = from; on_path != n && on_path >= 0; on_path = space.levels[on_path].parent) {
          magnitudes[on_path] += magnitude;
          ++num_terms[on_path];
          if (!scope.empty()) tables_of[on_path].push_back(static_cast<int>(tables_.size()));
        }
        if (scope.empty()) {
          // Where the path ends the entry is one number; levels further up get it with the constants.
          constants[from] += entries.front();
          break;
        }
        tables_.push_back(entries);
        scopes_.push_back(scope);
      }
    }
  }
  for (int n = space.num_levels() - 1; n >= 0; --n) {
    const int parent = space.levels[n].parent;
    if (parent >= 0) constants[parent] += constants[n];
  }
  for (int n = 0; n < space.num_levels(); ++n) {
    rows_.begin_row(constants[n]);
    for (const int t : tables_of[n]) rows_.add(graph, {scopes_[t], tables_[t].data()});
    // Adding up t numbers is off by at most t 2^-53 times the sum of their magnitudes.
    const double others = std::isfinite(constants[n]) ? std::abs(constants[n]) : 0.0;
    rounding_[n] = 0x1.0p-52 * num_terms[n] * (magnitudes[n] + others);
  }
}

}  // namespace treesample

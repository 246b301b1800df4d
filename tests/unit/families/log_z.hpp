// log Z by summing out one variable after the other: slow, plain, and independent of the library's inference.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample::testing {

struct LogTable {
  std::vector<int> scope;
  std::vector<double> values;
};

inline double table_at(const LogTable& table, const FactorGraph& graph, const Assignment& x) {
  std::size_t index = 0;
  for (const int v : table.scope) index = index * graph.num_states(v) + x[v];
  return table.values[index];
}

inline std::vector<int> joint_scope(const std::vector<LogTable>& tables, int v) {
  std::vector<int> scope;
  for (const LogTable& table : tables) {
    if (std::count(table.scope.begin(), table.scope.end(), v) == 0) continue;
    for (const int u : table.scope) {
      if (u != v && std::count(scope.begin(), scope.end(), u) == 0) scope.push_back(u);
    }
  }
  return scope;
}

// log sum over x_v of exp(sum of the tables that have v in their scope), as one table over the other variables.
inline void sum_out(const FactorGraph& graph, int v, std::vector<LogTable>& tables) {
  LogTable sum{joint_scope(tables, v), {}};
  const auto touched = std::partition(tables.begin(), tables.end(), [v](const LogTable& t) {
    return std::count(t.scope.begin(), t.scope.end(), v) == 0;
  });
  Assignment x(graph.num_variables(), 0);
  bool is_done = false;
  while (!is_done) {
    double total = 0.0;
    for (x[v] = 0; x[v] < graph.num_states(v); ++x[v]) {
      double log_product = 0.0;
      for (auto table = touched; table != tables.end(); ++table) log_product += table_at(*table, graph, x);
      total += std::exp(log_product);
    }
    sum.values.push_back(std::log(total));
    is_done = true;  // until a digit of the counter can be raised; the last variable is the fastest
    for (auto u = sum.scope.rbegin(); u != sum.scope.rend() && is_done; ++u) {
      is_done = ++x[*u] == graph.num_states(*u);
      if (is_done) x[*u] = 0;
    }
  }
  tables.erase(touched, tables.end());
  tables.push_back(std::move(sum));
}

inline double log_z(const FactorGraph& graph) {
  std::vector<LogTable> tables;
  for (const Factor& factor : graph.factors()) tables.push_back({factor.scope(), factor.log_values()});
  std::vector<int> left;
  for (int v = 0; v < graph.num_variables(); ++v) left.push_back(v);
  while (!left.empty()) {
    const auto next = std::min_element(left.begin(), left.end(), [&](int a, int b) {
      return joint_scope(tables, a).size() < joint_scope(tables, b).size();
    });
    sum_out(graph, *next, tables);
    left.erase(next);
  }
  double sum = 0.0;
  for (const LogTable& table : tables) sum += table.values[0];
  return sum;
}

}  // namespace treesample::testing

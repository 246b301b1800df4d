#include "reduce/barren_variables.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"

namespace treesample {
namespace {

// Rows of a conditional probability table add up to 1 within this, unless they were rounded when they were written.
constexpr double kConstant = 0x1.0p-44;

}  // namespace

std::optional<RowSums> constant_sums(const FactorGraph& graph, int m, int variable) {
  const Factor& factor = graph.factor(m);
  if (!factor.is_table() || factor.is_clause()) return {};
  const std::vector<double>& values = factor.log_values();
  const auto place = std::find(factor.scope().begin(), factor.scope().end(), variable) - factor.scope().begin();
  const std::size_t stride = stride_at(states_of_scope(graph, factor.scope()), static_cast<std::size_t>(place));
  const auto num_states = static_cast<std::size_t>(graph.num_states(variable));
  RowSums sums;
  std::vector<double> row(num_states);
  for (std::size_t block = 0; block < values.size(); block += stride * num_states) {
    for (std::size_t i = block; i < block + stride; ++i) {
      for (std::size_t s = 0; s < num_states; ++s) row[s] = values[i + s * stride];
      const double sum = log_sum_exp(row);
      if (sum == kNegInf) return {};
      sums.least = std::min(sums.least, sum);
      sums.most = std::max(sums.most, sum);
      if (sums.most - sums.least > kConstant) return {};
    }
  }
  return sums;
}

BarrenVariables barren_variables(const FactorGraph& graph, const std::vector<char>& is_kept, const SumsOf& sums_of) {
  BarrenVariables result;
  result.has_factor.assign(static_cast<std::size_t>(graph.num_factors()), 1);
  CompensatedSum constant;
  // The number of factors that a variable has, and all their indices combined into one number. When one factor is left,
  // that number is its index.
  struct Factors {
    int count = 0, all = 0;
    void change(int m, int by) {
      count += by;
      all ^= m;
    }
  };
  std::vector<Factors> factors_of(static_cast<std::size_t>(graph.num_variables()));
  for (int m = 0; m < graph.num_factors(); ++m) {
    for (const int v : graph.factor(m).scope()) factors_of[v].change(m, 1);
  }
  std::vector<int> open;  // variables with at most one factor, to be examined
  for (int v = graph.num_variables(); v-- > 0;) {
    if (factors_of[v].count <= 1) open.push_back(v);
  }
  std::vector<char> is_gone(factors_of.size(), 0);
  while (!open.empty()) {
    const int v = open.back();
    open.pop_back();
    if (is_gone[v] != 0 || (!is_kept.empty() && is_kept[v] != 0)) continue;
    if (factors_of[v].count == 0) {
      result.removed.push_back({.variable = v});
      is_gone[v] = 1;
      constant.add(std::log(graph.num_states(v)));
      continue;
    }
    const int m = factors_of[v].all;
    const std::optional<RowSums> sums = sums_of(m, v);
    if (!sums) continue;
    result.removed.push_back({v, m, *sums});
    is_gone[v] = 1;
    constant.add(sums->least);
    // The rounding of the sums, and the precision of the entries (math/compensated_sum.hpp). Entries far below the
    // largest one of their row do not count.
    const auto states = static_cast<double>(graph.num_states(v));
    const double largest = std::max(std::abs(sums->least), std::abs(sums->most)) + std::log(states);
    result.log_slack += sums->most - sums->least + kEpsilon * (states + 18.0 + 4.0 * largest);
    result.has_factor[m] = 0;
    for (const int u : graph.factor(m).scope()) {
      factors_of[u].change(m, -1);
      if (u != v && factors_of[u].count <= 1) open.push_back(u);
    }
  }
  result.log_constant = constant.value();
  result.log_slack += result.removed.empty() ? 0.0 : constant.error();
  return result;
}

}  // namespace treesample

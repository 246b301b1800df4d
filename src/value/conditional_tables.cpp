#include "value/conditional_tables.hpp"

namespace treesample {

void ConditionalTables::make(const FactorGraph& graph, int level, std::span<const int> scope, const Write& write) {
  double num_entries = 1.0;
  for (const int v : scope) num_entries *= graph.num_states(v);
  if (num_entries > kMostEntries || numbers_.size() + 2 * static_cast<std::size_t>(num_entries) > kMostInAll) return;
  const std::span<const int> context = scope.first(scope.size() - 1);
  Row& row = rows_[static_cast<std::size_t>(level)];
  row.num_states = static_cast<std::size_t>(graph.num_states(scope.back()));
  row.first = numbers_.size();
  row.first_stride = strides_.size();
  std::size_t stride = 2 * row.num_states;
  for (const int v : context) {
    strides_.emplace_back(v, stride);
    stride *= static_cast<std::size_t>(graph.num_states(v));
  }
  row.end_stride = strides_.size();
  numbers_.resize(row.first + stride);
  Assignment x(static_cast<std::size_t>(graph.num_variables()), -1);
  for (const int v : context) x[v] = 0;
  for (std::size_t place = row.first; place < numbers_.size(); place += 2 * row.num_states) {
    const std::span<double> probs(numbers_.data() + place, row.num_states);
    write(x, probs, {probs.data() + row.num_states, row.num_states});
    for (const int v : context) {
      if (++x[v] < graph.num_states(v)) break;
      x[v] = 0;
    }
  }
}

}  // namespace treesample

// The positions of a table's entries. Tables are row-major over their scope, last variable fastest (the order of UAI
// files); only this file computes with that layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "treesample/model/factor_graph.hpp"

namespace treesample {

// The step from a state of the variable at `place` to the next.
inline std::size_t stride_at(std::span<const int> num_states, std::size_t place) {
  std::size_t stride = 1;
  for (const int count : num_states.subspan(place + 1)) stride *= static_cast<std::size_t>(count);
  return stride;
}

// The strides, by place in the scope.
inline std::vector<std::size_t> table_strides(std::span<const int> num_states) {
  std::vector<std::size_t> strides(num_states.size());
  std::size_t stride = 1;
  for (std::size_t place = num_states.size(); place-- > 0;) {
    strides[place] = stride;
    stride *= static_cast<std::size_t>(num_states[place]);
  }
  return strides;
}

inline std::vector<int> states_of_scope(const FactorGraph& graph, std::span<const int> scope) {
  std::vector<int> num_states;
  num_states.reserve(scope.size());
  for (const int v : scope) num_states.push_back(graph.num_states(v));
  return num_states;
}

// The entry of a configuration `x`, which has a state for each variable of the model.
inline std::size_t table_index(const FactorGraph& graph, std::span<const int> scope, std::span<const int> x) {
  std::size_t index = 0;
  for (const int v : scope) {
    index = index * static_cast<std::size_t>(graph.num_states(v)) + static_cast<std::size_t>(x[v]);
  }
  return index;
}

// The entries of all states of v, with the other variables as in x: first, first + stride, ...
struct TableRow {
  std::size_t first = 0, stride = 1;
};
inline TableRow table_row(const FactorGraph& graph, std::span<const int> scope, int v, std::span<const int> x) {
  TableRow row;
  for (const int u : scope) {
    const auto num_states = static_cast<std::size_t>(graph.num_states(u));
    row.first = row.first * num_states + static_cast<std::size_t>(u == v ? 0 : x[u]);
    row.stride = u == v ? 1 : row.stride * num_states;
  }
  return row;
}

// True if the entries do not change along the variable at `place`.
bool is_flat(std::span<const int> num_states, std::span<const double> values, std::size_t place);
// Removes the variables along which nothing changes; returns true if there were any. `num_states` are those of the
// scope.
bool drop_flat_variables(std::vector<int> num_states, std::vector<int>& scope, std::vector<double>& values);

// A table as part of a larger one that is visited in blocks of consecutive entries:
//
//   large scope   [ outer variables | inner variables ]      block = all entries of the inner ones
//   table entry   = offset (moves with the outer states) + inner_index[position in the block]
struct TablePlace {
  enum class Shape { kSame, kConstant, kGeneral };  // of inner_index: 0, 1, 2, ...; all 0; anything

  std::vector<std::size_t> outer_strides;
  std::vector<std::uint32_t> inner_index;  // only for kGeneral
  Shape shape = Shape::kGeneral;
};

// For each variable of `scope`, a superset of `table_scope`: the step in the table when the variable's state increases
// by one; 0 for a variable that the table does not have.
std::vector<std::size_t> strides_in(const FactorGraph& graph, std::span<const int> table_scope,
                                    std::span<const int> scope);
// `strides` must come from strides_in; the first num_outer variables of `scope` are the outer ones.
TablePlace table_place(const FactorGraph& graph, std::span<const int> scope, std::size_t num_outer,
                       std::span<const std::size_t> strides);

}  // namespace treesample

#include "model/table_index.hpp"

#include <algorithm>

#include "treesample/error.hpp"

namespace treesample {

bool is_flat(std::span<const int> num_states, std::span<const double> values, std::size_t place) {
  const std::size_t stride = stride_at(num_states, place);
  const std::size_t block = stride * static_cast<std::size_t>(num_states[place]);
  for (std::size_t first = 0; first < values.size(); first += block) {
    for (std::size_t i = first + stride; i < first + block; ++i) {
      if (values[i] != values[i - stride]) return false;
    }
  }
  return true;
}

bool drop_flat_variables(std::vector<int> num_states, std::vector<int>& scope, std::vector<double>& values) {
  const std::size_t old_arity = scope.size();
  for (std::size_t place = scope.size(); place-- > 0;) {
    if (!is_flat(num_states, values, place)) continue;
    const std::size_t stride = stride_at(num_states, place);
    const std::size_t block = stride * static_cast<std::size_t>(num_states[place]);
    std::size_t kept = 0;
    for (std::size_t first = 0; first < values.size(); first += block) {
      for (std::size_t i = first; i < first + stride; ++i) values[kept++] = values[i];
    }
    values.resize(kept);
    num_states.erase(num_states.begin() + static_cast<std::ptrdiff_t>(place));
    scope.erase(scope.begin() + static_cast<std::ptrdiff_t>(place));
  }
  return scope.size() < old_arity;
}

std::vector<std::size_t> strides_in(const FactorGraph& graph, std::span<const int> table_scope,
                                    std::span<const int> scope) {
  std::vector<std::size_t> strides(scope.size(), 0);
  std::size_t stride = 1;
  for (auto v = table_scope.rbegin(); v != table_scope.rend(); ++v) {
    const auto position = std::find(scope.begin(), scope.end(), *v);
    TS_ASSERT(position != scope.end());
    strides[static_cast<std::size_t>(position - scope.begin())] = stride;
    stride *= static_cast<std::size_t>(graph.num_states(*v));
  }
  return strides;
}

TablePlace table_place(const FactorGraph& graph, std::span<const int> scope, std::size_t num_outer,
                       std::span<const std::size_t> strides) {
  TablePlace place;
  place.outer_strides.assign(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(num_outer));
  bool is_same = true, is_constant = true;
  std::size_t block_size = 1;
  for (std::size_t axis = scope.size(); axis-- > num_outer;) {
    const auto num_states = static_cast<std::size_t>(graph.num_states(scope[axis]));
    is_same = is_same && (num_states == 1 || strides[axis] == block_size);
    is_constant = is_constant && (num_states == 1 || strides[axis] == 0);
    block_size *= num_states;
  }
  if (is_same || is_constant) {
    place.shape = is_same ? TablePlace::Shape::kSame : TablePlace::Shape::kConstant;
    return place;
  }
  // Built from the last variable on: each variable repeats the list so far.
  std::vector<std::uint32_t>& index = place.inner_index;
  index.reserve(block_size);
  index.push_back(0);
  for (std::size_t axis = scope.size(); axis-- > num_outer;) {
    const std::size_t length = index.size();
    for (int state = 1; state < graph.num_states(scope[axis]); ++state) {
      const auto shift = static_cast<std::uint32_t>(static_cast<std::size_t>(state) * strides[axis]);
      for (std::size_t i = 0; i < length; ++i) index.push_back(index[i] + shift);
    }
  }
  return place;
}

}  // namespace treesample

#include "count/split_table.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"
#include "model/table_index.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

std::optional<SplitTable> split_off(std::span<const int> num_states, std::span<const double> log_values,
                                    std::size_t position) {
  constexpr double kRounding = 16.0 * kEpsilon;
  const std::size_t stride = stride_at(num_states, position);
  const auto own_size = static_cast<std::size_t>(num_states[position]);
  const std::size_t block = stride * own_size;
  const auto at = [&](std::size_t state, std::size_t other) {
    return log_values[other / stride * block + state * stride + other % stride];
  };
  // The row of the largest entry is subtracted, which loses no precision.
  const auto largest =
      static_cast<std::size_t>(std::max_element(log_values.begin(), log_values.end()) - log_values.begin());
  if (log_values[largest] == kNegInf) return {};
  const std::size_t state0 = largest / stride % own_size;
  const std::size_t other0 = largest / block * stride + largest % stride;
  SplitTable result;
  for (std::size_t state = 0; state < own_size; ++state) result.own.push_back(at(state, other0) - log_values[largest]);
  for (std::size_t other = 0; other < log_values.size() / own_size; ++other) result.rest.push_back(at(state0, other));
  for (std::size_t other = 0; other < result.rest.size(); ++other) {
    for (std::size_t state = 0; state < own_size; ++state) {
      const double value = at(state, other), product = result.own[state] + result.rest[other];
      if ((value == kNegInf) != (product == kNegInf)) return {};
      if (value == kNegInf) continue;
      const double off = std::abs(value - product);
      const double magnitude = std::abs(value) + std::abs(result.own[state]) + std::abs(log_values[largest]);
      if (!(off <= kRounding * (1.0 + magnitude))) return {};
      result.error = std::max(result.error, off + kEpsilon * (1.0 + magnitude));
    }
  }
  return result;
}

}  // namespace treesample

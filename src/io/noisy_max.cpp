#include "noisy_max.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace treesample {
namespace {

// Replaces the law of one degree by that of the stronger of two. All terms are positive, so nothing cancels:
// P(max = k) = P(a = k) P(b is k or weaker) + P(a is weaker than k) P(b = k). Stronger states come first.
void take_stronger(std::span<double> law, std::span<const double> log_other) {
  double tail = 0.0, other_tail = 0.0;  // weaker than k
  for (std::size_t k = law.size(); k-- > 0;) {
    const double mine = law[k], other = std::exp(log_other[k]);
    law[k] = mine * (other_tail + other) + tail * other;
    tail += mine;
    other_tail += other;
  }
}

}  // namespace

std::vector<double> noisy_max_table(const NoisyMax& noisy) {
  const auto num_states = static_cast<std::size_t>(noisy.num_states);
  const std::span<const double> columns = noisy.log_columns;
  std::size_t rows = 1;
  for (const int states : noisy.parent_states) rows *= static_cast<std::size_t>(states);
  std::vector<double> table(rows * num_states);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span<double> law(&table[r * num_states], num_states);
    const std::span<const double> leak = columns.last(num_states);
    std::transform(leak.begin(), leak.end(), law.begin(), [](double log_value) { return std::exp(log_value); });
    std::size_t rest = r, column = columns.size() / num_states - 1;
    for (std::size_t i = noisy.parent_states.size(); i-- > 0;) {
      const auto states = static_cast<std::size_t>(noisy.parent_states[i]);
      column -= states;
      take_stronger(law, columns.subspan((column + rest % states) * num_states, num_states));
      rest /= states;
    }
    std::transform(law.begin(), law.end(), law.begin(), [](double p) { return std::log(p); });
  }
  return table;
}

}  // namespace treesample

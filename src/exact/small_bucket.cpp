#include "exact/small_bucket.hpp"

#include <algorithm>
#include <cmath>

#include "math/compensated_sum.hpp"

namespace treesample {

bool SmallBucket::fits(const FactorGraph& graph, int v, std::span<const int> separator) {
  if (separator.size() > 1) return false;
  const auto num_below = static_cast<std::size_t>(separator.empty() ? 1 : graph.num_states(separator.front()));
  return static_cast<std::size_t>(graph.num_states(v)) * num_below <= kMostEntries;
}

SmallBucket::SmallBucket(const FactorGraph& graph, int v, std::span<const int> separator,
                         std::span<const LinearTable* const> tables)
    : num_states_(static_cast<std::size_t>(graph.num_states(v))),
      num_below_(static_cast<std::size_t>(separator.empty() ? 1 : graph.num_states(separator.front()))) {
  std::fill_n(values_.begin(), num_states_ * num_below_, 1.0);
  for (const LinearTable* table : tables) multiply(*table);
}

// With S, T the entries so far and s, t those of the table, stored and true, |S - T| <= r T + a and |s - t| <= q t + b:
//
//   |S s - T t| <= ((1 + r) (1 + q) - 1) T t + a s + b T (1 + r)
//
// What is below kTiny becomes 0. A product that is not known to be 0 keeps an absolute error.
void SmallBucket::multiply(const LinearTable& table) {
  const std::size_t state_step = table.scope.size() > 1 ? num_below_ : 1, step = table.scope.size() > 1 ? 1 : 0;
  const double* const factors = table.values.data();
  double& absolute = error_.absolute;
  bool is_lossy = absolute > 0.0 || table.error.absolute > 0.0;
  const double before = largest_;
  largest_ = 0.0;
  for (std::size_t x = 0; x < num_states_; ++x) {
    for (std::size_t u = 0; u < num_below_; ++u) {
      double& value = values_[x * num_below_ + u];
      const double factor = factors[x * state_step + u * step], product = value * factor;
      if (product < LinearError::kTiny) {
        is_lossy = is_lossy || (value > 0.0 && factor > 0.0);
        value = 0.0;
      } else {
        value = product;
        largest_ = std::max(largest_, product);
      }
    }
  }
  absolute = absolute * table.largest + LinearError::kSlack * table.error.absolute * (before + absolute);
  if (is_lossy) absolute += LinearError::kSlack * LinearError::kTiny;
  error_.relative += table.error.relative;
  ++num_tables_;
  constexpr double kWide = 0x1.0p64;
  if (largest_ > kWide || largest_ < 1.0 / kWide) scale();
}

// The largest entry into [1/2, 1).
void SmallBucket::scale() {
  if (largest_ == 0.0) return;
  const int by = -std::ilogb(largest_) - 1;
  const double factor = std::ldexp(1.0, by);
  for (std::size_t i = 0; i < num_states_ * num_below_; ++i) values_[i] *= factor;
  largest_ *= factor;
  error_.absolute *= factor;
  exponent_ -= by;
}

void SmallBucket::sum(LinearTable& message) const {
  message.values = TableMemory(num_below_, nullptr);
  message.largest = 0.0;
  message.least = std::numeric_limits<double>::infinity();
  for (std::size_t u = 0; u < num_below_; ++u) {
    double sum = 0.0;
    for (std::size_t x = 0; x < num_states_; ++x) sum += values_[x * num_below_ + u];
    message.values.data()[u] = sum;
    message.largest = std::max(message.largest, sum);
    if (sum > 0.0) message.least = std::min(message.least, sum);
  }
  const auto num_states = static_cast<double>(num_states_);
  message.error.relative = error_.relative + kEpsilon / 2.0 * (num_tables_ + num_states) * LinearError::kSlack;
  message.error.absolute = LinearError::kSlack * num_states * error_.absolute;
  message.exponent = exponent_;
}

std::vector<double> SmallBucket::distribute(std::span<const double> of_separator) {
  std::vector<double> marginal(num_states_, 0.0);
  for (std::size_t u = 0; u < num_below_; ++u) {
    double sum = 0.0;
    for (std::size_t x = 0; x < num_states_; ++x) sum += values_[x * num_below_ + u];
    const double share = sum > 0.0 ? of_separator[u] / sum : 0.0;
    for (std::size_t x = 0; x < num_states_; ++x) marginal[x] += values_[x * num_below_ + u] *= share;
  }
  return marginal;
}

TableMemory SmallBucket::for_child(std::span<const int> separator, std::span<const double> marginal) const {
  if (separator.size() < 2) {
    TableMemory sums(marginal.size(), nullptr);
    std::copy(marginal.begin(), marginal.end(), sums.data());
    return sums;
  }
  TableMemory all(num_states_ * num_below_, nullptr);
  std::copy_n(values_.begin(), all.size(), all.data());
  return all;
}

}  // namespace treesample

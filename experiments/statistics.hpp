// Mean, spread and median over instances.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace treesample::experiments {

struct Summary {
  double mean = 0.0;
  double deviation = 0.0;  // standard deviation, n - 1 in the denominator; 0 for one value
  double error = 0.0;      // standard error of the mean
};

// At least one value. An infinite value makes the mean infinite and leaves the spread at 0.
inline Summary summarize(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Summary summary;
  for (const double value : values) summary.mean += value / count;
  if (values.size() < 2 || !std::isfinite(summary.mean)) return summary;
  double squares = 0.0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = std::sqrt(squares / (count - 1.0));
  summary.error = summary.deviation / std::sqrt(count);
  return summary;
}

// Linear between order statistics, as most programs have it; 0.5 is the median. At least one value.
inline double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double weight = position - static_cast<double>(below);
  if (weight == 0.0) return values[below];
  return (1.0 - weight) * values[below] + weight * values[below + 1];
}

// For times: a machine that stalls for a minute during one of a thousand runs must not decide the figure.
inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace treesample::experiments

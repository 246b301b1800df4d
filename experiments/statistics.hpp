// Mean, spread and median over instances.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace treesample::experiments {

struct Summary {
  double mean = 0.0;
  double deviation = 0.0;  // standard deviation, with n - 1 in the denominator; 0 for one value
  double error = 0.0;      // standard error of the mean
};

// Needs at least one value. An infinite value makes the mean infinite and leaves the spread at 0.
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

// Interpolates linearly between order statistics, as most programs do; 0.5 gives the median. Needs at least one value.
inline double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double weight = position - static_cast<double>(below);
  if (weight == 0.0) return values[below];
  return (1.0 - weight) * values[below] + weight * values[below + 1];
}

// The median is for times: a machine that stalls for a minute during one of a thousand runs must not decide the result.
inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

}  // namespace treesample::experiments

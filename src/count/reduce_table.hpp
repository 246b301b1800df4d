// A table while a model is reduced (count/reduce.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "math/compensated_sum.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

struct ReduceTable {
  std::vector<int> scope;
  std::vector<double> values;
  double error = 0.0;  // of its logarithms, in addition to the errors of a model's entries

  [[nodiscard]] double magnitude() const {
    double most = 0.0;
    for (const double value : values) {
      if (value != kNegInf) most = std::max(most, std::abs(value));
    }
    return most;
  }

  // Makes numbers equal if they differ only by rounding, so that sums of 1 are recognised as constant.
  void make_equal() {
    constexpr double kRounding = 16.0 * kEpsilon;
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    double first = kNegInf;
    for (double& value : sorted) {  // the smallest of each run of close numbers
      if (first == kNegInf || value - first > kRounding * (1.0 + std::abs(first))) first = value;
      value = first;
    }
    std::vector<double> levels(sorted);
    levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
    double change = 0.0;
    for (double& value : values) {
      if (value == kNegInf) continue;
      const double level = *(std::upper_bound(levels.begin(), levels.end(), value) - 1);
      change = std::max(change, value - level);
      value = level;
    }
    error += change;
  }
};

}  // namespace treesample

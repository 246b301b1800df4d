// The sum of exp(log density) over the complete configurations that a search has evaluated, kept while it goes on:
//
//   L = log sum over evaluated leaves x of prod over n of exp R_n(x_<=n)
//
// Every edge is evaluated once, so every leaf is added once. The products and sums have relative errors of the same
// kind as those of the backup, which tree_rounding.hpp bounds.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "tree/tree_path.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {

class LeafSum {
 public:
  // Adds the configuration at the end of a path that reaches the last level. It is left out if one of its factors is
  // outside of the range in which a double has all its digits: L then stays a lower bound.
  template <class NodeView>
  void add(std::span<const Step<NodeView>> path) {
    double product = 1.0;
    std::int64_t exponent = 0;
    for (const Step<NodeView>& step : path) {
      if (!(step.factor >= kLeast && step.factor <= kMost)) return;
      product *= step.factor;
      if (product < kSmall || product > kLarge) {
        int shift = 0;
        product = std::frexp(product, &shift);
        exponent += shift;
      }
    }
    add(product, exponent);
  }
  // Adds a sum that is known as its logarithm.
  void add_log(double log_sum) {
    if (log_sum == kNegInf) return;
    const double exponent = std::floor(log_sum / kLogTwo);
    add(std::exp(log_sum - exponent * kLogTwo), static_cast<std::int64_t>(exponent));
  }
  [[nodiscard]] double log() const {
    return sum_ > 0.0 ? std::log(sum_ + correction_) + static_cast<double>(unit_) * kLogTwo : kNegInf;
  }

 private:
  static constexpr double kLeast = 0x1.0p-1020, kMost = 0x1.0p1020;
  static constexpr double kSmall = 0x1.0p-2, kLarge = 0x1.0p2;  // a product with the next factor stays in range
  static constexpr double kLogTwo = 0.6931471805599453094;
  static constexpr std::int64_t kFar = 512;  // bits

  // value 2^exponent; terms that are too small for the unit of the sum vanish, which a lower bound allows.
  void add(double value, std::int64_t exponent) {
    if (sum_ == 0.0) unit_ = exponent;
    if (exponent > unit_ + kFar) {
      const auto shift = static_cast<int>(std::max<std::int64_t>(unit_ - exponent, -4 * kFar));
      sum_ = std::ldexp(sum_, shift);
      correction_ = std::ldexp(correction_, shift);
      unit_ = exponent;
    }
    if (exponent < unit_ - 2 * kFar) return;
    const double term = std::ldexp(value, static_cast<int>(exponent - unit_));
    const double total = sum_ + term;  // Neumaier's sum: `correction_` has what rounding took away
    correction_ += sum_ >= term ? (sum_ - total) + term : (term - total) + sum_;
    sum_ = total;
  }

  double sum_ = 0.0, correction_ = 0.0;
  std::int64_t unit_ = 0;
};

}  // namespace treesample

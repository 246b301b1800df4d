#include "treesample/math/log_domain.hpp"

#include <algorithm>

namespace treesample {

double log_sum_exp(std::span<const double> values) {
  double largest = kNegInf;
  for (const double value : values) largest = std::max(largest, value);
  if (!std::isfinite(largest)) return largest;  // otherwise -inf - -inf or inf - inf would follow
  double sum = 0.0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

double log_add_exp(double a, double b) {
  const double larger = std::max(a, b);
  if (!std::isfinite(larger)) return larger;
  return larger + std::log1p(std::exp(std::min(a, b) - larger));
}

double log1mexp(double d) {
  if (d <= 0.0) return kNegInf;
  // Maechler's split point ln 2 keeps both forms away from cancellation.
  return d < 0.6931471805599453 ? std::log(-std::expm1(-d)) : std::log1p(-std::exp(-d));
}

double softmax(std::span<const double> log_weights, std::span<double> probabilities) {
  const double log_normaliser = log_sum_exp(log_weights);
  double sum = 0.0;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    probabilities[i] = log_normaliser == kNegInf ? 0.0 : std::exp(log_weights[i] - log_normaliser);
    sum += probabilities[i];
  }
  // A large normaliser is rounded, but the probabilities must still sum to 1.
  for (std::size_t i = 0; sum > 0.0 && i < log_weights.size(); ++i) probabilities[i] /= sum;
  return log_normaliser;
}

}  // namespace treesample

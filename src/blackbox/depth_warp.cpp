#include "blackbox/depth_warp.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kLeastKnee = 30.0, kLargestKnee = 1e6;
constexpr double kMostKnees = 4.0;
constexpr double kImpossibleBelow = 5.0;

}  // namespace

DepthWarp::DepthWarp(std::span<const double> values) {
  std::vector<double> finite;
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double y) { return y != kNegInf; });
  if (finite.empty()) return;
  has_values_ = true;
  const auto middle = finite.begin() + std::ssize(finite) / 2;
  std::nth_element(finite.begin(), middle, finite.end());
  const double median = *middle;
  top_ = *std::max_element(finite.begin(), finite.end());
  knee_ = std::clamp(2.0 * (top_ - median), kLeastKnee, kLargestKnee);
  impossible_ = warped(*std::min_element(finite.begin(), finite.end())) - kImpossibleBelow;
}

double DepthWarp::warped(double value) const {
  if (value == kNegInf) return impossible_;
  const double depth = top_ - value;  // may be +inf where the best value is 1e308 and this one -1e308
  if (depth <= knee_) return -depth;
  return -std::min(knee_ + knee_ * std::log1p((depth - knee_) / knee_), kMostKnees * knee_);
}

double DepthWarp::value(double warped) const {
  if (-warped <= knee_) return top_ + warped;
  return top_ - knee_ - knee_ * std::expm1(std::min(-warped - knee_, kMostKnees * knee_) / knee_);
}

double DepthWarp::slope(double warped) const {
  if (-warped <= knee_) return 1.0;
  return std::exp(std::min(-warped - knee_, kMostKnees * knee_) / knee_);
}

}  // namespace treesample

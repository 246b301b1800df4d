// Values as a regression should see them: depths below the best one, of which the deepest are compressed.
//
// With depth d and knee c the result is -d for d <= c, and -(c + c log(1 + (d - c) / c)) beyond, at most 4 c. The knee
// is twice the median depth, and at least 30 nats, of which nothing is left after exp.
#pragma once

#include <span>

namespace treesample {

class DepthWarp {
 public:
  DepthWarp() = default;
  // Values that are -inf are left out. Without a finite value, has_values() is false.
  explicit DepthWarp(std::span<const double> values);

  [[nodiscard]] bool has_values() const { return has_values_; }
  [[nodiscard]] double top() const { return top_; }
  // Of a finite value: 0 for the best one. -inf is taken as 5 nats worse than the worst finite one.
  [[nodiscard]] double warped(double value) const;
  // The value with this warped one, and how fast it changes with it.
  [[nodiscard]] double value(double warped) const;
  [[nodiscard]] double slope(double warped) const;

 private:
  bool has_values_ = false;
  double top_ = 0.0, knee_ = 30.0, impossible_ = 0.0;
};

}  // namespace treesample

// Derivatives by finite differences.
#pragma once

namespace treesample::test {

// The derivative of function() with respect to a number that it reads. The number has its old value afterwards.
template <class Function>
double central_difference(double& number, const Function& function) {
  constexpr double kStep = 1e-6;
  const double saved = number;
  number = saved + kStep;
  const double above = function();
  number = saved - kStep;
  const double below = function();
  number = saved;
  return (above - below) / (2.0 * kStep);
}

}  // namespace treesample::test

// The mean of a Gaussian process at all configurations of its domain.
//
// The variables are split into two halves a and b, with about as many configurations each. With the parts of the kernel
// between these and the points (blackbox/mixed_kernel.hpp) and p = C^-1 y,
//
//   mean(a, b) = const + f(a) + g(b) + sum_i p_i (s2 e1_i(a) e1_i(b) + s3 product_i(a) product_i(b)),
//
// where the sum is a matrix product of 2 n columns.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "blackbox/mixed_kernel.hpp"

namespace treesample {

void grid_product(const MixedKernel& kernel, const KernelPoints& points, const Eigen::VectorXd& pull,
                  const std::vector<int>& num_states, std::span<double> means);

}  // namespace treesample

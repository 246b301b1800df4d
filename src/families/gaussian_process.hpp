// Draws of a Gaussian process on a grid.
#pragma once

#include <vector>

namespace treesample {

class Random;

// One draw, mean 0 and variance 1, at the points of a rows x columns grid with unit spacing (row-major),
// with the RBF kernel exp(-distance^2 / (2 bandwidth^2)).
//
// The squared distance is a sum over the two axes, so the kernel matrix is the Kronecker product of one
// matrix per axis, A and B, and its Cholesky factor the Kronecker product of theirs: with Z standard normal,
// chol(A) Z chol(B)^T has exactly the wanted covariance. The factor of the whole grid would cost
// (rows columns)^3. The kernel decays fast enough to be a band matrix to the last bit, which makes the cost
// linear in rows and columns at a fixed bandwidth.
std::vector<double> draw_gaussian_process(int rows, int columns, double bandwidth, Random& random);

}  // namespace treesample

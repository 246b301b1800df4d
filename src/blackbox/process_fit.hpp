// The parameters of a Gaussian process: the maximum of their posterior density, by analytic gradients.
//
//   -log p(y, parameters) = 1/2 y^T C^-1 y + 1/2 log |C| + replicates + priors,   C = k(X, X) + diag(noise_i / m_i)
//   d / d t = sum_ij 1/2 (C^-1 - a a^T)_ij dC_ij / dt,   a = C^-1 y
//
// A configuration that was evaluated m times is there once, with its mean; what its values differ by tells about the
// noise alone: (m - 1) / 2 log noise + (sum of squares) / (2 noise).
#pragma once

#include <Eigen/Core>
#include <optional>

#include "blackbox/mixed_kernel.hpp"
#include "treesample/stop.hpp"

namespace treesample {

struct ProcessData {
  KernelPoints points;
  Eigen::VectorXd values;          // of variance 1 or so; means of replicates
  Eigen::VectorXd depths;          // beyond which values count less, in the same unit; 0 near the best
  Eigen::VectorXd counts, spread;  // of replicates; the sum of their squared differences from the mean

  [[nodiscard]] Eigen::Index size() const { return values.size(); }
};

// Of the kernel, then log nu.
struct ProcessParameters {
  Eigen::VectorXd theta;

  [[nodiscard]] static ProcessParameters initial(const MixedKernel& kernel);
  [[nodiscard]] Eigen::VectorXd kernel() const { return theta.head(theta.size() - 1); }
  [[nodiscard]] double noise() const;  // nu
  // The variance of one evaluation at this depth.
  [[nodiscard]] double noise_at(double depth) const;
};

inline constexpr double kProcessJitter = 1e-8;  // added to the diagonal, relative to the variance of the kernel

// The negative log posterior density and its gradient; +inf where the covariance is not positive definite in rounding.
double process_loss(MixedKernel& kernel, const ProcessData& data, const Eigen::VectorXd& theta,
                    Eigen::VectorXd& gradient);

struct ProcessFit {
  ProcessParameters parameters;
  double loss = 0.0;
};

// Begins with these parameters. A given nu stays as it is.
ProcessFit fit_process(MixedKernel& kernel, const ProcessData& data, const ProcessParameters& start,
                       std::optional<double> nu, int num_iterations, const ShouldStop& should_stop);

}  // namespace treesample

#include "blackbox/process_fit.hpp"

#include <Eigen/Cholesky>
#include <cmath>

#include "blackbox/minimise.hpp"
#include "surrogate/term_features.hpp"

namespace treesample {
namespace {

constexpr double kNoiseMean = -9.0, kNoiseSd = 3.0;  // the prior of log nu: values are mostly exact
// A value at a depth of 20 nats counts as uncertain by 3. As a parameter to be fitted, tau explained everything below
// the best values as noise.
constexpr double kDepthNoise = 0.15;

}  // namespace

ProcessParameters ProcessParameters::initial(const MixedKernel& kernel) {
  Eigen::VectorXd theta(kernel.num_parameters() + 1);
  theta << kernel.prior_mean(), kNoiseMean;
  return {theta};
}

double ProcessParameters::noise() const { return std::exp(theta[theta.size() - 1]); }

double ProcessParameters::noise_at(double depth) const { return noise() + std::pow(kDepthNoise * depth, 2); }

double process_loss(MixedKernel& kernel, const ProcessData& data, const Eigen::VectorXd& theta,
                    Eigen::VectorXd& gradient) {
  const ProcessParameters parameters{theta};
  const Eigen::Index size = theta.size();
  kernel.set(parameters.kernel());
  const double nu = parameters.noise();
  const Eigen::ArrayXd noise = nu + (kDepthNoise * data.depths.array()).square();
  Eigen::MatrixXd covariance = kernel.gram(data.points);
  covariance.diagonal().array() += noise / data.counts.array() + kProcessJitter * kernel.amplitude();
  const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(covariance);
  if (factor.info() != Eigen::Success) return HUGE_VAL;
  double loss = covariance.diagonal().array().log().sum();
  const Eigen::VectorXd pull = factor.solve(data.values);
  loss += 0.5 * data.values.dot(pull);
  // Replicates.
  const Eigen::ArrayXd more = data.counts.array() - 1.0;
  loss += 0.5 * (more * noise.log() + data.spread.array() / noise).sum();
  const Eigen::ArrayXd noise_slope = 0.5 * (more / noise - data.spread.array() / noise.square());

  invert_lower(covariance);
  covariance.triangularView<Eigen::StrictlyUpper>().setZero();
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(data.size(), data.size());
  weights.selfadjointView<Eigen::Lower>().rankUpdate(covariance.transpose(), 0.5);
  weights.selfadjointView<Eigen::Lower>().rankUpdate(pull, -0.5);
  gradient = Eigen::VectorXd::Zero(size);
  Eigen::VectorXd of_kernel = Eigen::VectorXd::Zero(kernel.num_parameters());
  kernel.add_gradient(data.points, weights, of_kernel);
  gradient.head(size - 1) = of_kernel;
  const double trace = kProcessJitter * weights.diagonal().sum();
  gradient[size - 4] += kernel.s1() * trace;
  gradient[size - 3] += kernel.s2() * trace;
  gradient[size - 2] += kernel.s3() * trace;
  const Eigen::ArrayXd by_noise = weights.diagonal().array() / data.counts.array() + noise_slope;
  gradient[size - 1] = nu * by_noise.sum();

  Eigen::VectorXd mean(size), sd(size);
  mean << kernel.prior_mean(), kNoiseMean;
  sd << kernel.prior_sd(), kNoiseSd;
  const Eigen::ArrayXd off = (theta - mean).array() / sd.array();
  gradient.array() += off / sd.array();
  return loss + 0.5 * off.square().sum();
}

ProcessFit fit_process(MixedKernel& kernel, const ProcessData& data, const ProcessParameters& start,
                       std::optional<double> nu, int num_iterations, const ShouldStop& should_stop) {
  Eigen::VectorXd theta = start.theta;
  const Eigen::Index place = theta.size() - 1;
  if (nu) theta[place] = std::log(*nu);
  const auto loss = [&](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const double value = process_loss(kernel, data, x, gradient);
    if (nu && std::isfinite(value)) gradient[place] = 0.0;
    return value;
  };
  Minimum best = minimise(loss, std::move(theta), num_iterations, should_stop);
  kernel.set(ProcessParameters{best.x}.kernel());
  return {{std::move(best.x)}, best.value};
}

}  // namespace treesample

#include "blackbox/mixed_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "blackbox/grid_product.hpp"
#include "support/black_boxes.hpp"

namespace treesample {
namespace {

using testing::random_rows;

const Domain kMixed{.num_states = {3, 2, 5, 1, 4}, .levels = {{}, {}, {1, 10, 100, 1e4, 1e3}, {}, {0, 1, 5, 6}}};

Eigen::VectorXd some_parameters(const MixedKernel& kernel) {
  Eigen::VectorXd parameters = kernel.prior_mean();
  for (Eigen::Index i = 0; i < parameters.size(); ++i) parameters[i] += 0.3 * std::sin(7.0 * static_cast<double>(i));
  return parameters;
}

// The formulas of the header, term by term. Levels 1 .. 1e4 are even in their logarithms.
double naive(const Eigen::VectorXd& parameters, double power, std::span<const int> x, std::span<const int> y) {
  const std::vector<std::vector<double>> scaled{{}, {}, {0, 0.25, 0.5, 1, 0.75}, {}, {0, 1.0 / 6, 5.0 / 6, 1}};
  const Eigen::Index n = kMixed.width();
  double exponent = 0.0, pairs = 0.0;
  std::vector<double> common;
  for (int v = 0; v < n; ++v) {
    const double k = kMixed.num_states[v], w = std::exp(parameters[v]), u = std::exp(parameters[n + v]);
    if (scaled[v].empty()) {
      exponent -= x[v] == y[v] ? 0.0 : w;
      common.push_back(k == 1 ? u : u * (k * (x[v] == y[v] ? 1.0 : 0.0) - 1.0) / (k - 1.0));
      continue;
    }
    exponent -= w * std::pow(std::abs(scaled[v][x[v]] - scaled[v][y[v]]), power);
    const Eigen::Map<const Eigen::VectorXd> levels(scaled[v].data(), std::ssize(scaled[v]));
    Eigen::MatrixXd basis(levels.size(), 3);
    basis << Eigen::VectorXd::Ones(levels.size()), levels, levels.cwiseAbs2();
    for (Eigen::Index c = 0; c < 3; ++c) {  // Gram-Schmidt
      for (Eigen::Index b = 0; b < c; ++b) basis.col(c) -= basis.col(b) * basis.col(b).dot(basis.col(c)) / k;
      basis.col(c) *= std::sqrt(k) / basis.col(c).norm();
    }
    common.push_back(0.5 * u * (basis(x[v], 1) * basis(y[v], 1) + basis(x[v], 2) * basis(y[v], 2)));
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < common.size(); ++i) {
    sum += common[i];
    for (std::size_t j = 0; j < i; ++j) pairs += common[i] * common[j];
  }
  return MixedKernel::kConstant + std::exp(parameters[2 * n]) * sum + std::exp(parameters[2 * n + 1]) * pairs +
         std::exp(parameters[2 * n + 2]) * std::exp(exponent);
}

TEST(MixedKernel, AgreesWithItsFormulas) {
  for (const double power : {1.0, 2.0}) {
    MixedKernel kernel(kMixed, power);
    kernel.set(some_parameters(kernel));
    const std::vector<int> rows = random_rows(kMixed, 20, 1);
    const KernelPoints points = kernel.points(rows);
    const Eigen::MatrixXd gram = kernel.gram(points);
    Eigen::VectorXd column(points.count);
    for (Eigen::Index j = 0; j < points.count; ++j) {
      const std::span<const int> y(rows.data() + 5 * j, 5);
      kernel.column(points, points, j, column);
      EXPECT_NEAR(kernel.variance(points, j), column[j], 1e-12 * column[j]);
      for (Eigen::Index i = 0; i < points.count; ++i) {
        const double expected = naive(some_parameters(kernel), power, {rows.data() + 5 * i, 5}, y);
        EXPECT_NEAR(column[i], expected, 1e-12 * std::abs(expected) + 1e-13);
        const double lower = gram(std::max(i, j), std::min(i, j));
        EXPECT_NEAR(lower, expected, 1e-12 * std::abs(expected) + 1e-13);
      }
    }
  }
}

TEST(MixedKernel, GradientAgreesWithDifferences) {
  for (const double power : {1.0, 2.0}) {
    MixedKernel kernel(kMixed, power);
    const Eigen::VectorXd at = some_parameters(kernel);
    const KernelPoints points = kernel.points(random_rows(kMixed, 12, 2));
    Eigen::MatrixXd weights = Eigen::MatrixXd::Random(12, 12);
    weights = (weights + weights.transpose()).eval();
    const auto weighted = [&](const Eigen::VectorXd& parameters) {
      kernel.set(parameters);
      const Eigen::MatrixXd lower = kernel.gram(points).triangularView<Eigen::Lower>();
      return 2.0 * weights.cwiseProduct(lower).sum() - weights.diagonal().dot(lower.diagonal());
    };
    kernel.set(at);
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(at.size());
    kernel.add_gradient(points, weights, gradient);
    for (Eigen::Index i = 0; i < at.size(); ++i) {
      Eigen::VectorXd more = at, less = at;
      more[i] += 1e-5;
      less[i] -= 1e-5;
      const double slope = (weighted(more) - weighted(less)) / 2e-5;
      EXPECT_NEAR(gradient[i], slope, 1e-6 * (1.0 + std::abs(slope))) << "parameter " << i << ", power " << power;
    }
  }
}

TEST(GridProduct, IsTheSumOverAllPoints) {
  MixedKernel kernel(kMixed, 2.0);
  kernel.set(some_parameters(kernel));
  const KernelPoints points = kernel.points(random_rows(kMixed, 9, 3));
  const std::vector<int> grid = testing::all_rows(kMixed);
  const KernelPoints everything = kernel.points(grid);
  for (const double size : {1.0, 1e7}) {  // the latter in double precision
    const Eigen::VectorXd pull = size * Eigen::VectorXd::Random(9);
    std::vector<double> means(static_cast<std::size_t>(everything.count));
    grid_product(kernel, points, pull, kMixed.num_states, means);
    Eigen::VectorXd column(9);
    for (Eigen::Index i = 0; i < everything.count; ++i) {
      kernel.column(points, everything, i, column);
      EXPECT_NEAR(means[static_cast<std::size_t>(i)], pull.dot(column), size > 1.0 ? 1e-5 : 1e-4);
    }
  }
}

}  // namespace
}  // namespace treesample

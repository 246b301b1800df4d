#include "blackbox/grid_product.hpp"

#include <algorithm>
#include <cmath>

namespace treesample {
namespace {

constexpr double kMostRounding = 1e-4;  // of a mean in single precision, in the unit of the values
constexpr Eigen::Index kBlock = 256;    // configurations of half a that are multiplied at a time

// All configurations of some variables, and their parts of the kernel.
struct Half {
  Eigen::MatrixXd e1, product;  // points x configurations
  Eigen::VectorXd own;          // p . (s1 e1 + s2 e2)
};

Half half_of(const MixedKernel& kernel, const KernelPoints& points, const Eigen::VectorXd& pull, int first,
             std::span<const int> num_states) {
  Eigen::Index count = 1;
  for (const int k : num_states) count *= k;
  Half half{Eigen::MatrixXd(points.count, count), Eigen::MatrixXd(points.count, count), Eigen::VectorXd(count)};
  std::vector<int> x(num_states.size(), 0);
  for (Eigen::Index c = 0; c < count; ++c) {
    const MixedKernel::Parts parts = kernel.parts(points, first, x);
    half.e1.col(c) = parts.e1;
    half.product.col(c) = parts.product;
    half.own[c] = kernel.s1() * pull.dot(parts.e1) + kernel.s2() * pull.dot(parts.e2);
    for (std::size_t v = x.size(); v-- > 0;) {
      if (++x[v] < num_states[v]) break;
      x[v] = 0;
    }
  }
  return half;
}

// The number of variables in half a: the two halves together have as few configurations as possible.
int split(std::span<const int> num_states) {
  double before = 1.0, after = 1.0, least = HUGE_VAL;
  for (const int k : num_states) after *= k;
  int best = 0;
  for (std::size_t v = 0; v <= num_states.size(); ++v) {
    if (before + after < least) {
      least = before + after;
      best = static_cast<int>(v);
    }
    if (v == num_states.size()) break;
    before *= num_states[v];
    after /= num_states[v];
  }
  return best;
}

template <typename Number>
void multiply(const Eigen::MatrixXd& left, const Eigen::MatrixXd& right, const Half& a, const Half& b, double constant,
              std::span<double> means) {
  using Matrix = Eigen::Matrix<Number, Eigen::Dynamic, Eigen::Dynamic>;
  const Matrix of_b = right.cast<Number>();
  for (Eigen::Index first = 0; first < left.cols(); first += kBlock) {
    const Eigen::Index count = std::min(kBlock, left.cols() - first);
    const Matrix of_a = left.middleCols(first, count).cast<Number>();
    const Matrix products = of_b.transpose() * of_a;
    Eigen::Map<Eigen::MatrixXd> out(means.data() + first * right.cols(), right.cols(), count);
    for (Eigen::Index c = 0; c < count; ++c) {
      out.col(c) = products.col(c).template cast<double>() + b.own;
      out.col(c).array() += constant + a.own[first + c];
    }
  }
}

}  // namespace

void grid_product(const MixedKernel& kernel, const KernelPoints& points, const Eigen::VectorXd& pull,
                  const std::vector<int>& num_states, std::span<double> means) {
  const int border = split(num_states);
  const std::span<const int> states(num_states);
  const Half a = half_of(kernel, points, pull, 0, states.first(static_cast<std::size_t>(border)));
  const Half b = half_of(kernel, points, pull, border, states.subspan(static_cast<std::size_t>(border)));
  Eigen::MatrixXd left(2 * points.count, a.e1.cols()), right(2 * points.count, b.e1.cols());
  left << (kernel.s2() * pull).asDiagonal() * a.e1, (kernel.s3() * pull).asDiagonal() * a.product;
  right << b.e1, b.product;
  const double constant = MixedKernel::kConstant * pull.sum();
  // Coefficients of values that are interpolated may be large and cancel.
  const double rounding = 6e-8 * (left.colwise().norm().maxCoeff() * right.colwise().norm().maxCoeff());
  if (rounding < kMostRounding) {
    multiply<float>(left, right, a, b, constant, means);
  } else {
    multiply<double>(left, right, a, b, constant, means);
  }
}

}  // namespace treesample

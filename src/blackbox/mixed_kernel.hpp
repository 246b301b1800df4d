// The covariance of a black box's values at two configurations x and y.
//
//   k(x, y) = c0 + s1 e1 + s2 e2 + s3 prod_v exp(-w_v D_v)
//   e1 = sum_v u_v c_v,   e2 = sum_{v < v'} u_v u_v' c_v c_v' = (e1^2 - sum_v (u_v c_v)^2) / 2
//
// Main effects and pairs have parts of their own (e1, e2), because functions with little else are common; the product
// is the diffusion (Hamming) kernel, and knows interactions of any order. For a categorical variable with K states
//
//   D_v = [x_v != y_v],      c_v = (K [x_v = y_v] - 1) / (K - 1),
//
// the inner product of its contrasts. For an ordered one, with levels scaled to 0 .. 1 (of their logarithms, where
// these are more even),
//
//   D_v = |level(x_v) - level(y_v)|^p with p = 1 or 2,      c_v = (p1(x_v) p1(y_v) + p2(x_v) p2(y_v)) / 2
//
// with the linear and the quadratic polynomial that are orthonormal over the states: e1 + e2 contains all surfaces of
// the second order.
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "treesample/blackbox/domain.hpp"

namespace treesample {

// Configurations in columns, one for each variable, and the features of ordered variables beside them.
struct KernelPoints {
  Eigen::Index count = 0;
  Eigen::MatrixXi states;             // count x width
  Eigen::MatrixXd level, line, bend;  // the others' columns are 0; empty where no variable is ordered

  void append(const KernelPoints& other, Eigen::Index row);
};

class MixedKernel {
 public:
  // Parameters are logarithms: w_v, then u_v, then s1, s2, s3.
  static constexpr double kConstant = 4.0;  // c0, where the values have variance 1

  MixedKernel(const Domain& domain, double power);

  [[nodiscard]] int width() const { return static_cast<int>(num_states_.size()); }
  [[nodiscard]] bool has_ordered() const { return has_ordered_; }
  [[nodiscard]] Eigen::Index num_parameters() const { return 2 * Eigen::Index{width()} + 3; }
  [[nodiscard]] Eigen::VectorXd prior_mean() const;
  [[nodiscard]] Eigen::VectorXd prior_sd() const;
  void set(const Eigen::VectorXd& parameters);

  [[nodiscard]] KernelPoints points(std::span<const int> rows) const;
  // Column of the covariances of all points with one configuration, and its own variance.
  void column(const KernelPoints& points, const KernelPoints& others, Eigen::Index other,
              Eigen::Ref<Eigen::VectorXd> out) const;
  [[nodiscard]] double variance(const KernelPoints& points, Eigen::Index row) const;
  // The sum over the points of pull times their covariance with each configuration that differs from x in one variable
  // at most: for each state of the first variable, then of the second one, ... What the other variables contribute is
  // computed once.
  void neighbour_products(const KernelPoints& points, const Eigen::VectorXd& pull, std::span<const int> x,
                          std::span<double> out) const;
  // The lower triangle of the covariances among the points.
  [[nodiscard]] Eigen::MatrixXd gram(const KernelPoints& points) const;
  // Adds, for each parameter, the sum over i, j of weights(i, j) d k(i, j) / d parameter; reads the lower triangle.
  void add_gradient(const KernelPoints& points, const Eigen::MatrixXd& weights, Eigen::VectorXd& gradient) const;

  // The parts of the kernel between the points and states of the variables first .. first + count - 1 only, from which
  // the kernel of whole configurations is put together: e1, e2 and the product (a and b: two such sets of variables)
  //   e1 = e1a + e1b,   e2 = e2a + e2b + e1a e1b,   product = product_a product_b
  struct Parts {
    Eigen::VectorXd e1, e2, product;  // without s1, s2, s3
  };
  [[nodiscard]] Parts parts(const KernelPoints& points, int first, std::span<const int> states) const;
  // The parameters of one variable, and its features: a row for each state with level, line and bend, empty where it is
  // not ordered.
  [[nodiscard]] double w(int variable) const { return w_[variable]; }
  [[nodiscard]] double u(int variable) const { return u_[variable]; }
  [[nodiscard]] const Eigen::MatrixXd& features(int variable) const { return features_[variable]; }
  [[nodiscard]] double power() const { return power_; }
  [[nodiscard]] double amplitude() const { return kConstant + s1_ + s2_ + s3_; }
  [[nodiscard]] double s1() const { return s1_; }
  [[nodiscard]] double s2() const { return s2_; }
  [[nodiscard]] double s3() const { return s3_; }

 private:
  struct Single {  // one state of one variable
    int state = 0;
    double level = 0.0, line = 0.0, bend = 0.0;
  };
  [[nodiscard]] Single single(int variable, int state) const;
  void add_variable(const KernelPoints& points, int variable, const Single& other, Eigen::Index first,
                    Eigen::ArrayXd& exponent, Eigen::ArrayXd& e1, Eigen::ArrayXd& squares) const;

  std::vector<int> num_states_;
  std::vector<Eigen::MatrixXd> features_;  // by variable
  bool has_ordered_ = false;
  double power_;
  Eigen::VectorXd w_, u_;
  double s1_ = 1.0, s2_ = 1.0, s3_ = 1.0;
};

}  // namespace treesample

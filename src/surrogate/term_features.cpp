#include "surrogate/term_features.hpp"

#include <cmath>
#include <utility>

namespace treesample {

void invert_lower(Eigen::Ref<Eigen::MatrixXd> matrix) {
  const Eigen::Index size = matrix.rows(), half = size / 2;
  if (size <= 32) {
    const Eigen::MatrixXd lower = matrix.triangularView<Eigen::Lower>();
    matrix.triangularView<Eigen::Lower>() =
        lower.triangularView<Eigen::Lower>().solve(Eigen::MatrixXd::Identity(size, size));
    return;
  }
  auto upper_left = matrix.topLeftCorner(half, half);
  auto lower_right = matrix.bottomRightCorner(size - half, size - half);
  invert_lower(upper_left);
  invert_lower(lower_right);
  const Eigen::MatrixXd corner = matrix.bottomLeftCorner(size - half, half);
  const Eigen::MatrixXd right = corner * upper_left.triangularView<Eigen::Lower>();
  matrix.bottomLeftCorner(size - half, half).noalias() = -(lower_right.triangularView<Eigen::Lower>() * right);
}

std::vector<std::vector<int>> subsets(int num_variables, int order) {
  std::vector<std::vector<int>> result;
  std::vector<int> set(static_cast<std::size_t>(order));
  for (int i = 0; i < order; ++i) set[i] = i;
  while (order <= num_variables) {
    result.push_back(set);
    int i = order - 1;
    while (i >= 0 && set[i] == num_variables - order + i) --i;
    if (i < 0) break;
    ++set[i];
    for (int j = i + 1; j < order; ++j) set[j] = set[j - 1] + 1;
  }
  return result;
}

// Helmert's contrasts: column j compares state j + 1 with the mean of the states before it.
Eigen::MatrixXd contrasts(int num_states) {
  Eigen::MatrixXd psi = Eigen::MatrixXd::Zero(num_states, num_states - 1);
  for (int j = 0; j + 1 < num_states; ++j) {
    const double scale = std::sqrt(num_states / ((j + 1.0) * (j + 2.0)));
    for (int a = 0; a <= j; ++a) psi(a, j) = -scale;
    psi(j + 1, j) = (j + 1.0) * scale;
  }
  return psi;
}

Eigen::MatrixXd cell_features(std::span<const int> scope, std::span<const int> num_states) {
  Eigen::MatrixXd cells = Eigen::MatrixXd::Ones(1, 1);
  for (const int v : scope) {
    const Eigen::MatrixXd psi = contrasts(num_states[v]);
    Eigen::MatrixXd next(cells.rows() * psi.rows(), cells.cols() * psi.cols());
    for (Eigen::Index r = 0; r < cells.rows(); ++r) {
      for (Eigen::Index c = 0; c < cells.cols(); ++c) {
        next.block(r * psi.rows(), c * psi.cols(), psi.rows(), psi.cols()) = cells(r, c) * psi;
      }
    }
    cells = std::move(next);
  }
  return cells;
}

}  // namespace treesample

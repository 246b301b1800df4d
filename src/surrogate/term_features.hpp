// The features of terms: products of the contrasts of their variables (surrogate/term_regression.hpp).
#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

namespace treesample {

// The contrasts psi of a variable, one row for each state.
Eigen::MatrixXd contrasts(int num_states);

// Rows: the cells of the scope, row-major; columns: features.
Eigen::MatrixXd cell_features(std::span<const int> scope, std::span<const int> num_states);

// Replaces the lower triangle of a matrix by its inverse. The upper part is not touched.
void invert_lower(Eigen::Ref<Eigen::MatrixXd> matrix);

// All subsets of the variables with `order` elements, in ascending order.
std::vector<std::vector<int>> subsets(int num_variables, int order);

}  // namespace treesample

// Minimising a smooth function of some tens of variables: L-BFGS with a backtracking line search.
#pragma once

#include <Eigen/Core>
#include <functional>

#include "treesample/stop.hpp"

namespace treesample {

// Returns the value and writes the gradient; +inf where it is not defined.
using SmoothFunction = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

struct Minimum {
  Eigen::VectorXd x;
  double value = 0.0;
};

// At most this many iterations, each of one evaluation or a few; a step changes no variable by more than 1. Ends early
// with the best point so far when it is asked to stop.
Minimum minimise(const SmoothFunction& function, Eigen::VectorXd start, int num_iterations,
                 const ShouldStop& should_stop);

}  // namespace treesample

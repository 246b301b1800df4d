#include "blackbox/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace treesample {
namespace {

constexpr std::size_t kPairs = 8;     // of steps and changes of the gradient that are remembered
constexpr double kDecrease = 1e-4;    // of the function, relative to what its slope promises
constexpr double kLongestStep = 1.0;  // of any variable
constexpr double kEnough = 1e-5;      // a relative improvement that is not worth another iteration
constexpr int kMostBacktracks = 12;

struct Pair {
  Eigen::VectorXd step, change;
  double inverse = 0.0;  // 1 / step . change
};

// The two-loop recursion.
Eigen::VectorXd direction(const std::deque<Pair>& pairs, const Eigen::VectorXd& gradient) {
  Eigen::VectorXd result = -gradient;
  std::vector<double> shares(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    shares[i] = pairs[i].inverse * pairs[i].step.dot(result);
    result -= shares[i] * pairs[i].change;
  }
  if (!pairs.empty()) result /= pairs.back().inverse * pairs.back().change.squaredNorm();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    result += (shares[i] - pairs[i].inverse * pairs[i].change.dot(result)) * pairs[i].step;
  }
  return result;
}

}  // namespace

Minimum minimise(const SmoothFunction& function, Eigen::VectorXd start, int num_iterations,
                 const ShouldStop& should_stop) {
  Minimum best{.x = std::move(start)};
  Eigen::VectorXd gradient(best.x.size());
  best.value = function(best.x, gradient);
  std::deque<Pair> pairs;
  for (int i = 0; i < num_iterations && !(should_stop && should_stop()); ++i) {
    Eigen::VectorXd step = direction(pairs, gradient);
    if (!(step.dot(gradient) < 0.0)) {
      pairs.clear();
      step = -gradient;
    }
    step *= std::min(1.0, kLongestStep / std::max(step.cwiseAbs().maxCoeff(), 1e-300));
    const double slope = step.dot(gradient);
    Eigen::VectorXd next_gradient(best.x.size());
    double value = HUGE_VAL, share = 1.0;
    for (int tries = 0; tries < kMostBacktracks; ++tries, share *= 0.4) {
      value = function(best.x + share * step, next_gradient);
      if (value <= best.value + kDecrease * share * slope) break;
    }
    if (!(value < best.value)) break;
    const double gain = best.value - value;
    step *= share;
    Pair pair{step, next_gradient - gradient};
    const double product = pair.step.dot(pair.change);
    if (product > 1e-10 * pair.change.squaredNorm()) {
      pair.inverse = 1.0 / product;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kPairs) pairs.pop_front();
    }
    best.x += step;
    best.value = value;
    gradient = next_gradient;
    if (gain < kEnough * (1.0 + std::abs(value))) break;
  }
  return best;
}

}  // namespace treesample

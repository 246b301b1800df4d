#include "monotone/box_approximation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "math/compensated_sum.hpp"
#include "treesample/error.hpp"

namespace treesample {
namespace {

// Computed without subtracting from the sum of all, which would lose small terms.
double sum_of_others(const std::vector<double>& weights, std::size_t one) {
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += i == one ? 0.0 : weights[i];
  return sum;
}

// A lower bound of the share of a part that weighs at least `least` if the others weigh at most `most`. Weights below
// kTiny count as unknown, because the numbers with which they are compared may have been lost to underflow.
double share(double least, double most) {
  constexpr double kTiny = 1e-200;
  return least < kTiny ? 0.0 : least / (least + most);
}

}  // namespace

BoxApproximation::BoxApproximation(std::shared_ptr<const BoxedModel> model) : model_(std::move(model)) {
  const std::vector<BoxTree::Node>& nodes = model_->tree.nodes();
  log_weights_.assign(nodes.size(), kNegInf);
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const BoxTree::Node& node = nodes[i];
    if (!node.is_leaf()) {
      log_weights_[i] = log_add_exp(log_weights_[node.children], log_weights_[node.children + 1]);
    } else if (node.log_mass != kNegInf) {
      log_weights_[i] = node.log_mass + log_add_exp(node.lower, node.upper) - std::log(2.0);
    }
  }
}

Assignment BoxApproximation::sample(Random& random) const {
  check_argument(log_weights_[0] != kNegInf, "BoxApproximation::sample", "no configuration is possible (Z = 0)");
  const std::vector<BoxTree::Node>& nodes = model_->tree.nodes();
  int node = 0;
  while (!nodes[node].is_leaf()) {
    const int first = nodes[node].children;
    const bool is_second = random.uniform() >= std::exp(log_weights_[first] - log_weights_[node]);
    // Rounding may lead to an impossible part; the other part is then taken.
    node = log_weights_[first + (is_second ? 1 : 0)] == kNegInf ? first + (is_second ? 0 : 1)
                                                                : first + (is_second ? 1 : 0);
  }
  return model_->masses.sample(model_->tree.box(node), random);
}

double BoxApproximation::log_prob(std::span<const int> x) const {
  model_->graph.check_assignment(x, "BoxApproximation::log_prob");
  const int leaf = model_->tree.leaf(x);
  if (log_weights_[leaf] == kNegInf) return kNegInf;
  return log_weights_[leaf] - log_weights_[0] + model_->masses.log_tables(x) - model_->tree.nodes()[leaf].log_mass;
}

BoxApproximation::BoundedMarginals BoxApproximation::marginals(double rounding) const {
  const std::vector<BoxTree::Node>& nodes = model_->tree.nodes();
  const LogBounds bounds = model_->tree.bounds();
  BoundedMarginals result;
  Marginals lower, upper;
  const Box all = Box::of_all(model_->graph);
  for (const int last : all.last) result.middle.emplace_back(static_cast<std::size_t>(last + 1), 0.0);
  lower = upper = result.middle;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const BoxTree::Node& node = nodes[i];
    if (!node.is_leaf() || log_weights_[i] == kNegInf) continue;
    const Marginals inside = model_->masses.marginals(model_->tree.box(static_cast<int>(i)));
    const double middle = std::exp(log_weights_[i] - log_weights_[0]);
    const double low = std::exp(node.log_mass + node.lower - bounds.upper);
    const double high = std::exp(node.log_mass + node.upper - bounds.upper);
    for (std::size_t v = 0; v < inside.size(); ++v) {
      for (std::size_t s = 0; s < inside[v].size(); ++s) {
        result.middle[v][s] += middle * inside[v][s];
        lower[v][s] += low * inside[v][s];
        upper[v][s] += high * inside[v][s];
      }
    }
  }
  // The rounding of a quotient of two sums of weights.
  const double most_rounding = 1e-12 + kEpsilon * static_cast<double>(nodes.size()) + std::expm1(4.0 * rounding);
  for (std::size_t v = 0; v < lower.size(); ++v) {
    const double total = std::accumulate(result.middle[v].begin(), result.middle[v].end(), 0.0);
    double error = 0.0;
    for (std::size_t s = 0; s < lower[v].size(); ++s) {
      const double p = result.middle[v][s] /= total;
      const double least = share(lower[v][s], sum_of_others(upper[v], s));
      const double most = 1.0 - share(sum_of_others(lower[v], s), upper[v][s]);
      error = std::max({error, p - least, most - p});
    }
    result.errors.push_back(std::min(1.0, error + most_rounding));
  }
  return result;
}

}  // namespace treesample

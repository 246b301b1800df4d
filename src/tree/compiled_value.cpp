#include "treesample/tree/compiled_value.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "treesample/error.hpp"

namespace treesample {
namespace {

constexpr double kRidge = 1.0;           // counted in samples; 0.1 to 10 work as well
constexpr double kImpossible = 5.0;      // nats below everything else, for actions that were never possible so far
constexpr int kMostFeatures = 500;       // of a level; if there are more, the variables decided last are kept
constexpr double kConstantRidge = 1e-6;  // small, so that the constant is hardly penalised

// Q_n of one level as a linear function. Feature 0 is the constant.
struct LevelFit {
  std::vector<int> variables = {};
  std::vector<int> first = {};              // feature of each variable's state 0
  Eigen::MatrixXd weights = {};             // a row per action
  std::vector<double> low = {}, high = {};  // of each action

  [[nodiscard]] double value(int action, const int* prefix) const {
    double sum = weights(action, 0);
    for (std::size_t j = 0; j < variables.size(); ++j) sum += weights(action, first[j] + prefix[variables[j]]);
    return std::clamp(sum, low[action], high[action]);
  }
};

class CompiledValue final : public LeafValue {
 public:
  CompiledValue(const SearchSpace& space, std::vector<LevelFit> fits) : LeafValue(space), fits_(std::move(fits)) {}
  void q_values(int level, std::span<const int> prefixes, int count, std::span<double> q) const override {
    const auto num_states = static_cast<std::size_t>(space().levels[level].num_states);
    const std::size_t width = space().levels.size();
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
      for (std::size_t a = 0; a < num_states; ++a) {
        q[r * num_states + a] = fits_[level].value(static_cast<int>(a), prefixes.data() + r * width);
      }
    }
  }

 private:
  std::vector<LevelFit> fits_;
};

// The Q-values of one level along samples.
struct LevelData {
  std::vector<const int*> prefixes = {};
  std::vector<double> q = {};  // rows of one value per action
};

std::vector<LevelData> values_along(const TreeApproximation& tree, const std::vector<int>& samples,
                                    const SearchSpace& space) {
  const std::size_t width = space.levels.size();
  std::vector<LevelData> levels(width);
  for (std::size_t begin = 0; begin < samples.size(); begin += width) {
    const std::span<const int> x(samples.data() + begin, width);
    tree.visit_path(x, [&](int level, std::span<const double> q) {
      levels[level].prefixes.push_back(x.data());
      levels[level].q.insert(levels[level].q.end(), q.begin(), q.end());
    });
  }
  return levels;
}

// The variables on which Q_n depends, and their features.
LevelFit features_of(const SearchSpace& space, std::span<const int> context, int num_actions) {
  LevelFit fit;
  int count = 1;
  for (auto m = context.rbegin(); m != context.rend(); ++m) {
    const Level& level = space.levels[*m];
    if (count + level.num_states > kMostFeatures) break;
    fit.variables.push_back(level.variable);
    fit.first.push_back(count);
    count += level.num_states;
  }
  fit.weights = Eigen::MatrixXd::Zero(num_actions, count);
  fit.low.assign(num_actions, 0.0);
  fit.high.assign(num_actions, 0.0);
  return fit;
}

// Fits one action from the rows in which it is possible. Returns false if there are none.
bool solve(LevelFit& fit, const LevelData& data, int action) {
  const auto num_actions = static_cast<std::size_t>(fit.weights.rows());
  const auto size = fit.weights.cols();
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd sums = Eigen::VectorXd::Zero(size);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double total = 0.0;
  double count = 0.0;
  const auto value = [&](std::size_t row) { return data.q[row * num_actions + static_cast<std::size_t>(action)]; };
  for (std::size_t row = 0; row < data.prefixes.size(); ++row) {
    if (!std::isfinite(value(row))) continue;
    low = std::min(low, value(row));
    high = std::max(high, value(row));
    total += value(row);
    ++count;
  }
  if (count == 0.0) return false;
  const double mean = total / count;
  std::vector<Eigen::Index> active(fit.variables.size() + 1, 0);
  for (std::size_t row = 0; row < data.prefixes.size(); ++row) {
    if (!std::isfinite(value(row))) continue;
    for (std::size_t j = 0; j < fit.variables.size(); ++j) {
      active[j + 1] = fit.first[j] + data.prefixes[row][fit.variables[j]];
    }
    for (const Eigen::Index i : active) {
      sums[i] += value(row) - mean;
      for (const Eigen::Index j : active) products(i, j) += 1.0;
    }
  }
  products.diagonal().array() += kRidge;
  products(0, 0) += kConstantRidge - kRidge;
  fit.weights.row(action) = products.ldlt().solve(sums);
  fit.weights(action, 0) += mean;
  fit.low[action] = low;
  fit.high[action] = high;
  return true;
}

LevelFit fit_level(const SearchSpace& space, int level, std::span<const int> context, const LevelData& data) {
  const Level& here = space.levels[level];
  LevelFit fit = features_of(space, context, here.num_states);
  std::vector<int> unknown;
  double lowest = std::numeric_limits<double>::infinity();
  for (int a = 0; a < here.num_states; ++a) {
    if (solve(fit, data, a)) {
      lowest = std::min(lowest, fit.low[a]);
    } else {
      unknown.push_back(a);
    }
  }
  const double rest = std::isfinite(lowest) ? lowest - kImpossible : here.log_states_below;
  for (const int a : unknown) fit.weights(a, 0) = fit.low[a] = fit.high[a] = rest;
  return fit;
}

}  // namespace

std::shared_ptr<const LeafValue> compile_tree(const TreeApproximation& tree, const FactorGraph& graph,
                                              const SearchSpace& space, int num_samples, std::uint64_t seed) {
  check_range("compile_tree", "num_samples", num_samples, 1, 1 << 24);
  check_argument(space.kind == SpaceKind::kTree, "compile_tree", "the space must be `tree`");
  std::vector<int> order;
  for (const Level& level : space.levels) order.push_back(level.variable);
  const SearchSpace path = make_search_space(graph, order, SpaceKind::kGraph);  // made only for its contexts
  Random random(seed, "compile");
  const std::vector<int> samples = tree.sample_batch(num_samples, random).states;
  const std::vector<LevelData> data = values_along(tree, samples, space);
  std::vector<LevelFit> fits;
  for (int n = 0; n < space.num_levels(); ++n) {
    fits.push_back(fit_level(space, n, path.levels[n].context, data[n]));
  }
  return std::make_shared<CompiledValue>(space, std::move(fits));
}

}  // namespace treesample

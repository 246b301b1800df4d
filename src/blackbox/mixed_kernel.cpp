#include "blackbox/mixed_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "treesample/math/vector_math.hpp"

namespace treesample {
namespace {

// How uneven the steps between sorted numbers are: their standard deviation over their mean.
double unevenness(const std::vector<double>& sorted) {
  const auto steps = static_cast<double>(sorted.size() - 1);
  const double mean = (sorted.back() - sorted.front()) / steps;
  double squares = 0.0;
  for (std::size_t i = 1; i < sorted.size(); ++i) squares += std::pow((sorted[i] - sorted[i - 1]) / mean - 1.0, 2);
  return std::sqrt(squares / steps);
}

Eigen::VectorXd scaled_levels(std::vector<double> levels) {
  std::vector<double> sorted = levels;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front() > 0.0 && sorted.size() > 2) {
    std::vector<double> logs(sorted.size());
    std::transform(sorted.begin(), sorted.end(), logs.begin(), [](double level) { return std::log(level); });
    if (unevenness(logs) < unevenness(sorted)) {
      for (double& level : levels) level = std::log(level);
      sorted = std::move(logs);
    }
  }
  Eigen::VectorXd result(std::ssize(levels));
  const double half = 0.5 * sorted.front(), range = 0.5 * sorted.back() - half;  // halves: the range may overflow
  for (Eigen::Index i = 0; i < result.size(); ++i)
    result[i] = (0.5 * levels[static_cast<std::size_t>(i)] - half) / range;
  return result;
}

// Columns: level, and polynomials of degree 1 and 2 that have mean 0 and mean square 1 over the states.
Eigen::MatrixXd level_features(const std::vector<double>& levels) {
  Eigen::MatrixXd features = Eigen::MatrixXd::Zero(std::ssize(levels), 3);
  if (levels.size() < 2) return features;
  features.col(0) = scaled_levels(levels);
  const auto normalised = [&](Eigen::VectorXd column) -> Eigen::VectorXd {
    column.array() -= column.mean();
    return column / std::sqrt(std::max(column.squaredNorm() / static_cast<double>(column.size()), 1e-300));
  };
  features.col(1) = normalised(features.col(0));
  if (levels.size() == 2) {
    features.col(1) *= std::sqrt(2.0);  // there is no quadratic part to share with
    return features;
  }
  Eigen::VectorXd square = features.col(1).cwiseAbs2();
  square.array() -= square.mean();
  square -= features.col(1) * (features.col(1).dot(square) / features.col(1).squaredNorm());
  features.col(2) = normalised(square);
  return features;
}

}  // namespace

void KernelPoints::append(const KernelPoints& other, Eigen::Index row) {
  states.conservativeResize(count + 1, Eigen::NoChange);
  states.row(count) = other.states.row(row);
  if (level.rows() > 0) {
    level.conservativeResize(count + 1, Eigen::NoChange);
    line.conservativeResize(count + 1, Eigen::NoChange);
    bend.conservativeResize(count + 1, Eigen::NoChange);
    level.row(count) = other.level.row(row);
    line.row(count) = other.line.row(row);
    bend.row(count) = other.bend.row(row);
  }
  ++count;
}

MixedKernel::MixedKernel(const Domain& domain, double power) : num_states_(domain.num_states), power_(power) {
  features_.resize(num_states_.size());
  for (int v = 0; v < width(); ++v) {
    if (!domain.is_ordered(v)) continue;
    features_[v] = level_features(domain.levels[v]);
    has_ordered_ = true;
  }
  set(prior_mean());
}

// Expected are a correlation of exp(-1/2) or so between random configurations, and effects that are shared out evenly.
Eigen::VectorXd MixedKernel::prior_mean() const {
  Eigen::VectorXd mean = Eigen::VectorXd::Constant(num_parameters(), -std::log(static_cast<double>(width())));
  for (int v = 0; v < width(); ++v) {
    if (features_[v].size() > 0) mean[v] = 0.0;
  }
  mean.tail(3) << 0.0, -0.5, 0.0;
  return mean;
}

Eigen::VectorXd MixedKernel::prior_sd() const {
  Eigen::VectorXd sd = Eigen::VectorXd::Constant(num_parameters(), 1.5);
  sd.segment(width(), width()).setConstant(1.0);
  sd.tail(3).setConstant(2.0);
  return sd;
}

void MixedKernel::set(const Eigen::VectorXd& parameters) {
  const Eigen::VectorXd values = parameters.array().exp();
  w_ = values.head(width());
  u_ = values.segment(width(), width());
  s1_ = values[2 * width()];
  s2_ = values[2 * width() + 1];
  s3_ = values[2 * width() + 2];
}

KernelPoints MixedKernel::points(std::span<const int> rows) const {
  const Eigen::Index columns = width(), count = std::ssize(rows) / columns;
  KernelPoints points{.count = count, .states = Eigen::MatrixXi(count, columns)};
  const Eigen::Index ordered = has_ordered_ ? count : 0;
  for (auto* matrix : {&points.level, &points.line, &points.bend}) *matrix = Eigen::MatrixXd::Zero(ordered, columns);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (int v = 0; v < width(); ++v) {
      const Single one = single(v, rows[static_cast<std::size_t>(i * columns + v)]);
      points.states(i, v) = one.state;
      if (!has_ordered_) continue;
      points.level(i, v) = one.level;
      points.line(i, v) = one.line;
      points.bend(i, v) = one.bend;
    }
  }
  return points;
}

MixedKernel::Single MixedKernel::single(int variable, int state) const {
  const Eigen::MatrixXd& features = features_[variable];
  if (features.size() == 0) return {.state = state};
  return {state, features(state, 0), features(state, 1), features(state, 2)};
}

void MixedKernel::add_variable(const KernelPoints& points, int variable, const Single& other, Eigen::Index first,
                               Eigen::ArrayXd& exponent, Eigen::ArrayXd& e1, Eigen::ArrayXd& squares) const {
  const double w = w_[variable], u = u_[variable];
  const Eigen::Index count = points.count - first;
  if (features_[variable].size() == 0) {
    const int k = num_states_[variable];
    const double apart = k > 1 ? -u / (k - 1) : u, u_square = u * u, apart_square = apart * apart;
    const int* const states = points.states.col(variable).data() + first;
    for (Eigen::Index i = 0; i < count; ++i) {
      const bool same = states[i] == other.state;
      exponent[i] -= same ? 0.0 : w;
      e1[i] += same ? u : apart;
      squares[i] += same ? u_square : apart_square;
    }
    return;
  }
  const auto distance = (points.level.col(variable).segment(first, count).array() - other.level).abs();
  if (power_ == 1.0) {
    exponent -= w * distance;
  } else {
    exponent -= w * distance.square();
  }
  const Eigen::ArrayXd common = 0.5 * u *
                                (points.line.col(variable).segment(first, count).array() * other.line +
                                 points.bend.col(variable).segment(first, count).array() * other.bend);
  e1 += common;
  squares += common.square();
}

void MixedKernel::column(const KernelPoints& points, const KernelPoints& others, Eigen::Index other,
                         Eigen::Ref<Eigen::VectorXd> out) const {
  const Parts all = [&] {
    std::vector<int> x(num_states_.size());
    for (int v = 0; v < width(); ++v) x[static_cast<std::size_t>(v)] = others.states(other, v);
    return parts(points, 0, x);
  }();
  out = (kConstant + s1_ * all.e1.array() + s2_ * all.e2.array() + s3_ * all.product.array()).matrix();
}

void MixedKernel::neighbour_products(const KernelPoints& points, const Eigen::VectorXd& pull, std::span<const int> x,
                                     std::span<double> out) const {
  const Eigen::ArrayXd zero = Eigen::ArrayXd::Zero(points.count);
  Eigen::ArrayXd exponent = zero, e1 = zero, squares = zero;
  for (int v = 0; v < width(); ++v) {
    add_variable(points, v, single(v, x[static_cast<std::size_t>(v)]), 0, exponent, e1, squares);
  }
  const double constant = kConstant * pull.sum();
  std::size_t place = 0;
  for (int v = 0; v < width(); ++v) {
    Eigen::ArrayXd own_exponent = zero, own_e1 = zero, own_squares = zero;
    add_variable(points, v, single(v, x[static_cast<std::size_t>(v)]), 0, own_exponent, own_e1, own_squares);
    for (int a = 0; a < num_states_[v]; ++a) {
      Eigen::ArrayXd product = exponent - own_exponent, sum = e1 - own_e1, square = squares - own_squares;
      add_variable(points, v, single(v, a), 0, product, sum, square);
      exp_each({product.data(), static_cast<std::size_t>(product.size())});
      const auto covariance = s1_ * sum + s2_ * 0.5 * (sum.square() - square) + s3_ * product;
      out[place++] = constant + (pull.array() * covariance).sum();
    }
  }
}

double MixedKernel::variance(const KernelPoints& points, Eigen::Index row) const {
  double e1 = 0.0, squares = 0.0;
  for (int v = 0; v < width(); ++v) {
    double c = u_[v];
    if (features_[v].size() > 0)
      c *= 0.5 * (points.line(row, v) * points.line(row, v) + points.bend(row, v) * points.bend(row, v));
    e1 += c;
    squares += c * c;
  }
  return kConstant + s1_ * e1 + s2_ * 0.5 * (e1 * e1 - squares) + s3_;
}

MixedKernel::Parts MixedKernel::parts(const KernelPoints& points, int first, std::span<const int> states) const {
  Eigen::ArrayXd exponent = Eigen::ArrayXd::Zero(points.count), e1 = exponent, squares = exponent;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const int v = first + static_cast<int>(i);
    add_variable(points, v, single(v, states[i]), 0, exponent, e1, squares);
  }
  exp_each({exponent.data(), static_cast<std::size_t>(exponent.size())});
  return {e1, 0.5 * (e1.square() - squares), exponent};
}

Eigen::MatrixXd MixedKernel::gram(const KernelPoints& points) const {
  Eigen::MatrixXd result(points.count, points.count);
  for (Eigen::Index j = 0; j < points.count; ++j) {
    const Eigen::Index count = points.count - j;
    Eigen::ArrayXd exponent = Eigen::ArrayXd::Zero(count), e1 = exponent, squares = exponent;
    for (int v = 0; v < width(); ++v) add_variable(points, v, single(v, points.states(j, v)), j, exponent, e1, squares);
    exp_each({exponent.data(), static_cast<std::size_t>(count)});
    result.col(j).tail(count) = (kConstant + s1_ * e1 + s2_ * 0.5 * (e1.square() - squares) + s3_ * exponent).matrix();
  }
  return result;
}

void MixedKernel::add_gradient(const KernelPoints& points, const Eigen::MatrixXd& weights,
                               Eigen::VectorXd& gradient) const {
  const Eigen::Index n = width();
  for (Eigen::Index j = 0; j < points.count; ++j) {
    const Eigen::Index count = points.count - j;
    Eigen::ArrayXd exponent = Eigen::ArrayXd::Zero(count), e1 = exponent, squares = exponent;
    for (int v = 0; v < width(); ++v) add_variable(points, v, single(v, points.states(j, v)), j, exponent, e1, squares);
    exp_each({exponent.data(), static_cast<std::size_t>(count)});
    Eigen::ArrayXd weight = 2.0 * weights.col(j).tail(count).array();
    weight[0] *= 0.5;  // the diagonal
    const Eigen::ArrayXd product = s3_ * weight * exponent;
    const Eigen::ArrayXd slope = weight * (s1_ + s2_ * e1), bow = s2_ * weight;
    gradient[2 * n] += s1_ * (weight * e1).sum();
    gradient[2 * n + 1] += 0.5 * s2_ * (weight * (e1.square() - squares)).sum();
    gradient[2 * n + 2] += product.sum();
    const double all_slope = slope.sum(), all_bow = bow.sum(), all_product = product.sum();
    for (int v = 0; v < width(); ++v) {
      const Single other = single(v, points.states(j, v));
      if (features_[v].size() == 0) {
        const int k = num_states_[v];
        const double apart = k > 1 ? -u_[v] / (k - 1) : u_[v];
        const int* const states = points.states.col(v).data() + j;
        double same_product = 0.0, same_slope = 0.0, same_bow = 0.0;
        for (Eigen::Index i = 0; i < count; ++i) {
          const double same = states[i] == other.state ? 1.0 : 0.0;
          same_product += same * product[i];
          same_slope += same * slope[i];
          same_bow += same * bow[i];
        }
        gradient[v] -= w_[v] * (all_product - same_product);
        gradient[n + v] +=
            u_[v] * (same_slope - u_[v] * same_bow) + apart * (all_slope - same_slope - apart * (all_bow - same_bow));
        continue;
      }
      const Eigen::ArrayXd distance = (points.level.col(v).tail(count).array() - other.level).abs();
      gradient[v] -= w_[v] * (power_ == 1.0 ? (product * distance).sum() : (product * distance.square()).sum());
      const Eigen::ArrayXd common =
          0.5 * u_[v] *
          (points.line.col(v).tail(count).array() * other.line + points.bend.col(v).tail(count).array() * other.bend);
      gradient[n + v] += (common * (slope - bow * common)).sum();
    }
  }
}

}  // namespace treesample

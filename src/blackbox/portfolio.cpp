#include "treesample/blackbox/portfolio.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "treesample/blackbox/forest.hpp"
#include "treesample/blackbox/gaussian_process.hpp"
#include "treesample/blackbox/sparse_terms.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kImportanceScale = 3.0;   // nats in which the importance of a value falls by e ...
constexpr double kLeastImportance = 1e-5;  // ... but no further than this
constexpr double kMostResidual = 15.0;     // nats; a larger one counts as this
constexpr double kLeastWeight = 0.02;      // smaller ones are 0
constexpr double kCaution = 0.2;           // added to the diagonal, relative to the best one: an average errs less
constexpr double kHalfLife = 0.25;         // of the importance of a prediction of a value to come, in values
constexpr double kLeastRatio = 1e-30;      // of two sums of squares: below, the better one is exact
constexpr int kIterations = 300;

// Minimises w^T A w over the simplex, for A positive semidefinite, then drops what is next to nothing.
//
// With u = t w this is min 1/2 u^T A u - sum u over u >= 0, one coordinate after the other, in units of the square root
// of the diagonal. Members may differ by nine orders of magnitude. A gradient step that suits the worst of them throws
// the best one out; a step along one coordinate never makes things worse.
std::vector<double> best_weights(Eigen::MatrixXd a) {
  const Eigen::Index count = a.rows();
  a.diagonal() = a.diagonal().cwiseMax(kLeastRatio * a.diagonal().maxCoeff());
  const Eigen::VectorXd unit = a.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = unit.asDiagonal() * a * unit.asDiagonal();
  Eigen::Index best = 0;
  const double largest = unit.maxCoeff(&best);
  Eigen::VectorXd u = Eigen::VectorXd::Zero(count);
  u[best] = 1.0;
  for (int i = 0; i < kIterations; ++i) {
    for (Eigen::Index k = 0; k < count; ++k) u[k] = std::max(0.0, u[k] + unit[k] / largest - scaled.row(k).dot(u));
  }
  Eigen::VectorXd w = u.cwiseProduct(unit);
  w /= w.sum();
  for (Eigen::Index k = 0; k < count; ++k) {
    if (w[k] < kLeastWeight) w[k] = 0.0;
  }
  w /= w.sum();
  return {w.data(), w.data() + count};
}

}  // namespace

Portfolio::Portfolio(Domain domain, std::vector<std::unique_ptr<Surrogate>> members)
    : Surrogate(std::move(domain)), members_(std::move(members)) {
  check_argument(!members_.empty(), "Portfolio", "there is no surrogate");
  weights_.assign(members_.size(), 1.0 / static_cast<double>(members_.size()));
}
Portfolio::~Portfolio() = default;

void Portfolio::fit(const ToldValues& told, const ShouldStop& should_stop) {
  for (const auto& member : members_) member->fit(told, should_stop);
  foreseen_.resize(told.size());
  weigh(told);
}

// The sums over the values of importance times the products of the residuals of two members. `weight` is that of a
// value by its place.
template <typename Of, typename Weight>
Eigen::MatrixXd residual_products(const ToldValues& told, std::size_t num_members, const Of& prediction,
                                  const Weight& weight) {
  const auto count = static_cast<Eigen::Index>(num_members);
  double top = kNegInf;
  for (std::size_t i = 0; i < told.size(); ++i) top = std::max(top, told.log_density(i));
  Eigen::MatrixXd products = Eigen::MatrixXd::Zero(count, count);
  Eigen::VectorXd residuals(count);
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told.values[i] == kNegInf) continue;
    double largest = told.values[i];
    bool is_complete = true;
    for (Eigen::Index k = 0; k < count && is_complete; ++k) {
      const std::optional<double> own = prediction(static_cast<std::size_t>(k), i);
      is_complete = own.has_value();
      if (!is_complete) break;
      largest = std::max(largest, *own);
      residuals[k] = std::clamp(told.values[i] - *own, -kMostResidual, kMostResidual);
    }
    if (!is_complete) continue;
    const double density = largest + (told.known.empty() ? 0.0 : told.known[i]);
    const double importance = std::exp(std::min(0.0, (density - top) / kImportanceScale)) + kLeastImportance;
    products += weight(i) * importance * residuals * residuals.transpose();
  }
  return products;
}

void Portfolio::weigh(const ToldValues& told) {
  std::vector<std::vector<std::optional<double>>> predictions;
  for (const auto& member : members_) predictions.push_back(member->held_out());
  const auto without = [&](std::size_t k, std::size_t i) {
    return i < predictions[k].size() ? predictions[k][i] : std::nullopt;
  };
  const auto before = [&](std::size_t k, std::size_t i) {
    return i < foreseen_.size() && !foreseen_[i].empty() ? std::optional(foreseen_[i][k]) : std::nullopt;
  };
  const auto recent = [&](std::size_t i) {
    const double age = static_cast<double>(told.size() - i) / static_cast<double>(told.size());
    return std::exp2(-age / kHalfLife);
  };
  Eigen::MatrixXd products = residual_products(told, members_.size(), without, [](std::size_t) { return 1.0; });
  const Eigen::MatrixXd later = residual_products(told, members_.size(), before, recent);
  if (later.diagonal().maxCoeff() > 0.0 && products.diagonal().maxCoeff() > 0.0) {
    const auto floored = [](const Eigen::MatrixXd& sums) -> Eigen::ArrayXd {
      return sums.diagonal().array().max(kLeastRatio * sums.diagonal().maxCoeff());
    };
    const Eigen::VectorXd scale = (floored(later) / floored(products)).pow(0.25);
    products = scale.asDiagonal() * products * scale.asDiagonal();
  }
  const double least = products.diagonal().minCoeff();
  products.diagonal().array() += kCaution * least;
  if (products.diagonal().maxCoeff() > 0.0) weights_ = best_weights(products);
  held_out_.assign(told.size(), {});
  for (std::size_t i = 0; i < told.size(); ++i) {
    double mean = 0.0;
    bool is_complete = true;
    for (std::size_t k = 0; k < members_.size() && is_complete; ++k) {
      is_complete = without(k, i).has_value();
      if (is_complete) mean += weights_[k] * *without(k, i);
    }
    if (is_complete) held_out_[i] = mean;
  }
}

void Portfolio::add(std::span<const int> x, double value) {
  std::vector<double> means;
  if (value != kNegInf) {
    Prediction one;
    for (const auto& member : members_) {
      member->predict(x, {&one, 1});
      means.push_back(one.mean);
    }
  }
  foreseen_.push_back(std::move(means));
  for (const auto& member : members_) member->add(x, value);
}

void Portfolio::predict(std::span<const int> rows, std::span<Prediction> out) const {
  std::vector<Prediction> own(out.size());
  std::vector<double> squares(out.size(), 0.0);
  for (Prediction& prediction : out) prediction = {0.0, 0.0};
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (weights_[k] == 0.0) continue;
    members_[k]->predict(rows, own);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i].mean += weights_[k] * own[i].mean;
      out[i].sd += weights_[k] * own[i].sd * own[i].sd;
      squares[i] += weights_[k] * own[i].mean * own[i].mean;
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].sd = std::sqrt(out[i].sd + std::max(0.0, squares[i] - out[i].mean * out[i].mean));
  }
}

void Portfolio::predict_all(std::span<double> means) const {
  check_all("Portfolio::predict_all", means.size());
  std::fill(means.begin(), means.end(), 0.0);
  std::vector<double> own(means.size());
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (weights_[k] == 0.0) continue;
    members_[k]->predict_all(own);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] += weights_[k] * own[i];
  }
}

void Portfolio::predict_means(std::span<const int> rows, std::span<double> means) const {
  std::fill(means.begin(), means.end(), 0.0);
  std::vector<double> own(means.size());
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (weights_[k] == 0.0) continue;
    members_[k]->predict_means(rows, own);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] += weights_[k] * own[i];
  }
}

const LearnedTerms* Portfolio::terms() const {
  for (const auto& member : members_) {
    if (member->terms() != nullptr) return member->terms();
  }
  return nullptr;
}

void Portfolio::predict_neighbours(std::span<const int> x, std::span<double> means) const {
  std::fill(means.begin(), means.end(), 0.0);
  std::vector<double> own(means.size());
  for (std::size_t k = 0; k < members_.size(); ++k) {
    if (weights_[k] == 0.0) continue;
    members_[k]->predict_neighbours(x, own);
    for (std::size_t i = 0; i < means.size(); ++i) means[i] += weights_[k] * own[i];
  }
}

std::unique_ptr<DrawnFunction> Portfolio::draw(Random& random) const {
  return members_[static_cast<std::size_t>(random.categorical(weights_))]->draw(random);
}

std::vector<std::pair<std::string, double>> Portfolio::weights() const {
  std::vector<std::pair<std::string, double>> result;
  for (std::size_t k = 0; k < members_.size(); ++k) result.emplace_back(members_[k]->name(), weights_[k]);
  return result;
}

std::unique_ptr<Surrogate> make_portfolio(const Domain& domain, const Noise& noise,
                                          const std::vector<std::string>& without) {
  std::vector<std::unique_ptr<Surrogate>> members;
  const auto wants = [&](const char* name) { return std::find(without.begin(), without.end(), name) == without.end(); };
  if (wants("gaussian process")) {
    members.push_back(std::make_unique<GaussianProcess>(
        domain, GaussianProcessOptions{.noise_sd = noise.sd, .is_noisy = noise.is_there}));
  }
  if (wants("sparse terms")) {
    members.push_back(std::make_unique<SparseTerms>(domain, SparseTermsOptions{.is_noisy = noise.is_there}));
  }
  if (wants("forest")) members.push_back(std::make_unique<Forest>(domain));
  return std::make_unique<Portfolio>(domain, std::move(members));
}

}  // namespace treesample

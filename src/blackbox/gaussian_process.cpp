#include "treesample/blackbox/gaussian_process.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "blackbox/choose_points.hpp"
#include "blackbox/depth_warp.hpp"
#include "blackbox/grid_product.hpp"
#include "blackbox/prior_draw.hpp"
#include "blackbox/process_fit.hpp"
#include "surrogate/term_features.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kExactDepth = 6.0;       // nats below the best value within which all values count alike
constexpr int kFirstIterations = 40;      // of the parameters
constexpr int kLaterIterations = 10;      // of those that begin with the last ones
constexpr double kFitAnewGrowth = 2.0;    // growth of the values after which they are fitted from scratch, too
constexpr double kSpareRoom = 1.25;       // for values that are added, relative to max_points
constexpr double kLeastVariance = 1e-12;  // of a prediction, relative to the variance of the values

}  // namespace

void GaussianProcessOptions::validate() const {
  check_range("GaussianProcessOptions", "max_points", max_points, 2, 20'000);
  check_range("GaussianProcessOptions", "fit_points", fit_points, 2, 5'000);
  if (noise_sd) check_at_least("GaussianProcessOptions", "noise_sd", *noise_sd, 0.0);
}

class GaussianProcess::Impl {
 public:
  Impl(const Domain& domain, const GaussianProcessOptions& options)
      : domain_(domain), options_(options), kernel_(domain, 2.0), parameters_(ProcessParameters::initial(kernel_)) {}

  void fit(const ToldValues& told, const ShouldStop& should_stop);
  void add(std::span<const int> x, double value);
  void predict(std::span<const int> rows, std::span<Prediction> out) const;
  void predict_means(std::span<const int> rows, std::span<double> means) const;
  void predict_all(std::span<double> means) const;
  void predict_neighbours(std::span<const int> x, std::span<double> means) const {
    std::fill(means.begin(), means.end(), 0.0);
    if (size_ == 0) return;
    kernel_.neighbour_products(points_, pull_, x, means);
    for (double& mean : means) mean = value_of(mean);
  }
  [[nodiscard]] std::vector<std::optional<double>> held_out() const;
  [[nodiscard]] std::unique_ptr<DrawnFunction> draw(Random& random) const;
  [[nodiscard]] bool has_values() const { return size_ > 0; }
  [[nodiscard]] double noise_sd() const { return scale_ * std::sqrt(parameters_.noise()); }

 private:
  class Drawn;
  [[nodiscard]] ProcessData data_of(const ToldValues& told, std::span<const std::size_t> chosen,
                                    std::vector<Eigen::Index>* group_of = nullptr) const;
  void choose_parameters(const ToldValues& told, const ShouldStop& should_stop);
  void condition(const ProcessData& data);
  [[nodiscard]] Eigen::VectorXd solve(Eigen::VectorXd values) const {
    const auto lower = factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>();
    lower.solveInPlace(values);
    lower.transpose().solveInPlace(values);
    return values;
  }
  [[nodiscard]] double standardised(double value) const { return (warp_.warped(value) - centre_) / scale_; }
  [[nodiscard]] double depth(double standardised) const {
    return std::max(0.0, -(standardised * scale_ + centre_) - kExactDepth) / scale_;
  }
  [[nodiscard]] double jitter() const { return kProcessJitter * kernel_.amplitude(); }
  [[nodiscard]] double value_of(double standardised) const { return warp_.value(standardised * scale_ + centre_); }

  const Domain& domain_;
  GaussianProcessOptions options_;
  MixedKernel kernel_;
  ProcessParameters parameters_;
  DepthWarp warp_;
  double centre_ = 0.0, scale_ = 1.0;
  std::size_t num_anew_ = 0;  // the number of values at the last fit from scratch
  KernelPoints points_;
  Eigen::Index size_ = 0;   // of what follows
  Eigen::MatrixXd factor_;  // Cholesky, with room for more
  Eigen::VectorXd values_, noises_, pull_;
  std::size_t num_fitted_ = 0;          // of the last fit: values, -inf as well
  std::vector<std::size_t> finite_;     // the places of the finite ones
  std::vector<std::size_t> chosen_;     // the places, among these, of those that were used
  std::vector<Eigen::Index> group_of_;  // their points
};

// Replicates become one point.
ProcessData GaussianProcess::Impl::data_of(const ToldValues& told, std::span<const std::size_t> chosen,
                                           std::vector<Eigen::Index>* group_of) const {
  if (group_of != nullptr) group_of->clear();
  std::map<std::vector<int>, Eigen::Index> places;
  std::vector<int> rows;
  std::vector<std::vector<double>> groups;
  for (const std::size_t i : chosen) {
    const auto row = told.row(i);
    const auto [place, is_new] = places.try_emplace({row.begin(), row.end()}, std::ssize(groups));
    if (is_new) {
      rows.insert(rows.end(), row.begin(), row.end());
      groups.emplace_back();
    }
    groups[static_cast<std::size_t>(place->second)].push_back(standardised(told.values[i]));
    if (group_of != nullptr) group_of->push_back(place->second);
  }
  const Eigen::Index count = std::ssize(groups);
  ProcessData data{.points = kernel_.points(rows)};
  for (auto* vector : {&data.values, &data.depths, &data.counts, &data.spread}) vector->resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const std::vector<double>& group = groups[static_cast<std::size_t>(i)];
    const auto size = static_cast<double>(group.size());
    double mean = 0.0, squares = 0.0;
    for (const double y : group) mean += y / size;
    for (const double y : group) squares += (y - mean) * (y - mean);
    data.values[i] = mean;
    data.depths[i] = depth(mean);
    data.counts[i] = size;
    data.spread[i] = squares;
  }
  return data;
}

void GaussianProcess::Impl::choose_parameters(const ToldValues& told, const ShouldStop& should_stop) {
  const ProcessData data = data_of(told, choose_points(told, static_cast<std::size_t>(options_.fit_points)));
  std::optional<double> nu;
  if (options_.noise_sd) nu = std::max(std::pow(*options_.noise_sd / scale_, 2), 1e-12);
  const bool is_first = num_anew_ == 0;
  const bool is_anew = static_cast<double>(told.size()) >= kFitAnewGrowth * static_cast<double>(num_anew_);
  std::optional<ProcessFit> best;
  std::optional<MixedKernel> best_kernel;
  const auto attempt = [&](MixedKernel kernel, const ProcessParameters& start, int iterations) {
    const ProcessFit fitted = fit_process(kernel, data, start, nu, iterations, should_stop);
    if (best && !(fitted.loss < best->loss)) return;
    best = fitted;
    best_kernel = std::move(kernel);
  };
  if (!is_first) attempt(kernel_, parameters_, kLaterIterations);
  if (is_anew) {
    num_anew_ = told.size();
    for (const double power : {2.0, 1.0}) {
      if (power < 2.0 && !kernel_.has_ordered()) break;
      MixedKernel kernel(domain_, power);
      const ProcessParameters start = ProcessParameters::initial(kernel);
      attempt(std::move(kernel), start, kFirstIterations);
    }
  }
  kernel_ = std::move(*best_kernel);
  parameters_ = best->parameters;
}

void GaussianProcess::Impl::fit(const ToldValues& all, const ShouldStop& should_stop) {
  warp_ = DepthWarp(all.values);
  size_ = 0;
  num_fitted_ = all.size();
  finite_.clear();
  chosen_.clear();
  if (!warp_.has_values()) return;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.values[i] != kNegInf) finite_.push_back(i);
  }
  const ToldValues told = finite_values(all);
  double sum = 0.0, squares = 0.0;
  const auto count = static_cast<double>(told.size());
  for (const double y : told.values) sum += warp_.warped(y);
  centre_ = sum / count;
  for (const double y : told.values) squares += std::pow(warp_.warped(y) - centre_, 2);
  scale_ = std::sqrt(squares / count);
  // Values that are all equal tell how little they differ only when they are many.
  if (!(scale_ > 1e-12 * std::max(1.0, -centre_))) scale_ = 1.0 / count;
  choose_parameters(told, should_stop);
  chosen_ = choose_points(told, static_cast<std::size_t>(options_.max_points));
  condition(data_of(told, chosen_, &group_of_));
}

// y_i - (C^-1 y)_i / (C^-1)_ii, with the inverse of the factor.
std::vector<std::optional<double>> GaussianProcess::Impl::held_out() const {
  std::vector<std::optional<double>> result(num_fitted_);
  if (size_ == 0) return result;
  const Eigen::Index count = *std::max_element(group_of_.begin(), group_of_.end()) + 1;
  Eigen::MatrixXd inverse = factor_.topLeftCorner(count, count);
  invert_lower(inverse);
  const auto lower = factor_.topLeftCorner(count, count).triangularView<Eigen::Lower>();
  Eigen::VectorXd pull = lower.solve(values_.head(count));
  lower.transpose().solveInPlace(pull);
  Eigen::VectorXd without(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    without[i] = values_[i] - pull[i] / inverse.col(i).tail(count - i).squaredNorm();
  }
  for (std::size_t i = 0; i < chosen_.size(); ++i) result[finite_[chosen_[i]]] = value_of(without[group_of_[i]]);
  return result;
}

void GaussianProcess::Impl::condition(const ProcessData& data) {
  points_ = data.points;
  size_ = data.size();
  values_ = data.values;
  Eigen::MatrixXd covariance = kernel_.gram(points_);
  noises_.resize(size_);
  for (Eigen::Index i = 0; i < size_; ++i) noises_[i] = parameters_.noise_at(data.depths[i]) / data.counts[i];
  covariance.diagonal() += noises_;
  // The jitter grows until the factor exists.
  for (double more = jitter();; more *= 10.0) {
    covariance.diagonal().array() += more;
    const Eigen::LLT<Eigen::MatrixXd> factor(covariance);
    if (factor.info() != Eigen::Success) continue;
    factor_ = factor.matrixLLT();
    break;
  }
  pull_ = solve(values_.head(size_));
}

void GaussianProcess::Impl::add(std::span<const int> x, double value) {
  const auto most = static_cast<Eigen::Index>(kSpareRoom * options_.max_points);
  if (size_ == 0 || value == kNegInf || size_ >= most) return;  // where there are too many, the next fit chooses
  if (size_ == factor_.rows()) {
    const Eigen::Index room = size_ + size_ / 4 + 16;
    factor_.conservativeResize(room, room);
    values_.conservativeResize(room);
    noises_.conservativeResize(room);
  }
  const KernelPoints one = kernel_.points(x);
  Eigen::VectorXd column(size_);
  kernel_.column(points_, one, 0, column);
  factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>().solveInPlace(column);
  const double y = standardised(value), own = parameters_.noise_at(depth(y)) + jitter();
  const double rest = kernel_.variance(one, 0) - column.squaredNorm() + own;
  factor_.row(size_).head(size_) = column.transpose();
  factor_(size_, size_) = std::sqrt(std::max(rest, own));
  values_[size_] = y;
  noises_[size_] = own;
  points_.append(one, 0);
  ++size_;
  pull_ = solve(values_.head(size_));
}

void GaussianProcess::Impl::predict(std::span<const int> rows, std::span<Prediction> out) const {
  constexpr Eigen::Index kBlock = 256;
  if (size_ == 0) {
    std::fill(out.begin(), out.end(), Prediction{0.0, 1.0});
    return;
  }
  const KernelPoints asked = kernel_.points(rows);
  const double misfit = options_.is_noisy || options_.noise_sd ? 0.0 : parameters_.noise();
  Eigen::MatrixXd columns(size_, std::min(asked.count, kBlock));
  for (Eigen::Index first = 0; first < asked.count; first += kBlock) {
    const Eigen::Index count = std::min(kBlock, asked.count - first);
    for (Eigen::Index i = 0; i < count; ++i) kernel_.column(points_, asked, first + i, columns.col(i));
    const Eigen::VectorXd means = columns.leftCols(count).transpose() * pull_;
    factor_.topLeftCorner(size_, size_).triangularView<Eigen::Lower>().solveInPlace(columns.leftCols(count));
    for (Eigen::Index i = 0; i < count; ++i) {
      const double variance = kernel_.variance(asked, first + i) - columns.col(i).squaredNorm();
      const double sd = scale_ * std::sqrt(std::max(variance, kLeastVariance) + misfit);
      const double warped = scale_ * means[i] + centre_;
      out[static_cast<std::size_t>(first + i)] = {warp_.value(warped), sd * warp_.slope(warped)};
    }
  }
}

void GaussianProcess::Impl::predict_means(std::span<const int> rows, std::span<double> means) const {
  std::fill(means.begin(), means.end(), 0.0);
  if (size_ == 0) return;
  const KernelPoints asked = kernel_.points(rows);
  Eigen::VectorXd column(size_);
  for (Eigen::Index i = 0; i < asked.count; ++i) {
    kernel_.column(points_, asked, i, column);
    means[static_cast<std::size_t>(i)] = value_of(column.dot(pull_));
  }
}

void GaussianProcess::Impl::predict_all(std::span<double> means) const {
  if (size_ == 0) {
    std::fill(means.begin(), means.end(), 0.0);
    return;
  }
  grid_product(kernel_, points_, pull_, domain_.num_states, means);
  for (double& mean : means) mean = value_of(mean);
}

class GaussianProcess::Impl::Drawn final : public DrawnFunction {
 public:
  Drawn(const Impl& process, Random& random)
      : DrawnFunction(process.domain_.num_states),
        process_(process),
        prior_(process.kernel_, process.domain_.num_states, random) {
    Eigen::VectorXd missed = process.values_.head(process.size_);
    std::vector<int> x(num_states().size());
    for (Eigen::Index i = 0; i < missed.size(); ++i) {
      for (std::size_t v = 0; v < x.size(); ++v) x[v] = process.points_.states(i, static_cast<Eigen::Index>(v));
      missed[i] -= prior_.at(x) + std::sqrt(process.noises_[i]) * random.normal();
    }
    pull_ = process.solve(std::move(missed));
  }

  void values(std::span<const int> rows, std::span<double> out) const override {
    const KernelPoints asked = process_.kernel_.points(rows);
    Eigen::VectorXd column(process_.size_);
    for (std::size_t i = 0; i < out.size(); ++i) {
      process_.kernel_.column(process_.points_, asked, static_cast<Eigen::Index>(i), column);
      const std::size_t width = num_states().size();
      out[i] = process_.value_of(column.dot(pull_) + prior_.at(rows.subspan(i * width, width)));
    }
  }
  void neighbours(std::span<const int> x, std::span<double> out) const override {
    process_.kernel_.neighbour_products(process_.points_, pull_, x, out);
    prior_.add_neighbours(x, out);
    for (double& value : out) value = process_.value_of(value);
  }

 private:
  const Impl& process_;
  PriorDraw prior_;
  Eigen::VectorXd pull_;
};

std::unique_ptr<DrawnFunction> GaussianProcess::Impl::draw(Random& random) const {
  return std::make_unique<Drawn>(*this, random);
}

GaussianProcess::GaussianProcess(Domain domain, const GaussianProcessOptions& options) : Surrogate(std::move(domain)) {
  options.validate();
  impl_ = std::make_unique<Impl>(this->domain(), options);
}
GaussianProcess::~GaussianProcess() = default;

void GaussianProcess::fit(const ToldValues& told, const ShouldStop& should_stop) {
  told.validate(domain());
  impl_->fit(told, should_stop);
}

void GaussianProcess::add(std::span<const int> x, double value) {
  ToldValues one{.width = domain().width()};
  one.add(domain(), x, value);
  impl_->add(x, value);
}

void GaussianProcess::predict(std::span<const int> rows, std::span<Prediction> out) const {
  check_rows("GaussianProcess::predict", rows, out.size());
  impl_->predict(rows, out);
}

void GaussianProcess::predict_all(std::span<double> means) const {
  check_all("GaussianProcess::predict_all", means.size());
  impl_->predict_all(means);
}

void GaussianProcess::predict_means(std::span<const int> rows, std::span<double> means) const {
  check_rows("GaussianProcess::predict_means", rows, means.size());
  impl_->predict_means(rows, means);
}

void GaussianProcess::predict_neighbours(std::span<const int> x, std::span<double> means) const {
  impl_->predict_neighbours(x, means);
}

std::unique_ptr<DrawnFunction> GaussianProcess::draw(Random& random) const {
  return impl_->has_values() ? impl_->draw(random) : Surrogate::draw(random);
}

std::vector<std::optional<double>> GaussianProcess::held_out() const { return impl_->held_out(); }

double GaussianProcess::noise_sd() const { return impl_->noise_sd(); }

}  // namespace treesample

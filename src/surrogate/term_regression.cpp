#include "surrogate/term_regression.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "surrogate/term_features.hpp"

namespace treesample {
namespace {

constexpr std::size_t kShortlist = 200;    // terms of three variables that are scored again
constexpr std::size_t kFewestAdded = 3;    // terms that a round adds, if there are so many
constexpr double kSharedFreedom = 4.0;     // weight of the variance that main effects share against a term's own
constexpr double kConstantVariance = 1e6;  // of the constant, as a multiple of the variance of the values
constexpr double kLeastNoise = 1e-9;       // as a multiple of the variance of the values
constexpr double kLargestVariance = 10.0;  // of all features of a term, as a multiple of the values' variance
constexpr double kAlone = 0.9;             // leverage above which a value determines an effect by itself
constexpr double kMostAlone = 0.1;         // the largest share of such values that may be left out

// The largest gain in evidence by a term with this many features, and the variance at which it is reached.
std::pair<double, double> best_gain(double squared, double precision, double num_features) {
  const double ratio = squared / (precision * num_features);
  if (!(ratio > 1.0)) return {0.0, 0.0};
  return {0.5 * num_features * (ratio - 1.0 - std::log(ratio)), (ratio - 1.0) / precision};
}

}  // namespace

std::vector<double> term_table(const RegressionTerm& term, std::span<const int> num_states) {
  const Eigen::VectorXd values = cell_features(term.scope, num_states) * term.coefficients;
  return {values.data(), values.data() + values.size()};
}

TermRegression::TermRegression(const RegressionData& data, std::vector<RegressionTerm> terms,
                               const RegressionOptions& options)
    : data_(data), options_(options) {
  begin();
  if (options_.is_open) {
    for (RegressionTerm& term : main_effects()) {
      has_main_effects_ = true;
      const bool is_there =
          std::any_of(terms.begin(), terms.end(), [&](const RegressionTerm& t) { return t.scope == term.scope; });
      if (!is_there) terms.push_back(std::move(term));
    }
  }
  append(std::move(terms));
  solve();
  improve();
  if (!options_.should_stop || !options_.should_stop()) calibrate();
}

std::vector<RegressionTerm> TermRegression::main_effects() const {
  int total = 0;
  for (const int k : data_.num_states) total += k - 1;
  std::vector<RegressionTerm> terms;
  for (int v = 0; v < data_.num_variables() && total <= options_.max_features / 2; ++v) {
    if (data_.num_states[v] > 1) terms.push_back({{v}, value_variance_ / total, {}});
  }
  return terms;
}

// Adds terms of one and two variables, then larger ones when these no longer help; finally the variances converge.
void TermRegression::improve() {
  constexpr int kSettling = 3;
  int num_left = options_.num_rounds - kSettling;
  const auto is_asked_to_stop = [&] { return options_.should_stop && options_.should_stop(); };
  for (const int max_order : {std::min(2, options_.max_order), options_.max_order}) {
    for (int num_idle = 0; options_.is_open && num_idle < 1 && num_left > 0 && !is_asked_to_stop(); --num_left) {
      update_variances();
      give_up();
      num_idle = take_up(max_order) ? 0 : num_idle + 1;
      solve();
    }
  }
  const int num_settling = options_.is_open ? kSettling : options_.num_rounds;
  for (int round = 0; round < num_settling && !is_asked_to_stop(); ++round) {
    update_variances();
    if (options_.is_open) give_up();
    solve();
  }
}

// The slope of the values against their leave-one-out predictions is below 1 if the terms have learned noise; all
// effects are then multiplied by it. A value that alone determines an effect cannot be predicted without itself. That
// says nothing about the other effects, so such values are left out, unless there are many of them.
void TermRegression::calibrate() {
  Eigen::MatrixXd inverse = factor_.matrixLLT();
  invert_lower(inverse);
  const Eigen::MatrixXd half = inverse.triangularView<Eigen::Lower>() * scaled_features_.transpose();
  const Eigen::VectorXd leverages = half.colwise().squaredNorm().transpose() / noise_variance_;
  const auto num_alone = static_cast<double>((leverages.array() > kAlone).count());
  Eigen::ArrayXd weights = data_.weights.array();
  if (num_alone <= kMostAlone * static_cast<double>(data_.num_points()))
    weights = (leverages.array() > kAlone).select(0.0, weights);
  const Eigen::ArrayXd roots = data_.weights.array().sqrt();
  const Eigen::ArrayXd values = scaled_values_.array() / roots;
  const Eigen::ArrayXd predictions = values - residuals_.array() / roots / (1.0 - leverages.array().min(1.0 - 1e-9));
  const Eigen::ArrayXd off = predictions - (weights * predictions).sum() / weights.sum();
  const double products = (weights * off * (values - (weights * values).sum() / weights.sum())).sum();
  const double squares = (weights * off.square()).sum();
  slope_ = squares > 0.0 ? std::clamp(products / squares, 0.0, 1.0) : 1.0;
  for (RegressionTerm& term : terms_) term.coefficients *= slope_;
  const double centre = (weights * predictions).sum() / weights.sum();
  held_out_ = (offset_ + centre + slope_ * off).matrix();
}

void TermRegression::set_coefficients() {
  constant_ = offset_ + mean_[0];
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    terms_[t].coefficients = slope_ * mean_.segment(first_[t], num_features(terms_[t].scope));
  }
}

// The precision becomes Lambda + w phi phi^T / sigma^2, and the mean moves along its inverse times phi.
void TermRegression::add(std::span<const int> states, double value, double weight) {
  Eigen::VectorXd phi(mean_.size());
  phi[0] = 1.0;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const Eigen::MatrixXd cells = cell_features(terms_[t].scope, data_.num_states);
    Eigen::Index cell = 0;
    for (const int v : terms_[t].scope) cell = cell * data_.num_states[v] + states[static_cast<std::size_t>(v)];
    phi.segment(first_[t], cells.cols()) = cells.row(cell).transpose();
  }
  const double precision = weight / noise_variance_;
  factor_.rankUpdate(phi, precision);
  mean_ += factor_.solve(phi) * (precision * (value - offset_ - phi.dot(mean_)));
  set_coefficients();
}

double TermRegression::log_evidence() const {
  const auto count = static_cast<double>(data_.num_points());
  double result = -0.5 * scaled_values_.dot(residuals_) / noise_variance_ - 0.5 * count * std::log(noise_variance_);
  result -= factor_.matrixLLT().diagonal().array().log().sum();
  result -= 0.5 * std::log(kConstantVariance * value_variance_);
  for (const RegressionTerm& term : terms_) {
    result -= 0.5 * static_cast<double>(term.coefficients.size()) * std::log(term.variance);
    double log_competitors = 0.0;
    for (std::size_t i = 0; i < term.scope.size(); ++i) {
      log_competitors += std::log((data_.num_variables() - static_cast<double>(i)) / (static_cast<double>(i) + 1.0));
    }
    if (term.scope.size() > 1) result -= log_competitors;
  }
  return result;
}

void TermRegression::begin() {
  const Eigen::VectorXd roots = data_.weights.cwiseSqrt();
  offset_ = data_.weights.dot(data_.values) / data_.weights.sum();
  const Eigen::VectorXd centred = data_.values.array() - offset_;
  value_variance_ = std::max(data_.weights.dot(centred.cwiseAbs2()) / data_.weights.sum(), 1e-12);
  least_noise_ = kLeastNoise * value_variance_ * data_.weights.mean();
  noise_variance_ = 0.1 * value_variance_ * data_.weights.mean();
  scaled_values_ = roots.cwiseProduct(centred);
  columns_.resize(data_.states.size());
  for (Eigen::Index i = 0; i < data_.num_points(); ++i) {
    for (int v = 0; v < data_.num_variables(); ++v) columns_[v * data_.num_points() + i] = data_.state(i, v);
  }
  scaled_features_ = roots;  // the root of the weight, for the constant
  gram_ = scaled_features_.transpose() * scaled_features_;
  moments_ = scaled_features_.transpose() * scaled_values_;
}

int TermRegression::num_features(std::span<const int> scope) const {
  double count = 1.0;
  for (const int v : scope) count *= data_.num_states[v] - 1;
  return count > 1e6 ? 1'000'000 : static_cast<int>(count);
}

Eigen::MatrixXd TermRegression::features(std::span<const int> scope) const {
  const Eigen::MatrixXd cells = cell_features(scope, data_.num_states);
  Eigen::MatrixXd rows(data_.num_points(), cells.cols());
  for (Eigen::Index i = 0; i < data_.num_points(); ++i) {
    Eigen::Index cell = 0;
    for (const int v : scope) cell = cell * data_.num_states[v] + data_.state(i, v);
    rows.row(i) = std::sqrt(data_.weights[i]) * cells.row(cell);
  }
  return rows;
}

void TermRegression::append(std::vector<RegressionTerm> terms) {
  if (terms.empty()) return;
  const Eigen::Index old_size = scaled_features_.cols();
  Eigen::Index size = old_size;
  for (RegressionTerm& term : terms) {
    first_.push_back(size);
    size += num_features(term.scope);
    terms_.push_back(std::move(term));
  }
  scaled_features_.conservativeResize(Eigen::NoChange, size);
  for (std::size_t t = terms_.size() - terms.size(); t < terms_.size(); ++t) {
    const Eigen::MatrixXd added = features(terms_[t].scope);
    scaled_features_.middleCols(first_[t], added.cols()) = added;
  }
  const auto added = scaled_features_.rightCols(size - old_size);
  gram_.conservativeResize(size, size);
  gram_.block(0, old_size, old_size, size - old_size).noalias() =
      scaled_features_.leftCols(old_size).transpose() * added;
  gram_.block(old_size, 0, size - old_size, old_size) = gram_.block(0, old_size, old_size, size - old_size).transpose();
  Eigen::MatrixXd corner = Eigen::MatrixXd::Zero(size - old_size, size - old_size);
  corner.selfadjointView<Eigen::Lower>().rankUpdate(added.transpose());
  gram_.bottomRightCorner(size - old_size, size - old_size) = corner.selfadjointView<Eigen::Lower>();
  moments_.conservativeResize(size);
  moments_.tail(size - old_size).noalias() = added.transpose() * scaled_values_;
}

void TermRegression::solve() {
  Eigen::MatrixXd precision = gram_ / noise_variance_;
  precision(0, 0) += 1.0 / (kConstantVariance * value_variance_);
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const Eigen::Index size = num_features(terms_[t].scope);
    precision.diagonal().segment(first_[t], size).array() += 1.0 / terms_[t].variance;
  }
  factor_.compute(precision);
  mean_ = factor_.solve(moments_ / noise_variance_);
  residuals_ = scaled_values_;
  residuals_.noalias() -= scaled_features_ * mean_;
  set_coefficients();
  precision = factor_.matrixLLT();
  invert_lower(precision);
  Eigen::VectorXd variances(precision.cols());
  for (Eigen::Index c = 0; c < precision.cols(); ++c) {
    variances[c] = precision.col(c).tail(precision.rows() - c).squaredNorm();
  }
  trace_.resize(terms_.size());
  num_determined_ = 1.0;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const Eigen::Index size = num_features(terms_[t].scope);
    trace_[t] = variances.segment(first_[t], size).sum();
    num_determined_ += std::max(0.0, static_cast<double>(size) - trace_[t] / terms_[t].variance);
  }
}

// Main effects were not chosen: all of them are included. A few values say little about the variance of each one, so
// the variance of all of them together counts as well.
void TermRegression::update_variances() {
  const auto determined = [&](std::size_t t) {
    const auto size = static_cast<double>(terms_[t].coefficients.size());
    return std::max(size - trace_[t] / terms_[t].variance, 1e-3 * size);
  };
  double squares = 0.0, freedom = 1e-9;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    if (terms_[t].scope.size() > 1) continue;
    squares += terms_[t].coefficients.squaredNorm();
    freedom += determined(t);
  }
  const double shared = squares / freedom;
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    RegressionTerm& term = terms_[t];
    const double most = kLargestVariance * value_variance_ / static_cast<double>(term.coefficients.size());
    const double prior = has_main_effects_ && term.scope.size() == 1 ? kSharedFreedom : 0.0;
    const double variance = (term.coefficients.squaredNorm() + prior * shared) / (determined(t) + prior);
    term.variance = std::clamp(variance, 1e-9 * most, most);
  }
  const auto count = static_cast<double>(data_.num_points());
  const double free = std::max(count - num_determined_, 0.05 * count);
  noise_variance_ = std::max(residuals_.squaredNorm() / free, least_noise_);
}

// From the posterior of an included term: Sigma_SS ~ (s + 1/v)^-1 I and beta_S ~ Q_S (s + 1/v)^-1.
double TermRegression::gain_of(std::size_t t) const {
  const RegressionTerm& term = terms_[t];
  const auto size = static_cast<double>(term.coefficients.size());
  const double total = size / trace_[t];
  const double precision = std::max(total - 1.0 / term.variance, 1e-12 * total);
  const double squared = term.coefficients.squaredNorm() * total * total;
  return best_gain(squared, precision, size).first;
}

bool TermRegression::give_up() {
  std::vector<RegressionTerm> kept;
  std::vector<Eigen::Index> columns{0};
  for (std::size_t t = 0; t < terms_.size(); ++t) {
    const bool stays = has_main_effects_ && terms_[t].scope.size() == 1;
    if (!stays && gain_of(t) < 1.0) continue;
    for (Eigen::Index c = 0; c < terms_[t].coefficients.size(); ++c) columns.push_back(first_[t] + c);
    kept.push_back(std::move(terms_[t]));
  }
  if (kept.size() == terms_.size()) {
    terms_ = std::move(kept);
    return false;
  }
  scaled_features_ = Eigen::MatrixXd(scaled_features_(Eigen::all, columns));
  gram_ = Eigen::MatrixXd(gram_(columns, columns));
  moments_ = Eigen::VectorXd(moments_(columns));
  mean_ = Eigen::VectorXd(mean_(columns));
  terms_ = std::move(kept);
  first_.clear();
  Eigen::Index first = 1;
  for (const RegressionTerm& term : terms_) {
    first_.push_back(first);
    first += term.coefficients.size();
  }
  residuals_ = scaled_values_;
  residuals_.noalias() -= scaled_features_ * mean_;
  return true;
}

// Sets of this order that contain a term with one variable less.
std::vector<std::vector<int>> TermRegression::extensions(std::size_t order) const {
  std::set<std::vector<int>> found;
  for (const RegressionTerm& term : terms_) {
    if (term.scope.size() + 1 != order) continue;
    for (int v = 0; v < data_.num_variables(); ++v) {
      std::vector<int> scope = term.scope;
      const auto place = std::lower_bound(scope.begin(), scope.end(), v);
      if (place != scope.end() && *place == v) continue;
      scope.insert(place, v);
      found.insert(std::move(scope));
    }
  }
  return {found.begin(), found.end()};
}

// Residuals are added up by cell and centred along each variable; |phi_S^T r|^2 is then prod K times the sum of their
// squares.
void TermRegression::score(const std::vector<std::vector<int>>& scopes, double num_competitors,
                           std::vector<Candidate>& found) const {
  std::set<std::vector<int>> present;
  for (const RegressionTerm& term : terms_) present.insert(term.scope);
  const Eigen::Index count = data_.num_points();
  const Eigen::VectorXd pull =
      residuals_.cwiseProduct(data_.weights.cwiseSqrt()) / noise_variance_;  // C^-1 y, by the matrix inversion lemma
  const double share_free = std::max(1.0 - num_determined_ / static_cast<double>(count), 0.05);
  const double precision = data_.weights.sum() / noise_variance_ * share_free;
  const double threshold = 1.0 + std::log(std::max(num_competitors, 1.0));
  std::vector<double> cells;
  std::vector<int> places(static_cast<std::size_t>(count));
  for (const std::vector<int>& scope : scopes) {
    const int size = num_features(scope);
    if (size == 0 || size > count / 6 || size > options_.max_features / 4 || present.contains(scope)) continue;
    std::size_t num_cells = 1;
    for (const int v : scope) num_cells *= static_cast<std::size_t>(data_.num_states[v]);
    cells.assign(num_cells, 0.0);
    std::fill(places.begin(), places.end(), 0);
    for (const int v : scope) {
      const int num_states = data_.num_states[v];
      const int* const column = columns_.data() + v * count;
      for (Eigen::Index i = 0; i < count; ++i) places[i] = places[i] * num_states + column[i];
    }
    for (Eigen::Index i = 0; i < count; ++i) cells[places[i]] += pull[i];
    std::size_t inner = num_cells;
    for (const int v : scope) {
      const auto k = static_cast<std::size_t>(data_.num_states[v]);
      inner /= k;
      for (std::size_t block = 0; block < num_cells; block += inner * k) {
        for (std::size_t j = 0; j < inner; ++j) {
          double mean = 0.0;
          for (std::size_t a = 0; a < k; ++a) mean += cells[block + a * inner + j];
          mean /= static_cast<double>(k);
          for (std::size_t a = 0; a < k; ++a) cells[block + a * inner + j] -= mean;
        }
      }
    }
    double squared = 0.0;
    for (const double cell : cells) squared += cell * cell;
    squared *= static_cast<double>(num_cells);
    const auto [gain, variance] = best_gain(squared, precision, size);
    if (gain > 0.0) found.push_back({scope, gain - threshold, variance});
  }
}

bool TermRegression::take_up(int max_order) {
  if (is_perfect()) return false;
  const auto best_first = [](const Candidate& a, const Candidate& b) { return a.gain > b.gain; };
  const int num_variables = data_.num_variables();
  const double num_triples = num_variables * (num_variables - 1.0) * (num_variables - 2.0) / 6.0;
  std::vector<Candidate> found;
  for (int order = 1; order <= std::min(max_order, num_variables); ++order) {
    if (order == 3 && num_triples <= options_.max_triples) {
      // The first time, all of them are scored; from then on only those that looked best.
      const bool is_first = shortlist_.empty();
      std::vector<Candidate> triples;
      score(is_first ? subsets(num_variables, 3) : shortlist_, num_triples, triples);
      std::stable_sort(triples.begin(), triples.end(), best_first);
      for (std::size_t i = 0; is_first && i < std::min(triples.size(), kShortlist); ++i) {
        shortlist_.push_back(triples[i].scope);
      }
      found.insert(found.end(), triples.begin(), triples.end());
      continue;
    }
    const auto scopes = order <= 2 ? subsets(num_variables, order) : extensions(static_cast<std::size_t>(order));
    score(scopes, static_cast<double>(scopes.size()), found);
  }
  std::erase_if(found, [](const Candidate& candidate) { return candidate.gain <= 0.0; });
  std::stable_sort(found.begin(), found.end(), best_first);
  std::vector<RegressionTerm> added;
  Eigen::Index size = scaled_features_.cols();
  // If there are many terms, more are added at a time, because a round costs the cube of the number of features.
  const std::size_t most = std::max<std::size_t>(kFewestAdded, terms_.size() / 6);
  for (const Candidate& candidate : found) {
    const int more = num_features(candidate.scope);
    if (added.size() == most) break;
    if (size + more > options_.max_features) continue;
    size += more;
    added.push_back({candidate.scope, std::min(candidate.variance, value_variance_ / more), {}});
  }
  if (added.empty()) return false;
  append(std::move(added));
  return true;
}

std::vector<RegressionTerm> TermRegression::draw(Random& random, double* constant) const {
  Eigen::VectorXd noise(mean_.size());
  for (double& value : noise) value = random.normal();
  const Eigen::VectorXd drawn = mean_ + factor_.matrixU().solve(noise);
  std::vector<RegressionTerm> terms = terms_;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    terms[t].coefficients = drawn.segment(first_[t], terms[t].coefficients.size());
  }
  *constant = offset_ + drawn[0];
  return terms;
}

}  // namespace treesample

#include "treesample/blackbox/sparse_terms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "blackbox/choose_points.hpp"
#include "surrogate/term_features.hpp"
#include "surrogate/term_regression.hpp"
#include "treesample/error.hpp"
#include "treesample/math/log_domain.hpp"

namespace treesample {
namespace {

constexpr double kWeightScale = 8.0;    // nats in which a value's weight falls by e ...
constexpr double kLowestWeight = 0.02;  // ... but no further than this
constexpr double kMostDepth = 1e7;      // of any value, below the best
constexpr double kValuesPerFeature = 2.0;
constexpr int kMostFullFeatures = 800;     // of a model of all pairs, or of all pairs and triples
constexpr int kRoundsAgain = 10;           // of a regression that begins with the terms of the last one
constexpr int kRoundsFull = 12;            // of a regression whose terms are given
constexpr double kChooseAnewGrowth = 1.2;  // growth of the values after which terms are chosen from scratch, too
constexpr int kDraws = 12;                 // that make a standard deviation

double weight_at(double depth) { return std::exp(std::min(0.0, -depth / kWeightScale)) + kLowestWeight; }

double log_binomial(double n, double k) {
  return std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0);
}

// The sum of all terms at one configuration.
double sum_at(const LearnedTerms& learned, std::span<const int> num_states, std::span<const int> x) {
  double sum = learned.constant;
  for (const LearnedTerm& term : learned.terms) {
    std::size_t cell = 0;
    for (const int v : term.scope)
      cell = cell * static_cast<std::size_t>(num_states[v]) + static_cast<std::size_t>(x[v]);
    sum += term.log_values[cell];
  }
  return sum;
}

// Only the terms of a variable change with it.
void sums_of_neighbours(const LearnedTerms& learned, std::span<const int> num_states, std::span<const int> x,
                        std::span<double> out) {
  std::fill(out.begin(), out.end(), sum_at(learned, num_states, x));
  std::vector<std::size_t> first(num_states.size(), 0);
  for (std::size_t v = 1; v < first.size(); ++v) first[v] = first[v - 1] + static_cast<std::size_t>(num_states[v - 1]);
  for (const LearnedTerm& term : learned.terms) {
    std::size_t cell = 0;
    for (const int v : term.scope) {
      cell = cell * static_cast<std::size_t>(num_states[v]) + static_cast<std::size_t>(x[static_cast<std::size_t>(v)]);
    }
    std::size_t stride = 1;
    for (std::size_t i = term.scope.size(); i-- > 0;) {
      const auto v = static_cast<std::size_t>(term.scope[i]);
      const std::size_t base = cell - stride * static_cast<std::size_t>(x[v]);
      for (std::size_t a = 0; a < static_cast<std::size_t>(num_states[v]); ++a) {
        out[first[v] + a] += term.log_values[base + a * stride] - term.log_values[cell];
      }
      stride *= static_cast<std::size_t>(num_states[v]);
    }
  }
}

class DrawnTerms final : public DrawnFunction {
 public:
  DrawnTerms(std::vector<int> num_states, LearnedTerms terms)
      : DrawnFunction(std::move(num_states)), terms_(std::move(terms)) {}
  void values(std::span<const int> rows, std::span<double> out) const override {
    const std::size_t width = num_states().size();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = sum_at(terms_, num_states(), rows.subspan(i * width, width));
  }
  void neighbours(std::span<const int> x, std::span<double> out) const override {
    sums_of_neighbours(terms_, num_states(), x, out);
  }

 private:
  LearnedTerms terms_;
};

}  // namespace

void SparseTermsOptions::validate() const { check_range("SparseTermsOptions", "max_points", max_points, 2, 20'000); }

class SparseTerms::Impl {
 public:
  Impl(const Domain& domain, const SparseTermsOptions& options) : num_states_(domain.num_states), options_(options) {}

  void fit(const ToldValues& told, const ShouldStop& should_stop);
  void add(std::span<const int> x, double value);
  void predict(std::span<const int> rows, std::span<Prediction> out) const;
  [[nodiscard]] LearnedTerms drawn(Random& random) const {
    double constant = 0.0;
    const std::vector<RegressionTerm> terms = regression_->draw(random, &constant);
    return tables(terms, constant);
  }
  [[nodiscard]] bool has_values() const { return regression_ != nullptr; }
  [[nodiscard]] std::vector<std::optional<double>> held_out() const {
    std::vector<std::optional<double>> result(num_fitted_);
    for (std::size_t i = 0; regression_ && regression_->held_out().size() > 0 && i < used_.size(); ++i) {
      result[used_[i]] = best_ + regression_->held_out()[static_cast<Eigen::Index>(i)];
    }
    return result;
  }
  [[nodiscard]] const LearnedTerms& learned() const { return learned_; }

 private:
  [[nodiscard]] RegressionData data_of(const ToldValues& told, std::span<const std::size_t> chosen) const;
  [[nodiscard]] std::vector<RegressionTerm> all_terms(int order, double variance) const;
  [[nodiscard]] std::unique_ptr<TermRegression> choose(const std::vector<RegressionTerm>& last, bool is_anew,
                                                       const ShouldStop& should_stop) const;
  [[nodiscard]] LearnedTerms tables(const std::vector<RegressionTerm>& terms, double constant) const;
  void use();

  std::vector<int> num_states_;
  SparseTermsOptions options_;
  std::size_t num_fitted_ = 0;                  // values of the last fit, -inf as well
  std::vector<std::size_t> used_;               // the places of those that were used
  RegressionData data_;                         // values relative to the best one
  std::unique_ptr<TermRegression> regression_;  // of data_
  LearnedTerms learned_;
  std::vector<LearnedTerms> draws_;
  double best_ = 0.0;
  std::size_t num_anew_ = 0;
};

RegressionData SparseTerms::Impl::data_of(const ToldValues& told, std::span<const std::size_t> chosen) const {
  double best = kNegInf;
  for (const std::size_t i : chosen) best = std::max(best, told.log_density(i));
  RegressionData data{.num_states = num_states_};
  data.values.resize(std::ssize(chosen));
  data.weights.resize(std::ssize(chosen));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto row = told.row(chosen[i]);
    data.states.insert(data.states.end(), row.begin(), row.end());
    const double density = told.log_density(chosen[i]);
    const auto place = static_cast<Eigen::Index>(i);
    data.values[place] = std::max(told.values[chosen[i]] - best_, -kMostDepth);
    data.weights[place] = density == kNegInf ? kLowestWeight : weight_at(best - density);
  }
  return data;
}

// All terms of up to so many variables; none where they have too many features for these values.
std::vector<RegressionTerm> SparseTerms::Impl::all_terms(int order, double variance) const {
  const double most = std::min(static_cast<double>(data_.num_points()) / kValuesPerFeature, 1.0 * kMostFullFeatures);
  std::vector<RegressionTerm> terms;
  double features = 1.0;
  for (int size = 1; size <= std::min(order, data_.num_variables()); ++size) {
    if (std::exp(log_binomial(data_.num_variables(), size)) > 2.0 * most + 1000.0) return {};
    for (std::vector<int>& scope : subsets(data_.num_variables(), size)) {
      double own = 1.0;
      for (const int v : scope) own *= num_states_[static_cast<std::size_t>(v)] - 1;
      if (own == 0.0) continue;
      features += own;
      if (features > most) return {};
      terms.push_back({std::move(scope), variance / own, {}});
    }
  }
  for (RegressionTerm& term : terms) term.variance /= static_cast<double>(terms.size());
  return terms;
}

std::unique_ptr<TermRegression> SparseTerms::Impl::choose(const std::vector<RegressionTerm>& last, bool is_anew,
                                                          const ShouldStop& should_stop) const {
  std::unique_ptr<TermRegression> best;
  double best_evidence = kNegInf;
  const auto attempt = [&](std::vector<RegressionTerm> terms, const RegressionOptions& options) {
    if (best && (best->is_perfect() || (should_stop && should_stop()))) return;
    auto next = std::make_unique<TermRegression>(data_, std::move(terms), options);
    double evidence = next->log_evidence();
    // These terms were not chosen: what their choice costs is given back.
    for (const RegressionTerm& term : next->terms()) {
      const auto size = static_cast<double>(term.scope.size());
      if (!options.is_open && size > 1.0) evidence += log_binomial(data_.num_variables(), size);
    }
    if (best && !(evidence > best_evidence) && !next->is_perfect()) return;
    best = std::move(next);
    best_evidence = evidence;
  };
  const double mean = data_.values.mean(), variance = std::max((data_.values.array() - mean).square().mean(), 1e-12);
  for (const int order : {2, 3}) {
    std::vector<RegressionTerm> terms = all_terms(order, variance);
    if (terms.empty()) break;
    attempt(std::move(terms), {.num_rounds = kRoundsFull, .is_open = false, .should_stop = should_stop});
  }
  RegressionOptions options{.should_stop = should_stop};
  if (is_anew) attempt({}, options);
  options.num_rounds = kRoundsAgain;
  if (!last.empty()) attempt(last, options);
  return best;
}

void SparseTerms::Impl::fit(const ToldValues& told, const ShouldStop& should_stop) {
  const ToldValues finite = finite_values(told);
  std::vector<RegressionTerm> last;
  if (regression_) last = regression_->terms();
  regression_.reset();
  learned_ = {};
  num_fitted_ = told.size();
  used_.clear();
  if (finite.values.empty()) return;
  best_ = *std::max_element(finite.values.begin(), finite.values.end());
  used_ = choose_points(finite, static_cast<std::size_t>(options_.max_points));
  data_ = data_of(finite, used_);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < told.size(); ++i) {
    if (told.values[i] != kNegInf) places.push_back(i);
  }
  for (std::size_t& place : used_) place = places[place];
  const auto count = static_cast<double>(finite.size());
  const bool is_anew = last.empty() || count >= kChooseAnewGrowth * static_cast<double>(num_anew_);
  if (is_anew) num_anew_ = finite.size();
  regression_ = choose(last, is_anew, should_stop);
  use();
}

void SparseTerms::Impl::add(std::span<const int> x, double value) {
  if (!regression_ || value == kNegInf) return;
  regression_->add(x, std::max(value - best_, -kMostDepth), weight_at(best_ - value));
  use();
}

void SparseTerms::Impl::use() {
  learned_ = tables(regression_->terms(), regression_->constant());
  Random random(0, "terms");
  draws_.clear();
  for (int i = 0; i < kDraws; ++i) draws_.push_back(drawn(random));
}

LearnedTerms SparseTerms::Impl::tables(const std::vector<RegressionTerm>& terms, double constant) const {
  LearnedTerms result{.constant = best_ + constant};
  for (const RegressionTerm& term : terms) {
    result.terms.push_back({term.scope, term_table(term, num_states_), term.coefficients.norm()});
  }
  return result;
}

void SparseTerms::Impl::predict(std::span<const int> rows, std::span<Prediction> out) const {
  const std::size_t width = num_states_.size();
  const double misfit = options_.is_noisy ? 0.0 : regression_->noise_variance();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::span<const int> x = rows.subspan(i * width, width);
    const double mean = sum_at(learned_, num_states_, x);
    double squares = 0.0;
    for (const LearnedTerms& terms : draws_) squares += std::pow(sum_at(terms, num_states_, x) - mean, 2);
    out[i] = {mean, std::sqrt(squares / kDraws + misfit)};
  }
}

SparseTerms::SparseTerms(Domain domain, const SparseTermsOptions& options) : Surrogate(std::move(domain)) {
  options.validate();
  impl_ = std::make_unique<Impl>(this->domain(), options);
}
SparseTerms::~SparseTerms() = default;

std::vector<std::optional<double>> SparseTerms::held_out() const { return impl_->held_out(); }

const LearnedTerms& SparseTerms::learned() const { return impl_->learned(); }

void SparseTerms::fit(const ToldValues& told, const ShouldStop& should_stop) {
  told.validate(domain());
  impl_->fit(told, should_stop);
}

void SparseTerms::add(std::span<const int> x, double value) {
  ToldValues one{.width = domain().width()};
  one.add(domain(), x, value);
  impl_->add(x, value);
}

void SparseTerms::predict(std::span<const int> rows, std::span<Prediction> out) const {
  check_rows("SparseTerms::predict", rows, out.size());
  if (!impl_->has_values()) {
    std::fill(out.begin(), out.end(), Prediction{0.0, 1.0});
    return;
  }
  impl_->predict(rows, out);
}

void SparseTerms::predict_means(std::span<const int> rows, std::span<double> means) const {
  check_rows("SparseTerms::predict_means", rows, means.size());
  const std::size_t width = domain().num_states.size();
  for (std::size_t i = 0; i < means.size(); ++i) {
    means[i] = sum_at(impl_->learned(), domain().num_states, rows.subspan(i * width, width));
  }
}

// Term by term: the cell of each configuration in the table of a term, by counting up the states.
void SparseTerms::predict_all(std::span<double> means) const {
  check_all("SparseTerms::predict_all", means.size());
  const std::vector<int>& num_states = domain().num_states;
  std::fill(means.begin(), means.end(), impl_->learned().constant);
  for (const LearnedTerm& term : impl_->learned().terms) {
    std::vector<std::size_t> strides(num_states.size(), 0);
    std::size_t stride = 1;
    for (std::size_t i = term.scope.size(); i-- > 0;) {
      strides[static_cast<std::size_t>(term.scope[i])] = stride;
      stride *= static_cast<std::size_t>(num_states[term.scope[i]]);
    }
    std::vector<int> x(num_states.size(), 0);
    std::size_t cell = 0;
    for (double& mean : means) {
      mean += term.log_values[cell];
      for (std::size_t v = x.size(); v-- > 0;) {
        cell += strides[v];
        if (++x[v] < num_states[v]) break;
        cell -= strides[v] * static_cast<std::size_t>(x[v]);
        x[v] = 0;
      }
    }
  }
}

void SparseTerms::predict_neighbours(std::span<const int> x, std::span<double> means) const {
  sums_of_neighbours(impl_->learned(), domain().num_states, x, means);
}

std::unique_ptr<DrawnFunction> SparseTerms::draw(Random& random) const {
  if (!impl_->has_values()) return Surrogate::draw(random);
  return std::make_unique<DrawnTerms>(domain().num_states, impl_->drawn(random));
}

}  // namespace treesample
